"""A chart's own numbers among its rows: the same picture, and one specification whatever they are."""

import json

import vl_convert
from hypothesis import given, settings
from hypothesis import strategies as st

from ui.figures.parts import FIRST, PART
from ui.figures.style import SECONDS, Figure, at, figure, layer, linear, log
from ui.theme import LIGHT, Look

ENDS = st.floats(1.0, 9.0)


def drawn(longest_s: float, bars: int, **axis) -> Figure:
    """Bars of one length on two axes of numbers, and words where its length has room for them."""
    rows = [{"time_s": longest_s, "line_px": 20.0 * bar, "size": longest_s} for bar in range(bars)]
    x = linear("time_s", [0, longest_s], SECONDS, ticks=[longest_s * bar / bars for bar in range(bars)])
    y = log("size", [0.5, 2 * longest_s], SECONDS)
    layers = [
        layer("point", rows, x=x, y=at("line_px")),
        layer("text", rows, x={**x, "axis": None}, y=at("line_px"), text="time_s", where="datum.time_s < span_x"),
        layer("rule", rows, x=20, y=y),
    ]
    return figure(layers, Look(LIGHT), 20 * bars, apart="y")


@settings(max_examples=8)
@given(ENDS, ENDS, st.integers(1, 12), st.integers(1, 12))
def test_an_answer_with_other_ends_ticks_and_height_has_the_same_specification(one_s, other_s, few, many):
    one, other = drawn(one_s, few), drawn(other_s, many)
    assert one.lifted.spec == other.lifted.spec
    for chart in (one, other):
        plain = {**chart.spec, "datasets": {FIRST: [{**row, PART: None} for row in chart.rows]}}
        assert vl_convert.vegalite_to_svg(chart.to_dict()) == vl_convert.vegalite_to_svg(
            json.loads(json.dumps(plain))
        )


def test_the_first_row_is_no_marks_and_a_lifted_chart_stays_as_it_is():
    chart = drawn(2.0, 3)
    head, *rows = chart.lifted.rows
    assert tuple(rows) == chart.rows
    assert head["_part"] not in {row["_part"] for row in rows}
    assert chart.lifted.lifted is chart.lifted
