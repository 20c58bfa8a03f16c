"""Every time on screen is replayed, or says why not: by construction, from what the pages can show."""

import re
from pathlib import Path

import pytest

from runtime import content
from tests.core.referee.replayed import HELD, held
from ui.comm_cost.bench import FIGURES

TESTS = Path(__file__).resolve().parents[1]
IN_SECONDS = ("s", "s4", "ms", "us", "rate")
"""The units in which prose writes a time or a rate."""


def blocks_with_times() -> list[str]:
    """Every block of every page in which a field is written as a time or a rate."""
    return [
        f"{stem}.{name}"
        for stem in content.stems()
        for name, text in content.load(stem).items()
        if any(unit in IN_SECONDS for _, unit in content.FIELD.findall(text))
    ]


def test_every_block_that_tells_a_time_is_replayed_or_says_why_not():
    told = blocks_with_times()
    assert len(told) > 100
    assert [block for block in told if held(block) is None] == []


def test_every_figure_of_lab_03s_bench_is_replayed_or_says_why_not():
    assert [figure for figure in FIGURES if held(f"comm_cost:{figure}") is None] == []


@pytest.mark.parametrize("key", HELD)
def test_what_holds_a_time_is_there(key):
    """A test that was renamed or removed holds nothing; and a row about nothing is none."""
    file, _, name = HELD[key].test.partition("::")
    assert re.search(rf"^def {name}\(", (TESTS / file).read_text(encoding="utf-8"), re.MULTILINE)
    if "/" not in key and ":" not in key:
        assert any(block.startswith(key) for block in blocks_with_times())
