"""What there is to say of an answer, and errors a learner can cause.

A remark is a code that `content/` words, and an error carries one: the quantity, its value, the rule, the way out.
`str(error)` is its English sentence.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TypeAlias

from core.english import express

LONGEST_MESSAGE = 2_000
"""Characters of a message: what somebody typed may stand in it, and be of any length."""
LONGEST_VALUE = 1_000
"""Characters of a value: a word of somebody's paste may be one, and of any length."""


_BLANKS = re.compile(r"\s+")
_CODE = re.compile(r"[a-z][a-z0-9_.]*")
_VARIANTS = re.compile(r"-(?:instruct|chat|it|base|fp8|fp4|nvfp4|awq|gptq|int4|int8|bf16)(?=-|$)")
MOST_NAMED = 20
"""Names that are all said where one of them was meant."""
Keys: TypeAlias = Mapping[str, str] | None


@dataclass(frozen=True)
class Remark:
    """`code` is a file of content/ and a block of it: `placement.memory` is `## remark.memory` in placement.md.

    Values are rows, quantities in SI and names; one that is a remark itself is worded in its place, and None is
    left out. `line` counts the lines of a pasted text from one; 0 where it is of no line.
    """

    code: str
    values: Mapping[str, object] = field(default_factory=dict)
    line: int = 0

    def __hash__(self) -> int:
        return hash(self.code)

    def __str__(self) -> str:
        return express(self.code, self.values)


def remark(code: str, line: int = 0, **values: object) -> Remark:
    """A remark by its code and values, of a longer text its beginning."""
    return Remark(code, {name: _bounded(value) for name, value in values.items()}, line)


def _bounded(value: object) -> object:
    if isinstance(value, str) and len(value) > LONGEST_VALUE:
        return f"{value[:LONGEST_VALUE]}…"
    return value


def once(remarks: Iterable[Remark]) -> tuple[Remark, ...]:
    """Each thing once, where it is first said."""
    first: dict[tuple[str, str], Remark] = {}
    for each in remarks:
        first.setdefault((each.code, repr(each.values)), each)
    return tuple(first.values())


def shortened(value: object) -> str:
    """At most 40 printable characters of what anyone may have written."""
    text = "".join(character for character in str(value) if character.isprintable())
    return text if len(text) <= 40 else f"{text[:39]}…"


def _reason(code: str, values: Mapping[str, object], group: str = "") -> Remark:
    """The remark of a block of errors.md; a sentence that somebody else wrote stays in their words."""
    if not _CODE.fullmatch(code):
        group, code, values = "", "own_words", {"words": code}
    return Remark(f"errors.{group}{code}", {name: _plain(value) for name, value in values.items()})


def _plain(value: object) -> object:
    """A value that a remark can keep: no frame of an exception, no array, a text in one line and of some length."""
    value = value.remark if isinstance(value, ShardlabError) else value
    return value if isinstance(value, Remark | int | float) else _BLANKS.sub(" ", str(value)[:LONGEST_MESSAGE])


class ShardlabError(ValueError):
    """Anything a learner can put in and core refuses, in one line. Pages show it where the figure would stand.

    `code` is a block of content/en/errors.md, whose fields `values` fill.
    """

    def __init__(self, code: str, /, **values: object) -> None:
        super().__init__(code)
        self.remark = _reason(code, values)

    def __str__(self) -> str:
        return " ".join(express(self.remark.code, self.remark.values)[:LONGEST_MESSAGE].split())


class OutOfRangeError(ShardlabError):
    """A quantity lies outside what the model can mean: `rule` is a block `rule.*` of errors.md."""

    def __init__(self, name: str | Remark, value: object, rule: str, /, **values: object) -> None:
        super().__init__("out_of_range", name=name, value=value, rule=_reason(rule, values, "rule."))


class IndivisibleError(ShardlabError):
    """A dimension does not split evenly over the ranks."""

    def __init__(self, name: str, value: int, parts_name: str, parts: int) -> None:
        sizes = ", ".join(str(n) for n in divisors(value) if n <= 64)
        super().__init__("indivisible", name=name, value=value, parts_name=parts_name, parts=parts, sizes=sizes)


