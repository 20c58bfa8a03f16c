"""One chart that is any of several."""

import json

import pytest
import vl_convert

from ui.figures.style import SECONDS, at, figure, layer, linear
from ui.figures.turned import turned
from ui.theme import LIGHT, Look


def drawn(longest_s: float, marks: int = 1):
    """A bar as long as its axis in its own unit, and words where its length has room for them."""
    rows = [{"time_s": longest_s, "line_px": 20.0, "zero": 0.0}]
    x = linear("time_s", [0, longest_s], SECONDS)
    bar = layer("point", rows, x=x, y=at("line_px"), where=f"datum.time_s > {longest_s / 2}")
    return figure([bar] * marks, Look(LIGHT), 40)


def svg(chart, told: str = "") -> str:
    """As the browser draws it, having told the chart what a control has open."""
    spec = json.loads(json.dumps(chart.to_dict()))
    for param in spec["params"]:
        param.update({"value": told} if param["name"].startswith("live_") else {})
    return vl_convert.vegalite_to_svg(spec)


def test_each_of_several_is_drawn_as_if_it_were_alone_whichever_the_server_showed():
    figures = [drawn(2.0), drawn(0.004)]
    alone = [svg(one) for one in figures]
    assert alone[0] != alone[1]
    charts = [turned(figures, shown, "live_phase") for shown in (0, 1)]
    assert charts[0].spec == charts[1].spec
    for shown, chart in enumerate(charts):
        assert [svg(chart), svg(chart, "0"), svg(chart, "1")] == [alone[shown], *alone]


def test_a_control_that_counts_from_one_may_go_on_beyond_the_last():
    """Lab 02's slider of letters, where a run wrote fewer."""
    figures = [drawn(2.0), drawn(0.004)]
    chart = turned(figures, 0, "live_letter", first=1)
    assert [svg(chart, told) for told in ("1", "2", "18")] == [svg(figures[0]), svg(figures[1]), svg(figures[1])]


def test_what_all_figures_have_is_there_once():
    same = drawn(2.0)
    assert turned([same, same, same], 1, "live_phase").rows[3:] == ({"_of": -1, **same.rows[0]},)


@pytest.mark.parametrize("shown", [0, 1])
def test_figures_of_two_shapes_are_not_one(shown):
    figures = [drawn(2.0), drawn(2.0, marks=2)]
    assert turned(figures, shown, "live_phase") is figures[shown]
