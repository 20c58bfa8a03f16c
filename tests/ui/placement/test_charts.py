"""The planner's figures and words, without an app: what they draw, and that every sentence has its numbers."""

import re
from dataclasses import replace
from itertools import combinations, pairwise

import pytest
import vl_convert

from core.catalog import gpu, model
from core.placement.beside import regimes
from core.placement.cluster import usual_cluster
from core.placement.demand import Demand
from core.placement.plan import Question
from core.placement.rank_memory import measured_budget
from runtime import content
from runtime.published import planners
from tests.said import fields_of
from ui.beside import placed
from ui.comm_cost.charts import axis_end_ms, bill_bars
from ui.placement import charts, rows
from ui.placement.charts_accuracy import planners_beside
from ui.placement.pin import pin_text, pinned_plan, read_pin
from ui.placement.rows_accuracy import bands_beside
from ui.placement.words import fields
from ui.theme import DARK, LIGHT, Look

BAND = (0.78, 1.54)
LOOKS = [Look(LIGHT), Look(DARK), Look(LIGHT, present=True)]


def question(name: str = "llama-3-70b", gpu_key: str = "h100-sxm", gpus: int = 8, nodes: int = 1, **demand: object):
    """A question on a usual cluster."""
    gpu_spec = gpu(gpu_key)
    return Question(
        model(name),
        usual_cluster(gpu_spec, gpus, nodes),
        measured_budget(gpu_spec),
        Demand(**{"concurrency": 16, **demand}),
    )


QUESTIONS = [
    question(),
    question("deepseek-v3", "h200-sxm", 8, 2, dtype="fp8", slo_itl_s=0.03),
    question("llama-3.2-1b", "rtx-4090", 2),
]


@pytest.mark.parametrize("look", LOOKS)
def test_another_planner_is_drawn_beside(look):
    found = regimes(planners().rows)
    drawn = bands_beside(found)
    assert len(drawn) == 2 * len(found)
    assert "<svg" in vl_convert.vegalite_to_svg(planners_beside(drawn, look).to_dict())


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("asked", QUESTIONS)
def test_every_figure_compiles(asked, look):
    found = placed(asked)
    shown = found.recommended
    plan = found.plans[shown]
    marks = rows.marked("shown", plan, BAND)
    front = charts.latency_against_throughput(rows.curve_dots(found, shown), marks, 30.0, look)
    memory = charts.memory_bars(rows.memory_parts(plan), rows.memory_labels(plan, asked.budget.usable_bytes), look)
    bars = rows.bars_of(found, shown, plan)
    for chart in (front, memory, bill_bars(bars, look, axis_end_ms(bars))):
        assert "<svg" in vl_convert.vegalite_to_svg(chart.to_dict())


def test_every_line_has_its_name_and_no_two_stand_in_one_place():
    """Three lines begin at nearly the same place; their names stand one under the other."""
    ends = {"upper": (10, 92), "lower": (10.2, 90), "third": (10.4, 88), "aside": (30, 80)}
    dots = [
        {"plan": plan, "concurrency": n, "itl_ms": ms * n**0.2, "tokens_per_s": rate * n, "on_front": False}
        for plan, (ms, rate) in ends.items()
        for n in (1, 4, 16)
    ]
    drawn = vl_convert.vegalite_to_svg(charts.latency_against_throughput(dots, [], None, LOOKS[0]).to_dict())
    places = {
        plan: tuple(map(float, re.findall(rf'translate\(([\d.]+),([\d.]+)\)"[^>]*>{plan}</text>', drawn)[0]))
        for plan in ends
    }
    together = sorted(places[plan][1] for plan in ("upper", "lower", "third"))
    assert all(below - above > 12 for above, below in pairwise(together))


