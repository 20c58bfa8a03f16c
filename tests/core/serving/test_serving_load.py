"""An engine under Poisson load, against the closed forms: M/D/1, Little's law, and the batch where it settles."""

from dataclasses import asdict, replace
from statistics import mean
from time import process_time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import OutOfRangeError
from core.serving import simulate as simulated
from core.serving.arrivals import poisson_arrivals
from core.serving.curve import LADDER, Promise, highest_kept, load_curve
from core.serving.load import EngineCost, steady_state
from core.serving.simulate import MOST_STEPS, follow, simulate

LARGE = EngineCost(1024, 256, 0.08, (1, 64, 256), (0.010, 0.016, 0.035), most_running=200)
"""About an 8B model on one A100: 8.5 requests a second at most."""

ONE = EngineCost(100, 50, 0.1, (1,), (0.01,), most_running=1)
"""One request at a time, 0.59 s each: M/D/1."""


def rng(seed=0):
    return np.random.default_rng(seed)


def test_a_request_alone_takes_its_prefill_and_its_steps():
    """0.1 s, and 49 steps of 10 ms."""
    result = simulate(ONE, [0.0])
    assert (result.ttft_p50_s, result.itl_p50_s) == (0.1, 0.01)
    assert result.sojourn_mean_s == pytest.approx(ONE.alone_s) == pytest.approx(0.59)
    assert result.tokens_per_s == pytest.approx(50 / 0.59)


def md1_wait_s(arrivals_per_s: float, service_s: float) -> float:
    """The mean wait before a server of one, arrivals Poisson and service always as long.

        W = ρ·s / (2·(1 - ρ)),  ρ = λ·s

    Source: the Pollaczek-Khinchine formula, without a variance of service.
    """
    busy = arrivals_per_s * service_s
    return busy * service_s / (2 * (1 - busy))


@pytest.mark.parametrize("busy", [0.3, 0.5, 0.7])
def test_one_at_a_time_waits_as_pollaczek_and_khinchine_have_it(busy):
    """Mean of eight seeds of 8,000 requests: within 8 %, three times its standard error."""
    rate = busy / ONE.alone_s
    waits = [simulate(ONE, poisson_arrivals(rate, 8000, rng(seed))).ttft_mean_s - 0.1 for seed in range(8)]
    assert mean(waits) == pytest.approx(md1_wait_s(rate, ONE.alone_s), rel=0.08)


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9, 1.1])
def test_little_s_law_holds_of_every_run(share):
    """Sequences in the system on average = arrivals a second in the run · time in the system, exactly."""
    arrivals = poisson_arrivals(share * LARGE.capacity_per_s, 1200, rng(3))
    result = simulate(LARGE, arrivals)
    span_s = result.requests * LARGE.output_tokens / result.tokens_per_s
    inside = result.mean_running + result.mean_waiting
    assert inside == pytest.approx(result.requests / span_s * result.sojourn_mean_s, rel=1e-9)


@pytest.mark.parametrize("share", [0.3, 0.5, 0.7, 0.8])
def test_the_run_settles_where_the_closed_form_says(share):
    """B = λ·(O - 1)·D(B)/(1 - λP), and up to a tenth slower: more sequences see the busy times than the quiet."""
    rate = share * LARGE.capacity_per_s
    means = [simulate(LARGE, poisson_arrivals(rate, 3000, rng(seed))).itl_mean_s for seed in range(4)]
    assert 1.0 < mean(means) / steady_state(LARGE, rate).itl_s < 1.1


def test_with_a_step_that_no_batch_lengthens_the_closed_form_is_met():
    """D = 12 ms whatever the batch: within 4 % over four seeds; prompts still come in bunches, as sequences do."""
    flat = replace(LARGE, decode_s=(0.012, 0.012, 0.012))
    rate = 0.6 * flat.capacity_per_s
    means = [simulate(flat, poisson_arrivals(rate, 3000, rng(seed))).itl_mean_s for seed in range(4)]
    assert mean(means) == pytest.approx(steady_state(flat, rate).itl_s, rel=0.04)


