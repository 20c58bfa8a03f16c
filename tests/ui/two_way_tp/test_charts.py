"""Lab 02's bench figures, read from what they hand to Vega: rows, arms, the crossover and its band."""

import json
from dataclasses import astuple, replace

import pytest

from core.catalog import gpu, link, model
from core.two_way_tp.replicas import duels
from core.two_way_tp.result import PerToken
from core.two_way_tp.run_log import Prefill
from runtime import captures
from tests.core.two_way_tp.test_two_way_tp_scaling import scaling
from ui.theme import DARK, LIGHT, Look
from ui.two_way_tp import charts as arms_charts
from ui.two_way_tp import charts_scaling as charts
from ui.two_way_tp import rows as stretch_rows
from ui.two_way_tp import rows_runs as arm_rows
from ui.two_way_tp import rows_scaling as rows
from ui.two_way_tp.bench import ends
from ui.two_way_tp.words import run_name
from ui.two_way_tp.words_bench import host_fields, scaling_fields

LOOKS = [Look(LIGHT), Look(DARK), Look(LIGHT, present=True)]


def values_of(chart):
    """Every row that a chart carries."""
    return [row for dataset in chart.to_dict()["datasets"].values() for row in dataset]


def drawn(run, look):
    lines, dots, marks = (one(run) for one in (rows.width_lines, rows.width_dots, rows.crossover_marks))
    return charts.token_against_width(lines, dots, marks, look)


@pytest.mark.parametrize("look", LOOKS)
def test_the_crossover_is_marked_with_its_band(look: Look):
    """sqrt(1.5 · 100 µs · 10 GB/s / 12) = 354, and the fastest and slowest sums' widths beside it."""
    run = scaling(points=((64, 1e-6), (4096, 170.0)))
    marks = [row for row in values_of(drawn(run, look)) if "in_words" in row]
    assert marks[0]["low"] < marks[0]["hidden_size"] < marks[0]["high"]
    assert marks[0]["in_words"].startswith("crossover 3")
    assert " to " in marks[0]["in_words"]


def test_where_tp_never_pays_nothing_is_marked_and_the_prose_says_so():
    run = scaling(together=5e9)
    assert not [row for row in values_of(drawn(run, LOOKS[0])) if "in_words" in row]
    assert scaling_fields(run, "TCP")["scaling_pays"] == "at no width"


def test_measured_widths_are_drawn_for_both_arms():
    dots = [row for row in values_of(drawn(scaling(), LOOKS[0])) if row.get("arm") == "TP=2" and "p95_ms" in row]
    assert {row["hidden_size"] for row in dots} == {64, 4096}


def test_a_duel_is_full_where_tp_wins_and_open_where_replicas_do():
    pair = model("llama-3-8b"), gpu("a100-80gb-sxm")
    asked = [duels(*pair, link(name)) for name in ("nvlink-lab", "ethernet-10g-lab")]
    table = rows.duel_rows(asked)
    assert [row.tp_wins for row in table] == [True, False, True, False, False, False]
    assert list(dict.fromkeys(row.link for row in table)) == ["NVLink", "10\u00a0GbE"]
    for look in LOOKS:
        assert charts.replicas_or_tp(table, look).to_dict()["height"] > 0


def test_one_process_on_all_threads_is_a_third_arm_where_it_was_timed():
    result = captures.load("gloo-cpu").result
    with_all = replace(result, all_threads_per_token=result.single_per_token)
    without = replace(result, all_threads_per_token=None)
    assert [row.kind for row in arm_rows.run_rows("a", with_all)] == ["one", "all", "ranks"]
    assert [row.kind for row in arm_rows.run_rows("a", without)] == ["one", "ranks"]
    for result_of_run in (with_all, without):
        table = arm_rows.run_rows("a", result_of_run)
        assert values_of(arms_charts.arms(table, LOOKS[0]))