class UnknownNameError(ShardlabError):
    """A catalog key or option that does not exist; of many that do, the three that are most like it.

    `kind` is a block `kind.*` of errors.md; `keys` says which of the known ones each other name means.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str], keys: Keys = None, /, **values: object) -> None:
        names = tuple(known)
        meant, near = nearest(name, names), len(names) > MOST_NAMED
        told = ", ".join(three_nearest(name, keys or {one: one for one in names}) if near else names)
        code = f"unknown_name{'_near' * near}{'_like' * bool(meant)}"
        super().__init__(code, kind=_reason(kind, values, "kind."), name=repr(name), known=told, meant=meant)


class UnreadableTextError(ShardlabError):
    """A pasted or uploaded text that holds nothing to be trusted; `reason` is what a line of it is refused for."""

    def __init__(self, code: str, /, reason: Remark | None = None, **values: object) -> None:
        super().__init__(code, **values)
        self.reason = reason


class NotGradedError(ShardlabError):
    """No grade could be given, by a fault of the machine's or of the judge's own: it is not a grade of zero."""


@dataclass(frozen=True)
class CodeError:
    """An exception of the learner's code, or a limit it met. `line` is in their file, 0 where there is none."""

    message: Remark
    line: int = 0


def raised(error: BaseException, words: Remark | str | None = None) -> Remark:
    """What somebody's code raised: the error's name, and its remark; `words` where it has none or is cut."""
    own, text = getattr(error, "remark", None), str(error)
    words = text if words is None else words
    ours = isinstance(own, Remark)
    private = ours and type(error).__name__.startswith("_")  # one of ours goes by the name of Python's own
    name = next(one.__name__ for one in type(error).__mro__ if not private or one.__module__ == "builtins")
    said = own if ours and words == text else words
    if isinstance(said, str):
        said = said.encode(errors="replace").decode()
    bare = remark("errors.raised.bare", kind=name)
    return remark("errors.raised.named", kind=name, error=said) if words else bare


def as_row(said: object) -> object:
    """A remark as JSON has it, a list of its code and its values, to leave a process; anything else as its text."""
    if isinstance(said, Remark):
        return [said.code, {name: as_row(value) for name, value in said.values.items()}]
    return said if isinstance(said, int | float) else str(said)


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most like one that is not, of a repository its last part; None where none is.

    >>> nearest("meta-llama/Lama-3-8B", ("llama-3-8b", "qwen2-7b"))
    'llama-3-8b'
    """
    names = {one.lower(): one for one in known}
    short = name[:80].lower().rpartition("/")[2]
    plain = short.replace("-instruct", "").replace("-chat", "").removesuffix("-it")
    close = get_close_matches(short if short in names else plain, names, n=1)
    return names[close[0]] if close else None


def three_nearest(name: str, known: Mapping[str, str]) -> list[str]:
    """What the names most like one that is not stand for, the nearest first, at most three and each once.

    >>> three_nearest("Qwen/Qwen3.8-27B-FP8", {"Qwen3.6-27B": "a", "qwen3-8b": "b", "Qwen3.5-27B": "a"})
    ['a', 'b']
    """
    names = {one.lower(): meant for one, meant in known.items()}
    short = _VARIANTS.sub("", name[:80].lower().rpartition("/")[2])
    return list(dict.fromkeys(names[one] for one in get_close_matches(short, names, n=len(names), cutoff=0)))[:3]


def divisors(value: int) -> list[int]:
    """Every whole number that divides `value`, ascending. `value` is at least 1."""
    small = [n for n in range(1, int(value**0.5) + 1) if value % n == 0]
    return small + [value // n for n in reversed(small) if n * n != value]


def require_positive(**quantities: float) -> None:
    """Raise OutOfRangeError for the first quantity that is not above zero."""
    for name, value in quantities.items():
        if not value > 0:
            raise OutOfRangeError(name, value, "above", least=0)


def require_non_negative(**quantities: float) -> None:
    """Raise OutOfRangeError for the first quantity below zero, or not a number."""
    for name, value in quantities.items():
        if not value >= 0:
            raise OutOfRangeError(name, value, "or_more", least=0)


def require_divides(name: str, value: int, parts_name: str, parts: int) -> int:
    """`value / parts` when it is whole.

    Raises IndivisibleError otherwise, OutOfRangeError when `parts` is not positive.
    """
    require_positive(**{parts_name: parts})
    if value % parts:
        raise IndivisibleError(name, value, parts_name, parts)
    return value // parts