def test_at_a_batch_that_never_changes_decode_is_its_step():
    """64 at once, a prompt of no weight: every token 16 ms after the last."""
    free = replace(LARGE, prefill_s=1e-9, prompt_tokens=1)
    result = simulate(free, [0.0] * 64)
    assert result.itl_p50_s == result.itl_p99_s == pytest.approx(0.016, rel=1e-6)


def test_a_full_engine_completes_its_capacity():
    """All 2,000 at once: within the ramp at the end of 1 / (P + (O - 1)·D(C)/C)."""
    result = simulate(LARGE, [0.0] * 2000)
    per_s = result.tokens_per_s / LARGE.output_tokens
    assert 0.9 * LARGE.capacity_per_s < per_s < 1.05 * LARGE.capacity_per_s
    assert steady_state(LARGE, LARGE.capacity_per_s) is None


def test_memory_bounds_what_runs():
    few = replace(LARGE, most_running=4)
    result = simulate(few, [0.0] * 50)
    assert result.mean_running <= 4
    assert result.mean_waiting > 0


def test_other_prompts_lengthen_the_time_between_tokens():
    """A prompt of 80 ms in every so many steps is the 99th percentile's, and not the median's."""
    result = simulate(LARGE, poisson_arrivals(3.0, 1500, rng()))
    assert result.itl_p50_s < 0.016
    assert result.itl_p99_s > 0.08


def test_smaller_chunks_flatten_the_tail_and_delay_the_first_token():
    arrivals = poisson_arrivals(3.0, 1500, rng())
    whole, pieces = simulate(LARGE, arrivals, chunk_tokens=1024), simulate(LARGE, arrivals, chunk_tokens=128)
    assert pieces.itl_p99_s < 0.5 * whole.itl_p99_s
    assert pieces.ttft_p50_s > whole.ttft_p50_s


def test_one_output_token_is_the_prefill_s_and_nothing_is_decoded():
    result = simulate(replace(LARGE, output_tokens=1), poisson_arrivals(2.0, 300, rng()))
    assert (result.requests, result.itl_mean_s) == (300, 0.0)


def test_a_run_too_long_is_cut_and_says_so(monkeypatch):
    monkeypatch.setattr(simulated, "MOST_STEPS", 100)
    result = simulate(LARGE, [0.0] * 250)
    assert result.cut
    assert result.steps == 100


@settings(max_examples=40)
@given(st.integers(1, 3000), st.integers(1, 40), st.sampled_from([64, 500, 5000]), st.integers(0, 999))
def test_steps_that_are_alike_are_taken_at_once_as_one_by_one(prompt_tokens, output_tokens, chunk, seed):
    """Whole chunks of one prompt, and tokens of one batch: a run that takes every step alone ends the same."""
    cost = replace(LARGE, prompt_tokens=prompt_tokens, output_tokens=output_tokens, most_running=3)
    arrivals = poisson_arrivals(5.0, 12, rng(seed))
    with pytest.MonkeyPatch.context() as patch:
        at_once = simulate(cost, arrivals, chunk)
        patch.setattr(simulated, "MOST_AT_ONCE", 1)
        one_by_one = simulate(cost, arrivals, chunk)
    assert at_once.steps <= one_by_one.steps
    assert asdict(replace(at_once, steps=0)) == pytest.approx(asdict(replace(one_by_one, steps=0)), rel=1e-9)


def test_the_same_seed_gives_the_same_run():
    runs = [simulate(LARGE, poisson_arrivals(5.0, 500, rng(7))) for _ in range(2)]
    assert runs[0] == runs[1]


@settings(max_examples=40, deadline=None)
@given(
    times=st.lists(st.floats(0, 50), min_size=1, max_size=60).map(sorted),
    most_running=st.integers(1, 40),
    chunk_tokens=st.sampled_from([64, 1000, 1024, 5000]),
    output_tokens=st.integers(1, 40),
)
def test_every_request_is_done_and_none_before_it_could_be(times, most_running, chunk_tokens, output_tokens):
    cost = replace(LARGE, most_running=most_running, output_tokens=output_tokens)
    result = simulate(cost, times, chunk_tokens)
    assert (result.requests, result.cut) == (len(times), False)
    assert result.sojourn_mean_s >= cost.alone_s * (1 - 1e-9)
    assert result.busy_fraction <= 1 + 1e-9
    assert result.mean_running <= most_running + 1e-9


