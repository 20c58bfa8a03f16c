"""Every pattern that can meet a visitor's text takes time in proportion to it, on strings made to stall it.

The strings come from each pattern's own parts: what leads up to a repeat, the repeat many times, and an end that
cannot match; and every such piece over and over, so that a search begins anew at each.
"""

import ast
import re
from importlib import import_module
from pathlib import Path
from time import process_time

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [path for room in ("core", "runtime", "ui") for path in sorted((ROOT / room).rglob("*.py"))]
OUR_OWN_WORDS = {
    "core/english.py",
    "runtime/content.py",
    "ui/find_it/index.py",
    "ui/overview/journey.py",
    "ui/quiz/words.py",
}
"""What meets content/ and names of the catalog, and nothing that a visitor sent."""
SIZES = (1_000, 4_000)
MOST_GROWTH = 8.0
"""Four times the text may take four times as long, and as much again on a busy machine; quadratic is sixteen."""
LEAST_S = 0.01
"""Below, nothing is measured but the clock."""
MOST = 4**3
"""So many times as long a cubic one takes: what is far from that in the shorter text is tried no further."""


def patterns_of(value: object) -> list[re.Pattern[str]]:
    """Every compiled pattern in a module's value, however deep in tuples and mappings."""
    if isinstance(value, re.Pattern):
        return [value]
    if isinstance(value, dict):
        return [found for each in value.values() for found in patterns_of(each)]
    return [found for each in value for found in patterns_of(each)] if isinstance(value, tuple | list) else []


def written_in_place(source: str) -> list[re.Pattern[str]]:
    """The patterns that a source hands to `re` where it uses them; a field of an f-string is taken for a letter."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call) and node.args]
    texts = [_literal(call.args[0]) for call in calls if ast.unparse(call.func).startswith("re.")]
    return [re.compile(text) for text in texts if text]


def _literal(node: ast.expr) -> str:
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    return "".join(str(part.value) if isinstance(part, ast.Constant) else "a" for part in parts)


def patterns() -> list[re.Pattern[str]]:
    """Every pattern of the tree, once: whatever has one can come to meet what a visitor sent."""
    pytest.importorskip("streamlit", reason="what draws is read too")
    found = []
    for path in SOURCES:
        source = path.read_text(encoding="utf-8")
        if "import re\n" not in source or path.relative_to(ROOT).as_posix() in OUR_OWN_WORDS:
            continue
        found += written_in_place(source)
        if "re.compile" in source:
            module = import_module(".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"))
            found += [pattern for value in vars(module).values() for pattern in patterns_of(value)]
    return list({pattern.pattern: pattern for pattern in found}.values())


def sample(node: object) -> str:
    """A short text that a parsed expression matches, near enough to lead its matcher on."""
    return "".join(_sample(operator.name, value) for operator, value in node)


def _sample(operator: str, value: object) -> str:
    if operator == "LITERAL":
        return chr(value)
    if operator == "NOT_LITERAL":
        return "b" if chr(value) == "a" else "a"
    if operator == "ANY":
        return "a"
    if operator == "IN":
        return _member(value)
    if operator in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        return sample(value[2]) * max(1, min(value[0], 3))
    if operator == "SUBPATTERN":
        return sample(value[-1])
    if operator == "ATOMIC_GROUP":
        return sample(value)
    if operator == "BRANCH":
        return sample(value[1][0])
    return ""


def _member(members: object) -> str:
    kinds = {"CATEGORY_DIGIT": "1", "CATEGORY_SPACE": " ", "CATEGORY_WORD": "a", "CATEGORY_NOT_SPACE": "a"}
    names = [(operator.name, value) for operator, value in members]
    if names[0][0] == "NEGATE":
        return next(letter for letter in "a1 _-" if letter not in {chr(v) for n, v in names[1:] if n == "LITERAL"})
    first, value = names[0]
    return chr(value) if first == "LITERAL" else chr(value[0]) if first == "RANGE" else kinds.get(str(value), "a")


def pumps(node: object, before: str = "") -> list[tuple[str, str]]:
    """(what leads up to a repeat, what is repeated), for each repeat of an expression."""
    found = []
    for operator, value in node:
        name = operator.name
        if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            found += [(before, sample(value[2])), *pumps(value[2], before)]
        elif name == "SUBPATTERN":
            found += pumps(value[-1], before)
        elif name == "BRANCH":
            found += [pump for branch in value[1] for pump in pumps(branch, before)]
        elif name in ("ASSERT", "ASSERT_NOT"):
            found += pumps(value[1], before)
        before += _sample(name, value)
    return found


def worst(pattern: re.Pattern[str], size: int) -> list[str]:
    """Texts of about a size that lead a pattern on and then fail it."""
    parsed = re._parser.parse(pattern.pattern, pattern.flags)  # type: ignore[attr-defined]
    whole = sample(parsed)
    texts = [before + piece * (size // len(piece)) + "\x00" for before, piece in pumps(parsed) if piece]
    texts += [(before + piece) * (size // len(before + piece)) for before, piece in pumps(parsed) if before + piece]
    texts += [
        (before + piece * 40) * (size // len(before + 40 * piece)) for before, piece in pumps(parsed) if piece
    ]
    return [*texts, " " * size, "1" * size, "a" * size, (whole[:-1] or " ") * (size // max(1, len(whole) - 1))]


def seconds(pattern: re.Pattern[str], text: str) -> float:
    began = process_time()
    for _ in pattern.finditer(text):
        pass
    return process_time() - began


@pytest.mark.slow
def test_no_pattern_of_a_reader_takes_more_than_its_share_of_a_longer_text():
    slow = {}
    for pattern in patterns():
        for short, long in zip(*(worst(pattern, size) for size in SIZES), strict=True):
            if seconds(pattern, short) <= LEAST_S / MOST or seconds(pattern, long) <= LEAST_S:
                continue
            spent, before = (min(seconds(pattern, text) for _ in range(5)) for text in (long, short))
            if spent > LEAST_S and spent > MOST_GROWTH * before:  # the least of five: a pause is no pattern's fault
                slow[pattern.pattern[:80]] = (long[:30], round(spent, 3))
    assert not slow


def test_there_are_patterns_to_be_tried():
    assert len(patterns()) > 280