@pytest.mark.parametrize(
    ("look", "wide", "high"), [(LOOKS[0], 780, 330), (Look(LIGHT, present=True, low=True), 1030, 277)]
)
@pytest.mark.parametrize(("asked", "least"), [("llama-3-8b", 4), ("gpt-oss-120b", 2)])
def test_no_name_of_a_line_lies_on_another_or_on_the_axis(look, wide, high, asked, least):
    """On a wall of 720 lines letters are larger and the plot lower: names lay on each other, and on `10 ms`."""
    found = placed(question(asked, "a100-80gb-sxm", concurrency=1))
    marks = rows.marked("shown", found.plans[found.recommended], BAND)
    spec = charts.latency_against_throughput(rows.curve_dots(found, found.recommended), marks, None, look).to_dict()
    drawn = vl_convert.vegalite_to_svg({**spec, "width": wide})
    names = re.findall(r'translate\(([\d.]+),([\d.]+)\)"[^>]*font-size="([\d.]+)px"[^>]*>(TP=[^<]+)</text>', drawn)
    boxes = {name: (float(x), float(y), 0.25 * float(px) * len(name), float(px)) for x, y, px, name in names}
    assert len(boxes) >= least
    assert all(y + 0.25 * px < high for _, y, _, px in boxes.values())
    for (x, y, half, px), (over, under, other, _) in combinations(boxes.values(), 2):
        assert abs(x - over) > half + other or abs(y - under) > 0.8 * px


def test_the_parts_of_a_bar_lie_side_by_side_up_to_the_line():
    plan = placed(question()).plans[-1]
    parts, [label] = rows.memory_parts(plan), rows.memory_labels(plan, 85e9)
    for left, right in pairwise(parts):
        assert left.end_gb == right.start_gb
    assert parts[-1].part == "KV cache"
    assert parts[-1].end_gb == pytest.approx(label.granted_gb)


def test_a_rank_that_does_not_fit_passes_the_line_and_has_no_cache():
    plan = next(plan for plan in placed(question()).plans if plan.layout.name == "TP=1 ×8")
    parts, [label] = rows.memory_parts(plan), rows.memory_labels(plan, 85e9)
    assert label.short
    assert parts[-1].end_gb > label.granted_gb
    assert all(part.part != "KV cache" for part in parts)


def test_uneven_stages_are_named_by_their_layers():
    plan = next(
        plan
        for plan in placed(question("deepseek-v3", "h200-sxm", 8, 2, dtype="fp8")).plans
        if plan.layout.name == "TP=8 PP=2"
    )
    names = [label.rank for label in rows.memory_labels(plan, 150e9)]
    assert names == ["ranks 0 to 7, layers 0 to 30", "ranks 8 to 15, layers 31 to 60"]


def test_a_pin_is_read_back_and_judged_at_todays_demand():
    asked = question()
    found = placed(asked)
    plan = found.plans[found.recommended]
    pin = pin_text(asked.cluster, plan.layout)
    assert pinned_plan(pin, asked).timing == plan.timing
    more = replace(asked, demand=replace(asked.demand, concurrency=64))
    assert pinned_plan(pin, more).timing != plan.timing


@pytest.mark.parametrize(
    "text", ["", "~", "x~y~z~1~1~1~1~1~1~1~1", "h100-sxm~nvlink-4~ib-ndr~8~1~8~0~a~1~1~1", "9" * 120]
)
def test_what_is_no_pin_is_none(text):
    assert read_pin(text) is None


@pytest.mark.parametrize(("gpus", "ranks"), [(0, 1), (10**9, 1), (8, 0)])
def test_a_pin_of_no_cluster_or_no_layout_is_none(gpus, ranks):
    assert read_pin(f"h100-sxm~nvlink-4~ib-ndr~{gpus}~1~8~0~{ranks}~1~1~1") is None


@pytest.mark.parametrize("asked", [*QUESTIONS, question("llama-3-70b", "rtx-4090", 2)])
def test_every_sentence_of_the_page_has_its_numbers(asked):
    found = placed(asked)
    plan = None if found.recommended is None else found.plans[found.recommended]
    filled = fields(found, plan, None)
    blocks = content.load("placement")
    mine = {
        name: text for name, text in blocks.items() if name.split(".")[0] in ("plan", "compare", "cases", "limits")
    }
    missing = {field for text in mine.values() for field in fields_of(text) if field not in filled}
    assert not missing


@pytest.mark.parametrize("key", rows.CASE_NAMES.values())
def test_every_case_has_bars_and_a_reading(key):
    assert len(rows.case_rows(key)) >= 2
    assert f"cases.reading_{key}" in content.load("placement")


def luminance(colour: str) -> float:
    """Relative luminance, as WCAG defines it."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_words_on_a_rank_s_memory_read_at_seven_to_one(palette):
    fills = charts._fills(Look(palette))
    inks = [palette.ground, *[palette.text] * 6, palette.on_primary]
    for fill, ink in zip(fills, inks, strict=True):
        low, high = sorted((luminance(fill), luminance(ink)))
        assert (high + 0.05) / (low + 0.05) >= 7