def test_a_decode_time_lies_on_straight_lines_between_those_given():
    assert [LARGE.decode_at(batch) for batch in (1, 64, 160, 256)] == pytest.approx([0.010, 0.016, 0.0255, 0.035])
    assert ONE.decode_at(50) == 0.01


@pytest.mark.parametrize(
    "changed", [{"most_running": 0}, {"prefill_s": -0.1}, {"batches": (4, 1, 2)}, {"decode_s": (0.1,)}]
)
def test_a_cost_that_cannot_be_is_refused(changed):
    with pytest.raises(OutOfRangeError):
        replace(LARGE, **changed)


def test_the_ladder_climbs_and_is_quick():
    """Twelve rates of 1,000 requests: the tail grows with the rate, and a page can wait for it (0.5 s)."""
    began = process_time()
    curve = load_curve(LARGE, 1000, rng())
    assert process_time() - began < 2.0
    tails = [result.ttft_p99_s for result in curve]
    assert len(curve) == len(LADDER)
    assert tails[-1] > tails[len(tails) // 2] > tails[0]
    assert [result.itl_mean_s for result in curve] == sorted(result.itl_mean_s for result in curve)


def test_the_highest_rate_that_keeps_a_promise_is_the_last_before_it_breaks():
    curve = load_curve(LARGE, 800, rng())
    assert highest_kept(curve, Promise()) is curve[-1]
    assert highest_kept(curve, Promise(itl_p99_s=1e-6)) is None
    some = highest_kept(curve, Promise(ttft_p99_s=0.4))
    after = curve[curve.index(some) + 1]
    assert some.ttft_p99_s <= 0.4 < after.ttft_p99_s


def test_more_requests_than_a_page_can_wait_for_are_refused():
    with pytest.raises(OutOfRangeError, match="requests=100000"):
        load_curve(LARGE, 100_000, rng())


def test_a_long_prompt_takes_no_more_work_to_follow_than_a_short_one():
    """A million tokens in pieces of 256: 4,096 steps a request, of which those that are alike are one."""
    result = simulate(replace(LARGE, prompt_tokens=1_048_576, prefill_s=160.0), [0.0] * 50, chunk_tokens=256)
    assert not result.cut
    assert result.steps < 50 * 12


def test_long_prompts_are_asked_for_fewer_times():
    """A prompt of 131,072 tokens is 64 chunks: twelve runs of 1,000 would be 800,000 steps."""
    curve = load_curve(replace(LARGE, prompt_tokens=131_072, prefill_s=20.0), 1000, rng())
    assert sum(result.steps for result in curve) < 1.5 * MOST_STEPS
    assert not any(result.cut for result in curve)


def test_a_mixed_step_pays_once_what_its_prompt_and_its_tokens_share():
    """Two requests, the second read while the first decodes: its prompt adds 60 of its 100 ms to those steps.

    Paid twice, for weights, launches and hops of both, the step took 110 ms where it takes 70.
    """
    paid_twice = EngineCost(100, 50, 0.1, (1, 2), (0.01, 0.01), most_running=2)
    once = replace(paid_twice, added_fraction=0.6)
    arrivals = [0.0, 0.15]
    (first, again), (_, before) = follow(once, arrivals, 100).first_s, follow(paid_twice, arrivals, 100).first_s
    assert first == pytest.approx(0.1)  # nothing decodes beside it: all of P
    assert again == pytest.approx(0.15 + 0.01 + 0.06)
    assert before == pytest.approx(0.15 + 0.01 + 0.1)
    assert once.capacity_per_s == pytest.approx(1 / (0.06 + 49 * 0.01 / 2))
    with pytest.raises(OutOfRangeError, match="added_fraction"):
        replace(once, added_fraction=1.1)
