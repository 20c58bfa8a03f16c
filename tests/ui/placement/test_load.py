"""The planner under load and held to measurements: rows, fields and figures, without an app."""

from dataclasses import replace

import numpy as np
import pytest
import vl_convert

from core.catalog import gpu, model
from core.evidence.accuracy import accuracy_of
from core.evidence.report import residuals
from core.placement import under_load
from core.placement.cluster import usual_cluster
from core.placement.demand import Demand
from core.placement.layout import Layout
from core.placement.plan import Question, judge
from core.placement.rank_memory import measured_budget
from core.serving.bench_reader import read_bench_results
from core.serving.bench_results import example_bench, printed_bench
from core.serving.curve import LADDER
from runtime.published import shipped_table
from ui.placement import charts_accuracy as accuracy_charts
from ui.placement import charts_load as load_charts
from ui.placement import rows_accuracy as accuracy
from ui.placement import rows_load as load
from ui.placement.words import accuracy_fields, load_fields, residual_fields
from ui.theme import DARK, LIGHT, Look

BAND = (0.78, 1.54)
LOOKS = [Look(LIGHT), Look(DARK), Look(LIGHT, present=True)]
A100 = gpu("a100-80gb-sxm")
QUESTION = Question(
    model("llama-3-8b"),
    usual_cluster(A100, 8),
    measured_budget(A100),
    Demand(32, prompt_tokens=1024, output_tokens=128),
)


@pytest.fixture(scope="module")
def four_by_two():
    return under_load.loaded(QUESTION, judge(QUESTION, Layout(4, replicas=2)), under_load.LoadAsk())


@pytest.fixture(scope="module")
def shipped():
    return residuals(shipped_table())


def test_rates_are_all_engines_together(four_by_two):
    """Two engines: the ladder's top is their common capacity."""
    rows = load.tails(four_by_two)
    assert len(rows) == len(LADDER)
    assert rows[-1].requests_per_s == pytest.approx(2 * four_by_two.cost.capacity_per_s, rel=0.1)
    assert [row.kept for row in rows[:1]] == [True]


def test_a_promise_that_nothing_keeps_is_said_so(four_by_two):
    strict = replace(four_by_two, ask=under_load.LoadAsk(itl_ms=0.1))
    assert strict.kept is None
    assert not any(row.kept for row in load.tails(strict))


def test_the_fields_state_the_closed_form_beside_the_run(four_by_two):
    fields = load_fields(four_by_two)
    assert fields["engines"] == "2 engines"
    assert fields["settled"].itl_s == pytest.approx(fields["half"].itl_mean_s, rel=0.2)


@pytest.mark.parametrize("look", LOOKS, ids=["light", "dark", "projected"])
@pytest.mark.parametrize("clock", ["ttft", "itl"])
def test_tails_are_drawn_with_what_was_promised(look, clock, four_by_two):
    table = load.tails(four_by_two)
    svg = vl_convert.vegalite_to_svg(load_charts.tails(table, clock, 250.0, look).to_dict())
    assert "target 250 ms" in svg
    assert look.palette.off in svg
    assert ">p99<" in svg
    assert {"ttft": "time to first token", "itl": "between tokens"}[clock] in svg


def test_the_example_is_a_result_and_is_met(four_by_two):
    """50 prompts of 1,024 to Qwen2-7B on half of one A100: within a tenth between tokens and in throughput."""
    question = Question(
        model("qwen2-7b"), usual_cluster(A100, 1), measured_budget(A100, utilisation=0.5), Demand(1, 1024, 1024)
    )
    results = read_bench_results(example_bench())
    lines = load.bench_lines(question, judge(question, Layout()), results, seed=0)
    ratios = {line.figure: float(line.ratio) for line in lines}
    assert ratios["between tokens, mean, ms"] == pytest.approx(1, abs=0.1)
    assert ratios["output tokens/s"] == pytest.approx(1, abs=0.1)
    assert load.bench_warnings(question, results) == []


def test_a_printed_result_reads_back_as_itself():
    (result,) = read_bench_results(example_bench())
    (again,) = read_bench_results(printed_bench(result))
    assert again == replace(result, line=1, model=None)


def test_a_result_that_cannot_be_sent_is_refused_in_its_line():
    results = read_bench_results("Successful requests: 10\nRequest throughput (req/s): 2.0\nMean TTFT (ms): 50.0\n")
    (line,) = load.bench_lines(QUESTION, judge(QUESTION, Layout(8)), results, seed=0)
    assert "lengths of requests are unknown" in line.predicted


def test_another_model_s_result_is_named_and_an_unknown_name_is_not_blamed():
    text = "vllm bench serve --model {}\nSuccessful requests: 10\nMean TTFT (ms): 50.0\nMean TPOT (ms): 5.0\n"
    other, unknown = (
        load.bench_warnings(QUESTION, read_bench_results(text.format(name)))
        for name in ("Qwen/Qwen2-7B", "my-model")
    )
    assert other == ["Qwen/Qwen2-7B is not the plan's model, Llama 3 8B."]
    assert unknown == []


def test_every_published_row_is_a_dot_and_the_chosen_source_stands_in_front(shipped):
    source = accuracy.sources(shipped)[0]
    dots = accuracy.dots(shipped, source)
    assert len(dots) == len(shipped)
    assert {dot.source for dot in dots if dot.chosen} == {source}
    assert dots[-1].chosen
    assert not dots[0].chosen
    assert all(dot.chosen for dot in accuracy.dots(shipped, accuracy.EVERY))


def test_sources_go_by_short_names_that_differ(shipped):
    names = accuracy.sources(shipped)
    assert len(names) == len({each.measurement.source for each in shipped})
    assert all(len(name) <= 52 and "(" not in name for name in names)


@pytest.mark.parametrize("look", LOOKS, ids=["light", "dark", "projected"])
def test_predicted_against_published_keeps_both_axes_alike(look, shipped):
    """Both log, both over the same span, so that equal times lie on the diagonal."""
    chart = accuracy_charts.predicted_against_published(accuracy.dots(shipped, accuracy.EVERY), (), BAND, look)
    scales = [
        layer["encoding"][axis]["scale"]
        for layer in chart.spec["layer"]
        for axis in ("x", "y")
        if layer["encoding"][axis].get("scale")
    ]
    assert all(scale == scales[0] for scale in scales)
    assert scales[0]["type"] == "log"
    assert "another time" in vl_convert.vegalite_to_svg(chart.to_dict())


def test_the_medians_in_prose_are_the_report_s(shipped):
    fields = {**residual_fields(shipped, accuracy.EVERY), **accuracy_fields(QUESTION)}
    assert (fields["rows"], fields["above"], fields["test"].rows) == (886, 0, 653)
    assert fields["of_steps"] == accuracy_of(QUESTION.cluster.gpu, QUESTION.model, "decode")
    ratios = np.array([each.ratio for each in shipped])
    assert fields["chosen_off"] == f"{100 * np.median(np.abs(ratios - 1)):.1f}% off in the median of 886 rows"


def test_the_nearest_runs_are_of_the_plan_s_ranks_and_class(shipped):
    lines = accuracy.near_lines(shipped, QUESTION, judge(QUESTION, Layout(4, replicas=2)))
    assert len(lines) == 6
    assert any("TP=4" in line.run and "A100" in line.run for line in lines[:2])
