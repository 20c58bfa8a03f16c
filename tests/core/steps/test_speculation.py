"""Drafted tokens: what a pass yields, against drawing it and against the paper's table."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.catalog import gpu, link, model
from core.comm_cost.bill import Step
from core.errors import OutOfRangeError
from core.steps.model import decode_step_s
from core.steps.speculation import PUBLISHED, expected_speedup, expected_tokens, speculation
from tests.each import each

LLAMA, H100, LINK = model("llama-3-70b"), gpu("h100-sxm"), link("nvlink-4")
STEP = Step(LLAMA, 8, 1, decode_step_s(LLAMA, H100), divided=True)


@given(acceptance=st.floats(0, 0.99), drafts=st.integers(0, 12))
def test_a_pass_yields_the_closed_form(acceptance, drafts):
    closed = (1 - acceptance ** (drafts + 1)) / (1 - acceptance)
    assert expected_tokens(acceptance, drafts) == pytest.approx(closed)


def test_a_pass_yields_what_drawing_it_counts():
    """Drafts are kept up to the first that is not, and the model adds one token of its own."""
    rng = np.random.default_rng(3)
    kept = rng.random((200_000, 5)) < 0.8
    counted = 1 + np.cumprod(kept, axis=1).sum(axis=1)
    assert expected_tokens(0.8, 5) == pytest.approx(counted.mean(), rel=0.01)
    assert expected_tokens(1.0, 5) == 6


@each("row", PUBLISHED)
def test_the_papers_expected_factors(row):
    """Leviathan et al. 2023, table 4: printed to one decimal, of an acceptance and a cost printed to two."""
    shares = (row.acceptance - 0.005, row.acceptance + 0.005)
    costs = (row.draft_cost + 0.005, row.draft_cost - 0.005)
    low, high = (expected_speedup(share, row.drafts, cost) for share, cost in zip(shares, costs, strict=True))
    assert low - 0.05 <= row.expected <= high + 0.05


def test_what_was_measured_lies_around_the_formula_and_not_on_it():
    """1.7 of 2.5 with the largest draft of translations; 3.1 of 2.4 with the smallest of summaries."""
    ratios = [row.over_formula for row in PUBLISHED]
    assert min(ratios) == pytest.approx(1.7 / 2.5, abs=0.02)
    assert max(ratios) == pytest.approx(3.1 / 2.4, abs=0.04)


def test_weights_and_waiting_are_paid_once_a_pass_and_every_draft_has_a_row():
    plain, four = (speculation(STEP, H100, LINK, drafts, 1.0, 0.0) for drafts in (0, 4))
    assert four.tokens == 5
    assert four.bytes_a_token == pytest.approx(plain.bytes_a_token / 5)
    assert four.bill.step.payload_bytes == 5 * plain.bill.step.payload_bytes
    assert four.bill.waiting_s == plain.bill.waiting_s
    assert four.bill.bandwidth_s == pytest.approx(5 * plain.bill.bandwidth_s)


def test_drafts_that_are_never_kept_make_a_token_later():
    plain, wasted = (speculation(STEP, H100, LINK, drafts, 0.0, 0.05) for drafts in (0, 4))
    assert wasted.tokens == 1
    assert wasted.token_s > plain.token_s
    assert wasted.bytes_a_token == pytest.approx(1.2 * plain.bytes_a_token)


def test_many_sequences_make_arithmetic_of_the_drafts():
    """One sequence reads weights whatever it checks; past the ridge each drafted token takes its own time."""
    few, many = (
        speculation(Step(LLAMA, 8, batch, decode_step_s(LLAMA, H100), divided=True), H100, LINK, 8, 0.5, 0.02)
        for batch in (1, 512)
    )
    assert few.bill.step.compute_s == decode_step_s(LLAMA, H100)
    assert many.bill.step.compute_s > 5 * decode_step_s(LLAMA, H100)


def test_a_share_is_from_none_to_all():
    for acceptance in (-0.1, 1.1, float("nan")):
        with pytest.raises(OutOfRangeError, match="acceptance"):
            expected_tokens(acceptance, 2)
