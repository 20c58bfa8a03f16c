"""Lab 02's page: the recorded runs, every scene of each, and numbers that come from the run that is chosen."""

from pathlib import Path
from statistics import median

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from core.catalog import link
from core.placement.reached import reached
from core.scenario import Scenario
from core.two_way_tp.reconcile import slowdown
from core.units import plain, significant
from runtime import captures
from runtime.budget import BudgetGuard
from tests.said import in_address, without_terms
from ui import learner_panel
from ui.course.pages import SCENES
from ui.two_way_tp import paid_run as two_way_tp_paid

ENTRY = Path(__file__).resolve().parents[2] / "streamlit_app.py"
RUNS = ("MiniGPT, TCP", "MiniGPT, shared memory")
WRONGS = ("one rank slow", "bias on every rank", "sum left out")


def opened(**query):
    at = AppTest.from_file(str(ENTRY), default_timeout=60)
    for name, value in query.items():
        at.query_params[name] = in_address(value)
    at.switch_page("pages/2_two_way_tp.py")
    return at.run()


def text_of(at):
    html = [element.proto.body for element in at.get("html")]
    return without_terms(" ".join([*html, *(str(element.value) for element in [*at.title, *at.markdown])]))


@pytest.mark.parametrize("run", [RUNS[0], pytest.param(RUNS[1], marks=pytest.mark.slow)])
@pytest.mark.parametrize("scene", SCENES)
def test_every_scene_of_every_recorded_run_is_drawn(run, scene):
    at = opened(real_scene=scene, real_run=run, real_revealed="true")
    assert not at.exception
    assert not at.error
    assert "{{" not in text_of(at)


@pytest.mark.parametrize("wrong", WRONGS)
def test_every_way_to_break_it_says_by_how_much(wrong):
    """The bias on every rank is off by 0.13 in a score and changes no sentence; that it is off must be said."""
    text = text_of(opened(real_scene="break_it", real_wrong=wrong))
    expected = {
        "one rank slow": "Rank 1 slept 5 ms",
        "bias on every rank": "off by 0.13",
        "sum left out": "off by 17",
    }
    assert expected[wrong] in text


def test_the_truth_is_the_recorded_slowdown_and_hidden_until_revealed():
    times = slowdown(captures.load("gloo-cpu").log)
    assert "times as long" not in text_of(opened())
    text = text_of(opened(real_guess=60, real_revealed="true"))
    assert f"{plain(times, 2)} times as long" in text
    assert f"{100 / times:.1f}% of one process's speed" in text


def test_the_weights_of_the_log_and_of_the_question_differ_by_the_row_that_is_added():
    """31 rows do not divide by 2, so one of 96 parameters is added."""
    text = text_of(opened(real_scene="count"))
    assert "fills them up to 32, which adds 96 parameters" in text


@pytest.mark.parametrize("run", RUNS)
def test_a_sleep_costs_about_what_was_slept(run):
    """Against the same sentence without it, not against the run's median."""
    text = text_of(opened(real_scene="break_it", real_run=run))
    assert 5.0 < float(text.split("so the sleep costs ")[1].split(" ms")[0]) < 6.0


def test_the_letter_that_is_shown_first_is_an_ordinary_one():
    """Of 18 letters, four at most are as much nearer the median."""
    steps = [max(rank.ended_s for rank in step.ranks) for step in captures.load("gloo-cpu").log.steps]
    far = [abs(one - median(steps)) for one in steps]
    shown = opened(real_scene="see").session_state["real_token"]
    assert sum(one < far[int(shown) - 1] for one in far) <= 4


@pytest.mark.parametrize("letter", [1, 18])
def test_a_letter_is_shown_with_what_was_written_before_it(letter):
    written = "he went to school"
    text = text_of(opened(real_scene="see", real_token=letter))
    assert f"→ {written[:letter].strip()}" in text


@pytest.mark.parametrize("figure", ["two arms", "the wires"])
def test_the_bench_draws_its_runs_without_a_button_on_a_shared_server(figure):
    """AppTest has no address, so nothing says that the visitor sits at the machine: no run is offered."""
    at = opened(real_scene="bench", real_figure=figure)
    assert not at.exception
    assert len(at.get("vega_lite_chart")) == 1
    assert "Run it here on the CPU" not in [button.label for button in at.button]
    assert "Live runs are off" in text_of(at)


def test_no_address_that_a_visitor_sends_opens_a_run_or_a_file(monkeypatch):
    """A page opened as localhost, through a proxy or by a forged header, on a server that declared nothing."""
    monkeypatch.setattr(type(st.context), "url", "http://localhost:8501/two_way_tp")
    monkeypatch.setenv("LAB_IMPL", "starter")
    at = opened(real_scene="bench", real_figure="two_arms")
    assert "Run it here on the CPU" not in [button.label for button in at.button]
    assert learner_panel.file_here() is None
    monkeypatch.setenv("SHARDLAB_LIVE_RUNS", "1")
    assert learner_panel.file_here() is not None


def test_a_public_server_shows_no_ledger_and_no_manifest(monkeypatch, tmp_path):
    ledger = BudgetGuard(tmp_path / "spend.jsonl")
    ledger.record_actual("lab-02", 1.25)
    monkeypatch.setattr(two_way_tp_paid, "BudgetGuard", lambda: ledger)
    text = text_of(opened(real_scene="build", real_build="a_paid_run")).replace("\\", "")
    assert "$1.25" not in text
    assert "is not declared private" in text


