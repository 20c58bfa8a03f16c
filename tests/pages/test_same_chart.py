"""A press changes a figure's rows and not its specification, with which a browser would make the chart anew.

What may: an axis that is said in another unit, a tooltip whose numbers are not there at all, and more than six
bars, whose names then stand beside them.
"""

import pytest

from tests.pages.test_every_scene import visit
from ui.course.pages import entry

PRESSED = [
    ("two_way_tp", "count", "real_run"),
    ("comm_cost", "bench", "bill_alpha"),
    ("placement", "plan", "place_concurrency"),
    ("placement", "plan", "place_slo"),
    ("placement", "plan", "place_gpus"),
    ("placement", "plan", "place_nodes"),
    ("placement", "accuracy", "place_source"),
    ("strategy", "picker", "strategy_purpose"),
    ("clinic", "straggler", "_straggler"),
    ("comm_cost", "see", "tp=4"),
    ("comm_cost", "see", "link=pcie-4"),
    ("strategy", "serving", "link=pcie-4"),
]
"""A page, its scene and a control of it, or what one of the scenario's becomes.

Those of `benchmarks/bench_dom.py` whose scene has a chart, and some more.
"""


def drawn(app) -> list[tuple[str, str, dict[str, bytes]]]:
    """Of each chart what a browser makes it of, and last its rows by their part."""
    protos = [chart.proto for chart in app.get("vega_lite_chart")]
    return [(one.spec, one.alt, {part.name: part.data.data for part in one.datasets}) for one in protos]


def step(app, key: str) -> None:
    """Turn a control to another of its values."""
    if "=" in key:
        name, value = key.split("=")
        app.query_params[name] = value
        app.run()
        return
    kinds = ("number_input", "selectbox", "button_group")
    control = next(one for kind in kinds for one in app.get(kind) if one.key == key)
    if control.type == "number_input":
        control.increment().run()
    else:
        control.set_value(next(one for one in reversed(control.options) if one != control.value)).run()


@pytest.mark.parametrize(("stem", "scene", "key"), PRESSED, ids=lambda part: part)
def test_one_step_of_a_control_leaves_each_chart_its_specification(stem, scene, key):
    page = entry(stem)
    app = visit(page, **{f"{page.prefix}_scene": scene}, batch="2")
    before = drawn(app)
    step(app, key)
    assert not app.exception
    (*specs, rows), (*specs_now, rows_now) = zip(*before, strict=True), zip(*drawn(app), strict=True)
    assert specs == specs_now
    assert [one.keys() for one in rows] == [one.keys() for one in rows_now]
    assert rows != rows_now


def test_more_sequences_at_once_move_the_plan_shown_and_send_no_line_anew():
    app = visit(entry("placement"), place_scene="plan")
    for _ in range(3):
        ((_, _, before), *_) = drawn(app)
        step(app, "place_concurrency")
        ((_, _, now), *_) = drawn(app)
        same = {name for name in before if before[name] == now[name]}
        assert same >= {"rows", "part_1", "part_2"}, "the axes, the lines' points and the front"
        assert same < before.keys()