def test_other_runs_of_a_command_stand_as_strokes_on_its_line():
    """Five medians, at the height of the bar that is the middle one of them."""
    shown, repeats = captures.load("gloo-cpu"), captures.repeats("gloo-cpu")
    table = arm_rows.run_rows("MiniGPT, TCP", shown.result, repeats)
    drawn = values_of(arms_charts.arms(table, LOOKS[0]))
    strokes = [row for row in drawn if row.get("kind") == "again"]
    assert sorted(row["median_ms"] for row in strokes) == sorted(1e3 * run.per_token.median_s for run in repeats)
    assert {row["line"] for row in strokes} == {row["line"] for row in drawn if row.get("kind") == "ranks"}


def test_steps_replayed_as_a_graph_are_a_row_of_their_own():
    """Half of the eager time in both arms: the same ratio, under a name that says so."""
    result = captures.load("gloo-cpu").result
    one, many = (
        PerToken(*(took_s / 2 for took_s in astuple(arm))) for arm in (result.single_per_token, result.per_token)
    )
    table = arm_rows.run_rows("a", replace(result, single_graph_per_token=one, graph_per_token=many))
    graphed = [row for row in table if row.run == "a, CUDA graph"]
    assert [row.kind for row in graphed] == ["one", "ranks"]
    assert graphed[0].times == table[0].times
    assert (graphed[0].model, graphed[0].between) == ("a", "CUDA graph")
    assert values_of(arms_charts.arms(table, LOOKS[0]))


def test_a_projector_shows_the_ends_of_the_recorded_sizes_and_every_run_made_here():
    recorded = [(name, captures.load(name)) for name in ("gloo-cpu", "gpt-30m-shm", "gpt-220m-shm")]
    here = ("here", replace(recorded[1][1], name="this machine"))
    assert [name for name, _ in ends([*recorded, here])] == ["gloo-cpu", "gpt-220m-shm", "here"]


def test_ranks_that_shared_a_gpu_are_named_so():
    log = captures.load("gloo-cpu").log
    assert run_name(log) == run_name(replace(log, ranks_per_gpu=1)) == "MiniGPT, TCP"
    assert run_name(replace(log, ranks_per_gpu=2)) == "MiniGPT, TCP, 2 ranks on a GPU"


def test_a_prompt_over_a_slow_link_is_half_of_the_compute_and_the_rest():
    """800 ms on one process; 500 ms over loopback, 1200 ms on the link: 400 of each is compute."""
    log = captures.load("gloo-cpu").log
    runs = [
        (name, replace(log, prefill=Prefill(256, 2**19, 0.8, median_s)))
        for name, median_s in (("loopback", 0.5), ("1 Gb/s", 1.2))
    ]
    bars = rows.host_rows(runs)
    assert [(bar.kind, bar.start_ms, bar.end_ms) for bar in bars] == [
        ("work", 0.0, 800.0),
        ("work", 0.0, 400.0),
        ("sum", 400.0, 500.0),
        ("work", 0.0, 400.0),
        ("sum", 400.0, 1200.0),
    ]
    assert "67% of it all-reduces" in bars[-1].words
    assert host_fields(runs)["host_slowest"] == "1 Gb/s"
    assert host_fields([("no prompt", log)]) == {} or log.prefill is not None


def clocks(log, look):
    """The figures of *See it* and *Break it*, each with its rows."""
    step = log.steps[5]
    timeline, slowed = stretch_rows.timeline(step), stretch_rows.slowed_bars(log.slowed)
    yield arms_charts.token_timeline(timeline, look, 1e3 * step.whole_s), timeline
    yield arms_charts.stacked_bars(slowed, look), slowed


@pytest.mark.parametrize("look", LOOKS)
def test_every_fill_of_a_rank_s_clock_has_its_name_in_the_key(look: Look):
    """And none is violet, which is latency: time in an all-reduce is mostly waiting for the other rank."""
    for chart, parts in clocks(captures.load("gloo-cpu").log, look):
        keyed = {value["fill"] for value in values_of(chart) if "fill" in value and "name" in value}
        fills = {"work": look.palette.compute, "sum": look.palette.text}
        drawn = {row.kind for row in parts}
        assert keyed == {fills.get(kind, look.palette.ground) for kind in drawn}
        assert look.palette.latency.lower() not in json.dumps(chart.to_dict()).lower()