def test_three_figures_stand_on_the_bench_and_the_rest_under_more():
    def figures(**query):
        at = opened(real_scene="bench", **query)
        return list(next(one for one in at.get("button_group") if one.proto.label == "Figure").options)

    assert figures() == ["two arms", "the links", "the width"]
    assert len(figures(real_more="true")) == 5


@pytest.mark.parametrize("over", ["TCP", pytest.param("shared memory", marks=pytest.mark.slow)])
@pytest.mark.parametrize("figure", ["the width", "two replicas", "two hosts"])
def test_the_bench_draws_every_other_figure_that_was_recorded(figure, over):
    at = opened(real_scene="bench", real_figure=figure, real_wire=over)
    assert not at.exception
    assert not at.error
    assert len(at.get("vega_lite_chart")) == 1
    assert "{{" not in text_of(at)


@pytest.mark.parametrize(("over", "backend"), [("TCP", "gloo"), ("shared memory", "shm")])
def test_a_link_of_this_machine_becomes_a_link_of_every_lab(over, backend):
    """Two buttons; the scenario then holds α, β and the ranks, and says what the link is."""
    at = opened(real_scene="bench", real_figure="the_wires", real_wire=over)
    at.button(key="use_network").click().run()
    assert not at.exception
    used = link(at.query_params["network"])
    assert (used.name, used.measured_ranks) == (f"this machine ({backend})", 2)
    assert at.button(key="use_network").label == "Use between nodes: in use"


def test_a_model_that_fits_no_single_gpu_has_no_replicas_and_is_told_so():
    at = opened(real_scene="bench", real_figure="two_replicas", model="llama-3-70b")
    assert not at.exception
    assert "TP=2 is the only way" in at.error[0].value


def test_the_meter_counts_what_a_forgotten_instance_costs():
    """$0.70 an hour for a day is $16.80, 5.6 times the lab's $3, which lasts 4.29 hours."""
    text = text_of(opened(real_scene="build", real_build="a_paid_run")).replace("\\", "")
    assert "If an instance at $0.70 an hour is forgotten for 24 hours, it costs $16.80. That is 5.6 times" in text
    assert "the cap lasts 4.29 hours" in text


def test_the_checklist_reads_the_ledger_and_ends_with_terminating_before_committing(monkeypatch, tmp_path):
    monkeypatch.setenv("SHARDLAB_LIVE_RUNS", "1")
    ledger = BudgetGuard(tmp_path / "spend.jsonl")
    ledger.record_actual("lab-02", 1.25)
    monkeypatch.setattr(two_way_tp_paid, "BudgetGuard", lambda: ledger)
    text = text_of(opened(real_scene="build", real_build="a_paid_run")).replace("\\", "")
    assert "$1.25 spent, $3.75 left to authorize" in text
    assert text.index("Terminate it, check that it is gone") > text.index("--spin-up")


def test_a_ledger_that_was_edited_stands_as_an_error_where_its_sums_would(monkeypatch, tmp_path):
    monkeypatch.setenv("SHARDLAB_LIVE_RUNS", "1")
    (tmp_path / "spend.jsonl").write_text("edited\n")
    monkeypatch.setattr(two_way_tp_paid, "BudgetGuard", lambda: BudgetGuard(tmp_path / "spend.jsonl"))
    at = opened(real_scene="build", real_build="a_paid_run")
    assert not at.exception
    assert "line 1 of the ledger is no entry" in at.error[0].value


def test_a_survey_is_priced_by_row_and_rows_without_a_name_or_price_are_not():
    """$0.70 for two hours is $1.40, four GPU hours."""
    survey = two_way_tp_paid.empty_survey()
    assert len(two_way_tp_paid.with_cost(survey)) == 0
    survey.loc[0, ["vendor", "instance", "usd_per_hour", "hours"]] = ["somebody", "2x4090", 0.7, 2.0]
    survey.loc[1, "vendor"] = "no price"
    priced = two_way_tp_paid.with_cost(survey)
    assert priced.estimated_usd.tolist() == [1.4]
    assert priced.gpu_hours.tolist() == [4.0]


@pytest.mark.parametrize("run", RUNS)
def test_the_questions_own_numbers_are_put_together_beside_what_was_measured(run):
    log = captures.load({RUNS[0]: "gloo-cpu"}.get(run, "shm-cpu")).log
    single, one_sum, gather = (float(f"{s:.3g}") for s in (log.single_token_s, log.sweep_s, log.all_gather_s))
    by_hand_s = single / 2 + 9 * one_sum + gather
    asked, told = text_of(opened(real_run=run)), text_of(opened(real_run=run, real_guess=60, real_revealed="true"))
    assert "gather the scores" in asked
    assert "On paper:" not in asked
    assert f"{100 * log.single_token_s / by_hand_s:.1f}%" in told.split("On paper:")[1].split("Count it")[0]


def test_what_a_served_engine_reaches_stands_beside_the_lab_s_own_speed():
    """The planner's number for the scenario's cut, with what keeps it from more; nothing where nothing is cut."""
    scenario = Scenario(model="llama-3-8b", gpu="h100-sxm", tp=4)
    told = text_of(opened(real_scene="question", real_revealed="true", **scenario.to_query()))
    assert f"{significant(reached(scenario).speedup)} times with Llama 3 8B on 4 × H100 SXM 80 GB" in told
    assert "the same cut" not in text_of(opened(real_scene="question", real_revealed="true", tp="1"))
    assert "the same cut" not in text_of(opened(real_scene="question"))
