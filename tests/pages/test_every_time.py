"""Every time on screen is replayed, or says why not: by construction, from what the pages can show."""

import ast
import re
from pathlib import Path

from runtime import content
from tests.core.referee.replayed import HELD, UNTIMED, held
from tests.each import each
from tests.said import stems
from ui.comm_cost.bench import FIGURES, PHASED, made_of

TESTS = Path(__file__).resolve().parents[1]
ROOT = TESTS.parent
IN_SECONDS = ("s", "s4", "ms", "us", "rate")
"""The units in which prose writes a time or a rate."""


def blocks_with_times() -> list[str]:
    """Every block of every page in which a field is written as a time or a rate, or as a share of one."""
    return [
        f"{stem}.{name}"
        for stem in stems()
        for name, text in content.load(stem).items()
        if any(
            unit.removeprefix("+") in IN_SECONDS or path == "time_share"
            for path, unit in content.FIELD.findall(text)
        )
    ]


def test_every_block_that_tells_a_time_is_replayed_or_says_why_not():
    told = blocks_with_times()
    assert len(told) > 100
    assert [block for block in told if held(block) is None] == []


def test_every_figure_of_lab_03s_bench_is_replayed_or_says_why_not():
    assert [figure for figure in FIGURES if held(f"comm_cost:{figure}") is None] == []


def test_every_figure_of_lab_03s_bench_says_what_its_times_are_made_of_unless_somebody_measured_them():
    told = {figure: made_of(figure, "decode") for figure in FIGURES}
    assert {figure for figure in FIGURES if not told[figure]} == {"your table", "residuals"}
    assert all(held(f"comm_cost:{figure}").why for figure, kind in told.items() if not kind)
    assert [figure for figure in FIGURES if made_of(figure, "prefill") == "prompt"] == list(PHASED[:1] + PHASED[2:])


def named_figures() -> set[str]:
    """What the pages and their rooms name as figures and players, where a name stands in the call."""
    found = set()
    for path in [*(ROOT / "ui").rglob("*.py"), *(ROOT / "pages").glob("*.py")]:
        stem = re.sub(r"^\d+_", "", path.stem) if path.parent.name == "pages" else path.parent.name
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(call, ast.Call):
                continue
            name = ast.unparse(call.func).rpartition(".")[2]
            keys = [one.value for one in call.keywords if one.arg == "key" and name.endswith(("figure", "_player"))]
            last = call.args[-1:] if name in ("figure", "bars") else []
            found |= {f"{stem}#{one.value}" for one in [*keys, *last] if isinstance(getattr(one, "value", 0), str)}
    return found


def test_every_figure_and_player_that_has_a_name_is_replayed_or_says_why_not():
    """One by one: a scene's other figure holds nothing for it."""
    named = named_figures()
    assert len(named) > 50
    assert sorted(one for one in named if held(one) is None and one not in UNTIMED) == []
    assert UNTIMED.keys() <= named


@each("key", HELD)
def test_what_holds_a_time_is_there(key):
    """A test that was renamed or removed holds nothing; and a row about nothing is none."""
    file, _, name = HELD[key].test.partition("::")
    assert re.search(rf"^def {name}\(", (TESTS / file).read_text(encoding="utf-8"), re.MULTILINE)
    if "#" not in key and ":" not in key:
        assert any(block.startswith(key) for block in blocks_with_times())
