"""Held axes: the same scale for what is drawn next, and room for all of it."""

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from ui.figures.held import axes_of, hold
from ui.figures.style import SECONDS, Figure, at, figure, layer, linear
from ui.theme import LIGHT, Look

ENDS = st.floats(1e-6, 1e3)


@dataclass(frozen=True)
class Row:
    time_s: float
    other_s: float
    line_px: float


def drawn(longest_s: float, field: str = "time_s") -> Figure:
    """A bar and the word beside it, along an axis as long as the bar."""
    rows = [Row(longest_s, longest_s, 10)]
    x = linear(field, [0, longest_s], SECONDS, title="a step")
    bar, word = layer("bar", rows, x=x, y=at("line_px")), layer("text", rows, x={**x, "axis": None}, text="time_s")
    return figure([bar, word], Look(LIGHT), 100)


def domains(spec) -> list[list[float]]:
    return [one["encoding"]["x"]["scale"]["domain"] for one in spec["layer"]]


@given(ENDS, ENDS)
def test_a_held_axis_never_shrinks_and_never_cuts_and_all_layers_share_it(before_s, now_s):
    before, now = drawn(before_s), drawn(now_s)
    held = hold(now.spec, axes_of(before.spec))
    assert domains(held) == [[0, max(before_s, now_s)]] * 2
    # its unit and ticks are those of the longer one; a layer without an axis gets none
    longer = before if before_s >= now_s else now
    bar, word = (one["encoding"]["x"] for one in held["layer"])
    assert bar["axis"] == longer.spec["layer"][0]["encoding"]["x"]["axis"]
    assert word["axis"] is None
    # what is held is what is held on to
    assert hold(held, axes_of(held)) == held


@given(ENDS)
def test_holding_changes_only_axes_of_the_same_field_and_not_what_was_drawn(longest_s):
    """Charts are kept and shared by visits: the axis of one must not reach another."""
    chart = drawn(longest_s)
    before = drawn(longest_s).spec
    assert hold(chart.spec, axes_of(drawn(2 * longest_s).spec)) != before
    assert chart.spec == before
    assert hold(chart.spec, {}) == before
    assert hold(chart.spec, axes_of(drawn(2 * longest_s, "other_s").spec)) == before
