"""Hiding a bill, shortening its hops, widening its link: worked numbers, and the point where two purchases tie."""

from dataclasses import replace

import pytest

from core.catalog import link, model
from core.comm_cost.bill import Step, bill, comm_fraction, ring_allreduce_traffic_per_rank
from core.comm_cost.remedies import (
    equal_gain_payload_bytes,
    exposed_s,
    overlap_break_even,
    overlap_for_fraction,
    what_to_buy,
)
from core.errors import OutOfRangeError

LLAMA = model("llama-3-8b")
ETHERNET, NVLINK = link("ethernet-10g-lab"), link("nvlink-lab")


@pytest.mark.parametrize(
    ("comm", "step", "hidden", "left"), [(6.0, 8.0, 0.0, 6.0), (6.0, 8.0, 0.5, 3.0), (6.0, 8.0, 1.0, 0.0)]
)
def test_what_is_hidden_is_not_waited_for(comm, step, hidden, left):
    assert exposed_s(comm, step, hidden) == pytest.approx(left)


def test_no_more_can_be_hidden_than_there_is_compute():
    """20 ms of communication behind 8 ms of compute leave 12, however well they overlap."""
    assert exposed_s(20e-3, 8e-3, 1.0) == pytest.approx(12e-3)


def test_ethernet_must_hide_94_percent_to_cost_what_nvlink_costs():
    """1 - 0.386 ms / 6.82 ms = 0.943."""
    fast, slow = (bill(Step(LLAMA, 2), over).comm_s for over in (NVLINK, ETHERNET))
    hidden = overlap_break_even(fast, slow)
    assert hidden == pytest.approx(0.943, abs=5e-4)
    assert exposed_s(slow, 8e-3, hidden) == pytest.approx(fast)


def test_a_link_that_is_not_slower_has_nothing_to_hide():
    assert overlap_break_even(2.0, 1.0) == 0.0
    assert overlap_break_even(1.0, 1.0) == 0.0


@pytest.mark.parametrize("fraction", [0.05, 0.10, 0.40])
def test_hiding_that_much_reaches_the_fraction(fraction):
    slow = bill(Step(LLAMA, 2), ETHERNET).comm_s
    hidden = overlap_for_fraction(slow, 8e-3, fraction)
    assert comm_fraction(exposed_s(slow, 8e-3, hidden), 8e-3) == pytest.approx(fraction)


def test_a_bill_of_many_steps_cannot_be_hidden_to_a_tenth():
    assert overlap_for_fraction(20e-3, 8e-3, 0.10) is None


def test_a_small_bill_needs_no_hiding():
    assert overlap_for_fraction(0.386e-3, 8e-3, 0.10) == 0.0


@pytest.mark.parametrize("bad", [-0.1, 1.1, float("nan")])
def test_a_share_outside_of_0_to_1_is_refused(bad):
    with pytest.raises(OutOfRangeError, match="overlap_fraction"):
        exposed_s(1.0, 1.0, bad)
    with pytest.raises(OutOfRangeError, match="fraction"):
        overlap_for_fraction(1.0, 1.0, bad)


@pytest.mark.parametrize(
    ("tokens", "better", "saved_ms"), [(1, "halve_latency", 3.2), (2048, "double_bandwidth", 429.5)]
)
def test_decode_wants_short_hops_and_prefill_a_wide_link(tokens, better, saved_ms):
    """64 · 2 · 50 µs / 2 = 3.2 ms; 64 · 16.78 MB / 1.25 GB/s / 2 = 429.5 ms."""
    advice = what_to_buy(Step(LLAMA, 2, tokens), ETHERNET)
    assert advice.better == better
    assert max(p.saved_s for p in advice.purchases) == pytest.approx(saved_ms * 1e-3, rel=1e-3)


def test_at_the_balance_both_save_the_same():
    """N·α·β = 2 · 50 µs · 1.25 GB/s = 125 KB."""
    payload = equal_gain_payload_bytes(2, ETHERNET)
    assert payload == pytest.approx(125e3)
    traffic_s = ring_allreduce_traffic_per_rank(payload, 2) / ETHERNET.bandwidth_bytes_per_s
    assert traffic_s == pytest.approx(2 * ETHERNET.latency_s)


def test_a_launch_is_for_sale_in_neither():
    launched = replace(ETHERNET, base_s=1e-3)
    assert [p.saved_s for p in what_to_buy(Step(LLAMA, 2), launched).purchases] == [
        pytest.approx(p.saved_s) for p in what_to_buy(Step(LLAMA, 2), ETHERNET).purchases
    ]


def test_one_rank_has_nothing_to_buy():
    advice = what_to_buy(Step(LLAMA, 1), ETHERNET)
    assert advice.better is None
    assert advice.now.comm_s == 0
