"""Lab 04's charts compile in both looks, and say what the rows say."""

import json
import re

import pytest

from ui.figures.frames import frame
from ui.pipeline_bubble import charts
from ui.pipeline_bubble import rows as bubble
from ui.pipeline_bubble import rows_schedules as rows
from ui.theme import DARK, LIGHT, Look

vl_convert = pytest.importorskip("vl_convert")
LOOKS = [Look(LIGHT), Look(DARK), Look(LIGHT, present=True)]


def svg(chart):
    drawn = vl_convert.vegalite_to_svg(json.dumps(chart.properties(width=600).to_dict()))
    return re.sub(r"[\u00a0\u202f\u2009]", " ", drawn)


@pytest.mark.parametrize("look", LOOKS, ids=["light", "dark", "projected"])
@pytest.mark.parametrize("pin", [None, bubble.Bench(4, 8)], ids=["unpinned", "pinned"])
def test_the_curve_shows_where_the_budget_is_met(look, pin):
    ask = bubble.Ask(bench=bubble.Bench(8, 16, 10), pin=pin)
    drawn = svg(charts.bubble_curve(frame(bubble.curve(ask)), frame(bubble.curve_marks(ask)), 10, look))
    assert "m = 63" in drawn
    assert "budget 10 %" in drawn
    assert ("pinned: p = 4, m = 8" in drawn) == (pin is not None)


@pytest.mark.parametrize("look", LOOKS, ids=["light", "dark", "projected"])
def test_the_slips_stand_against_the_truth(look):
    drawn = svg(charts.slip_dots(frame(bubble.slip_rows(bubble.Ask())), look))
    for value in ("30.4 %", "43.8 %", "33.3 %", "15.2 %", "87.5 %"):
        assert value in drawn


def test_a_budget_beyond_the_axis_is_not_marked():
    """64 stages within 1 %: 6237 microbatches, off an axis that ends at 1024."""
    marks = bubble.curve_marks(bubble.Ask(bench=bubble.Bench(64, 16, 1)))
    assert [mark.series for mark in marks] == ["now"]


def test_more_than_the_whole_is_drawn_at_the_end_of_the_axis():
    """With one microbatch the overhead is 700 %, which no share of time can be."""
    rows = frame(bubble.slip_rows(bubble.Ask(microbatches=1)))
    assert rows.percent.max() == 700
    assert "700" in svg(charts.slip_dots(rows, LOOKS[0]))


@pytest.mark.parametrize("look", LOOKS, ids=["light", "dark", "projected"])
def test_what_each_rank_holds_is_drawn_for_both_schedules(look):
    versus = rows.Versus()
    held = [
        *rows.held_rows("1f1b", "first", versus.run("1f1b")),
        *rows.held_rows("zbv", "second", versus.run("zbv")),
    ]
    drawn = svg(charts.held_bars(frame(held), look))
    assert "1F1B: outlined" in drawn
    assert "ZBV: filled" in drawn


@pytest.mark.parametrize("column", ["throughput", "token_time"])
def test_serving_is_drawn_with_a_circle_where_we_stand(column):
    curve = frame(rows.serve_curve(rows.Serve()))
    assert curve.in_flight.max() == 16
    assert "in flight" in svg(charts.serve_curve(curve, column, 4, LOOKS[0]))
