"""The drawn numbers of timed questions, replayed on the referee's clock from what the question shows."""

import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.catalog import link, model
from core.collectives.programs import program
from core.comm_cost.bill import LAB_STEP_S
from core.course.quiz import paper
from core.course.quiz.paper import MOST_SEED
from core.text.quantity import read_quantity
from core.units import KIB
from tests.core.referee.clock import Work, replay
from tests.core.referee.fabric import Fabric, around
from tests.core.referee.shown import bare, played_s

SEEDS = st.integers(0, MOST_SEED)
FEW = settings(max_examples=8)
"""A question on pipelines has four to nine draws."""
TIME = re.compile(r"\d[\u00a0\u202f ]?(?:s|ms|µs)\b")
UNTIMED = {
    "rare_stall": "a chance of a message, whatever its time",
    "one_f_one_b": "an order, without a number",
    "pipeline_latency": "which of two is sooner, without a number",
    "larger_model": "a share of lab 03's bill and roofline, which test_pages replays for every link",
}
"""Questions on time and pipelines that tell no time of their own."""

replayed: set[str] = set()


def of(*keys: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Marks a test as the replay of some questions."""
    replayed.update(keys)
    return lambda test: test


def drawn(seed, key):
    """A question of a paper, and a reader of the quantities that its text shows."""
    (question,) = paper(seed, [key])

    def shown(name):
        return read_quantity(question.fields[name]).value

    return question, shown


def linked(shown):
    """The link that a question describes: its hop and its bandwidth, and nothing besides."""
    return Fabric(
        replace(
            bare(link("ethernet-10g-lab")),
            latency_s=shown("hop"),
            bandwidth_bytes_per_s=shown("bandwidth"),
        )
    )


def count(question, name):
    return int(re.sub(r"\D", "", question.fields[name]))


def share(question, name):
    return float(question.fields[name].split("\u00a0")[0]) / 100


def run_through(stages, items, each_s=1.0):
    """Items through stages, one after another: GPipe's forwards, or the chunks of a prompt."""
    return replay(
        Work(f"{item}.{stage}", (f"stage {stage}",), each_s, (f"{item}.{stage - 1}",) if stage else ())
        for item in range(items)
        for stage in range(stages)
    ).end_s


def decoded_per_s(stage_s, stages, in_flight, hop_s=0.0):
    """Tokens a second of a pipe that has settled; the way back is a hop to a stage that takes no time."""
    laps, early = 9, 4
    works = around([stage_s] * stages + [0.0], [(0.0, hop_s)] * stages, in_flight, laps)
    ran = replay(works).ran
    ends = [ran[f"token {lap}.0.{stages}"].end_s for lap in (early, laps - 1)]
    return in_flight * (laps - 1 - early) / (ends[1] - ends[0])


def test_every_question_that_tells_a_time_is_replayed():
    """By what a question shows and by its subject, so that a new one cannot be left out."""
    for seed in (0, 1, 2):
        for question in paper(seed):
            told = any(TIME.search(str(value)) for value in question.fields.values())
            if told or question.concept in ("pipelines", "serving", "waiting", "the bill"):
                assert (question.key in replayed) is not (question.key in UNTIMED), question.key


@of("bubble")
@FEW
@given(SEEDS)
def test_the_idle_share_of_a_pipeline_is_what_its_run_leaves(seed):
    question, _ = drawn(seed, "bubble")
    items = count(question, "microbatches")
    assert question.answer == pytest.approx(1 - items / run_through(count(question, "stages"), items))


@of("microbatches_for")
@FEW
@given(SEEDS)
def test_one_microbatch_fewer_would_not_stay_under_the_budget(seed):
    question, _ = drawn(seed, "microbatches_for")
    stages, budget = count(question, "stages"), share(question, "budget")

    def idle(items):
        return 1 - items / run_through(stages, items)

    assert idle(int(question.answer)) < budget - 1e-9
    assert idle(int(question.answer) - 1) >= budget - 1e-9


@of("filling")
@FEW
@given(SEEDS)
def test_one_sequence_fewer_would_not_fill_the_pipeline(seed):
    question, _ = drawn(seed, "filling")
    hop_s, stages = float(question.fields["hop"]), count(question, "stages")
    assert decoded_per_s(1.0, stages, int(question.answer), hop_s) == pytest.approx(1)
    assert decoded_per_s(1.0, stages, int(question.answer) - 1, hop_s) < 0.999


@of("steady_rate")
@FEW
@given(SEEDS)
def test_a_pipelines_rate_is_what_it_decodes_on_the_clock(seed):
    question, shown = drawn(seed, "steady_rate")
    rate = decoded_per_s(shown("stage"), count(question, "stages"), count(question, "in_flight"))
    assert question.answer == pytest.approx(rate)


@of("chunked_prefill")
@FEW
@given(SEEDS)
def test_a_prompt_in_chunks_takes_what_its_chunks_take_through_the_stages(seed):
    question, shown = drawn(seed, "chunked_prefill")
    end_s = run_through(count(question, "stages"), count(question, "chunks"), shown("chunk"))
    assert question.answer == pytest.approx(end_s)


@of("hidden_communication", "the_fraction")
@given(SEEDS)
def test_communication_that_is_hidden_runs_beside_the_compute(seed):
    for key in ("hidden_communication", "the_fraction"):
        question, shown = drawn(seed, key)
        hidden = share(question, "share") if key == "hidden_communication" else 0.0
        step_s, comm_s = shown("step"), shown("comm")
        works = (
            Work("compute", ("gpu",), step_s),
            Work("hidden", ("link",), hidden * comm_s),
            Work("rest", ("link",), (1 - hidden) * comm_s, ("compute", "hidden")),
        )
        end_s = replay(works).end_s
        told = end_s - step_s if hidden else (end_s - step_s) / end_s
        assert question.answer == pytest.approx(told)


@of("ten_times_as_wide", "bytes_share", "hop_or_round_trip", "flipped_verdict")
@FEW
@given(SEEDS)
def test_shares_over_ethernet_are_those_of_its_rings_message_by_message(seed):
    over, row = bare(link("ethernet-10g-lab")), model("llama-3-8b")
    row_bytes = 2 * row.hidden_size
    sums = 2 * row.num_hidden_layers

    def ring(ranks, payload, latency_s=over.latency_s):
        return replay(
            Fabric(replace(over, latency_s=latency_s)).collective(program("all_reduce", "ring", ranks), payload)
        )

    question, shown = drawn(seed, "ten_times_as_wide")
    ran = ring(count(question, "ranks"), row_bytes)
    assert shown("comm") == pytest.approx(sums * ran.end_s, rel=5e-3)
    assert shown("bytes") == pytest.approx(sums * ran.busy_s["out 0"], rel=5e-3)
    question, _ = drawn(seed, "bytes_share")
    ran = ring(2, count(question, "tokens") * row_bytes)
    assert question.answer == pytest.approx(ran.busy_s["out 0"] / ran.end_s)
    question, _ = drawn(seed, "hop_or_round_trip")
    for name, latency_s in (("whole", over.latency_s), ("half", over.latency_s / 2)):
        comm_s = sums * ring(2, row_bytes, latency_s).end_s
        assert share(question, name) == pytest.approx(comm_s / (LAB_STEP_S + comm_s), abs=1e-3)
    question, shown = drawn(seed, "flipped_verdict")
    assert shown("bytes") == pytest.approx(sums * ring(2, row_bytes).busy_s["out 0"], rel=5e-3)


@of("late_at_random")
@given(SEEDS)
def test_the_last_of_some_late_ranks_is_the_integral_of_its_chance_to_be_later(seed):
    question, shown = drawn(seed, "late_at_random")
    times = np.linspace(0, 40 * shown("mean"), 40_001)
    later = 1 - (1 - np.exp(-times / shown("mean"))) ** count(question, "ranks")
    assert question.answer == pytest.approx(np.trapezoid(later, times), rel=1e-4)


@of("crossover")
@given(SEEDS)
def test_at_the_crossover_two_ranks_take_as_long_as_one(seed):
    """A layer of 12 d² weights: read whole, or half of it and two sums."""
    question, shown = drawn(seed, "crossover")
    read_s = 12 * question.answer**2 * 2 / shown("memory")
    assert read_s == pytest.approx(read_s / 2 + 2 * shown("wait"), rel=2e-2)


@of("ethernet_bill")
@given(SEEDS)
def test_the_bill_over_ethernet_is_what_the_link_takes(seed):
    """So many rings of the payload shown, one after another, message by message."""
    question, shown = drawn(seed, "ethernet_bill")
    ring_s = played_s(linked(shown), program("all_reduce", "ring", 2), 8 * KIB)
    assert question.answer == pytest.approx(int(question.fields["count"]) * ring_s, rel=1e-6)


@of("balance")
@given(SEEDS)
def test_at_the_balance_a_ring_waits_as_long_as_it_sends(seed):
    """Of the payload that is the answer: twice its waiting, which is that of an empty payload."""
    question, shown = drawn(seed, "balance")
    ring, over = program("all_reduce", "ring", int(question.fields["ranks"])), linked(shown)
    waiting_s = 2 * (int(question.fields["ranks"]) - 1) * shown("hop")
    assert played_s(over, ring, question.answer) == pytest.approx(2 * waiting_s, rel=1e-6)


@of("streaming")
@given(SEEDS)
def test_the_least_of_a_step_is_the_weights_that_are_read_over_the_memory(seed):
    """From the figures shown, as they are rounded there."""
    question, shown = drawn(seed, "streaming")
    read = shown("weights") - shown("table")
    assert question.answer == pytest.approx(read / shown("memory"), rel=2e-3)


@of("slow_rank")
@given(SEEDS)
def test_a_slow_rank_holds_every_other_up(seed):
    question, shown = drawn(seed, "slow_rank")
    longer = 1 + float(question.fields["slow"].split("\u00a0")[0]) / 100
    assert question.answer == pytest.approx(shown("compute") * longer + shown("comm"), rel=1e-6)
