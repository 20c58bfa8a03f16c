"""A control that puts another figure in a figure's place leaves the place: a browser makes nothing anew around it.

A press after which a widget stands elsewhere has the whole page sent, and a chart whose block has another name is
mounted anew: each takes a browser more than the figure itself.
"""

from itertools import pairwise

import pytest

from tests.pages.test_every_scene import visit
from ui.clinic import hangs
from ui.comm_cost import bench, rows_slips
from ui.course.pages import entry
from ui.pipeline_bubble import bench as schedule_bench

BARS = [
    bench.OWN,
    bench.KERNELS,
    bench.UNITS,
    bench.BUY,
    bench.EXPERTS,
    bench.ENDS,
    *bench.serving.FIGURES,
]
"""Lab 03's figures that are bars of bills."""

SWAPS = [
    ("comm_cost", "bench", "bill_figure", BARS),
    ("comm_cost", "bench", "bill_figure", bench.FIRST),
    ("comm_cost", "break_it", "bill_slip", rows_slips.CHOICES),
    ("sharding_math", "bench", "shard_figure", ["rounding", "TP sizes"]),
    ("clinic", "hangs", "clinic_whose", [hangs.OWN, hangs.RECORDED]),
    ("sharding_math", "count", "shard_count", ["one layer", "one step", "by hand"]),
    ("pipeline_bubble", "bench", "pipe_figure", schedule_bench.USUAL),
    ("two_way_tp", "bench", "real_figure", ["two arms", "the wires", "the width"]),
]


def places(app, sort: str) -> dict[str, tuple[int, ...]]:
    """Where each widget, each named block or each chart stands, by its key or by the place's name."""
    found: dict[str, tuple[int, ...]] = {}

    def walk(node, path, within):
        key = getattr(getattr(node, "proto", None), "id", "") or ""
        if sort == "chart" and node.type == "vega_lite_chart":
            found[within] = path
        elif key and sort == ("block" if hasattr(node, "children") else "widget"):
            found[key] = path
        for at, below in getattr(node, "children", {}).items():
            walk(below, (*path, at), key or within)

    walk(app._tree, (), "")
    return found


def seen(stem, scene, control, option):
    page = entry(stem)
    app = visit(page, **{f"{page.prefix}_scene": scene, control: option})
    assert not app.exception
    return app


@pytest.mark.parametrize(("stem", "scene", "control", "options"), SWAPS, ids=lambda part: str(part)[:20])
def test_no_widget_moves_and_the_figure_keeps_its_place(stem, scene, control, options):
    drawn = [seen(stem, scene, control, option) for option in options]
    for before, now in pairwise((*drawn, drawn[0])):
        for sort, named in (("widget", ""), ("block", "split_")):  # a split holds what a press is about
            at, to = places(before, sort), places(now, sort)
            assert [key for key in at.keys() & to.keys() if named in key and at[key] != to[key]] == []
        charts, charts_now = places(before, "chart"), places(now, "chart")
        assert all(charts[key] == charts_now[key] for key in charts.keys() & charts_now.keys())


@pytest.mark.parametrize(
    ("stem", "scene", "control", "options"),
    [one for one in SWAPS if one[0] == "comm_cost"],
    ids=lambda part: str(part)[:20],
)
def test_the_first_figure_takes_the_place_of_the_first(stem, scene, control, options):
    """A browser that finds a chart there draws into it, and nothing before it is sent."""
    firsts = {min(places(seen(stem, scene, control, one), "chart").values()) for one in options}
    assert len(firsts) == 1


def test_bars_of_bills_are_one_chart_whatever_they_compare():
    """A browser draws the rows of another into the chart that it has."""
    specs = {seen("comm_cost", "bench", "bill_figure", one).get("vega_lite_chart")[0].proto.spec for one in BARS}
    assert len(specs) == 1
