"""Lab 04's charts: they compile in every look, say what the rows say, and name their axes in one unit."""

import json
import re

import pytest

from core.pipeline_bubble import pairs
from core.pipeline_bubble.bubble import FillDrain
from core.pipeline_bubble.compositions import Compositions
from core.pipeline_bubble.experiments import Bench, Comparison, Serving
from core.scenario import Scenario
from core.steps.view import View
from ui.pipeline_bubble import charts, grids, rows
from ui.theme import DARK, LIGHT, Look

vl_convert = pytest.importorskip("vl_convert")
LOOKS = [Look(LIGHT), Look(DARK), Look(LIGHT, present=True)]


def svg(chart):
    drawn = vl_convert.vegalite_to_svg(json.dumps({**chart.to_dict(), "width": 600}))
    return re.sub(r"[\u00a0\u202f\u2009]", " ", drawn)


def words(chart):
    return re.findall(r"<text[^>]*>([^<]+)</text>", svg(chart))


@pytest.mark.parametrize("look", LOOKS, ids=["light", "dark", "projected"])
def test_every_figure_says_what_its_rows_say(look):
    bench, pin = Bench(8, 16, 10), Bench(4, 8)
    drawn = words(charts.bubble_curve(rows.curve(bench, pin), rows.curve_marks(bench, pin), 0.1, look))
    assert {"m = 16", "m = 63", "budget 10%", "pinned: p = 4, m = 8"} <= set(drawn)
    drawn = words(charts.formula_dots(rows.formula_rows(FillDrain(8, 16)), look))
    assert {"30.4%", "43.8%", "33.3%", "15.2%", "87.5%"} <= set(drawn)
    versus = Comparison()
    held = rows.held_rows(*pairs.pair(versus, False))
    assert {"1F1B", "ZBV", "held, microbatches"} <= set(words(charts.held_bars(held, look)))


def test_without_a_pin_there_is_one_curve():
    bench = Bench(8, 16, 10)
    assert {point.series for point in rows.curve(bench)} == {"now"}
    assert "pinned" not in svg(charts.bubble_curve(rows.curve(bench), rows.curve_marks(bench), 0.1, LOOKS[0]))


def test_a_budget_beyond_the_axis_is_not_marked():
    """64 stages within 1 %: 6237 microbatches, off an axis that ends at 1024."""
    assert [mark.series for mark in rows.curve_marks(Bench(64, 16, 1))] == ["now"]


def test_more_than_the_whole_is_drawn_at_the_end_of_the_axis():
    """With one microbatch the overhead is 700 %, which no share of time can be."""
    formulas = rows.formula_rows(FillDrain(8, 1))
    assert max(formula.fraction for formula in formulas) == 7
    assert "700.0%" in words(charts.formula_dots(formulas, LOOKS[0]))


@pytest.mark.parametrize("column", ["tokens_per_tick", "token_ticks"])
def test_serving_names_what_its_upright_axis_counts(column):
    curve = rows.serve_curve(Serving())
    assert max(point.in_flight for point in curve) == 16
    drawn = words(charts.serve_curve(curve, column, 4, "tokens a tick", LOOKS[0]))
    assert {"tokens a tick", "microbatches in flight"} <= set(drawn)


def test_what_stands_in_a_bar_is_in_the_unit_of_its_axis():
    """On an axis of milliseconds no bar says microseconds, whatever its own length."""
    for scenario in (Scenario(), Scenario(model="qwen2.5-0.5b"), Scenario(model="llama-3-70b", gpu="h200-sxm")):
        table = rows.layout_rows(Compositions(scenario, 8))
        drawn = words(charts.layout_bars(table, LOOKS[0]))
        units = {match[1] for text in drawn if (match := re.fullmatch(r"[\d. ]+ (s|ms|µs)", text))}
        assert len(units) == 1


def test_a_composition_is_held_against_one_gpu():
    """The labs' 8 ms: TP=8 divides the compute and pays 64 sums; a pipe of eight divides nothing."""
    compose = Compositions(Scenario(), 8)
    assert compose.sums == 64
    assert compose.hand_overs == 7
    assert compose.widest_speed_up == pytest.approx(8e-3 / (1e-3 + compose.widest.all_reduce_s))
    assert compose.speed_up(compose.deepest) < 1


@pytest.mark.parametrize(("model", "gpu"), [("llama-3-8b", "a100-80gb-sxm"), ("llama-3-70b", "h100-sxm")])
def test_a_composition_pays_what_lab_03_bills_for_its_sums(model, gpu):
    """The scenario's napkin link stands for the GPU's own, as measured, in both labs."""
    view = View(Scenario(model=model, gpu=gpu, tp=8))
    widest = Compositions(view.scenario, 8).widest
    assert widest.itl_alone_s == pytest.approx(view.price(view.link).total_s)


def test_a_schedule_is_a_table_as_well():
    run = rows.fill_drain_run(FillDrain(2, 3))
    table = grids.table([grids.forward(run, 2)])
    assert list(table[1].values()) == ["stage 1", "–", "0", "1", "2"]
    side = Comparison().side("1f1b")
    trained = grids.trained(pairs.drawn(side, 1, False))
    rank_3 = grids.table([trained])[3]
    assert list(rank_3.values())[1:8] == ["rank 3", "–", "–", "–", "0", "B0", "B0"]
    both = grids.table([grids.forward(run, 2), trained])
    assert len({tuple(row) for row in both}) == 1, "of two runs, one table"
    assert list(both[0].values())[-1] is None
