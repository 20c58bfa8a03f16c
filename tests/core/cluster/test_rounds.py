"""α and β out of the rounds of a ring that was passed by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.cluster.rounds import fit_rounds

SECONDS = st.floats(0.1, 30)


@given(SECONDS, SECONDS, st.lists(st.sampled_from([1, 2, 4]), max_size=30), st.integers(2, 64))
def test_rounds_that_follow_the_model_give_it_back(alpha_s, s_per_number, sizes, ranks):
    fit = fit_rounds([(n, alpha_s + n * s_per_number) for n in (1, 4, *sizes)])
    assert fit.alpha_s == pytest.approx(alpha_s, rel=1e-6)
    assert fit.s_per_number == pytest.approx(s_per_number, rel=1e-6)
    assert fit.median_relative_error == pytest.approx(0, abs=1e-9)
    assert fit.rounds == 2 + len(sizes)
    one_s = alpha_s + 4 * s_per_number
    assert fit.ring_s(ranks, 4) == pytest.approx(2 * (ranks - 1) * one_s)
    assert fit.ring_s(ranks, 4, wait_s=5) == pytest.approx(2 * (ranks - 1) * (one_s + 5))


def test_one_size_tells_no_two_numbers():
    assert fit_rounds([(4, 3.0)] * 20) is None
    assert fit_rounds([]) is None


def test_a_round_in_which_somebody_was_asleep_moves_nothing():
    """Twelve rounds of 2 and 5 s, and one of a minute."""
    fit = fit_rounds([(1, 2.0)] * 6 + [(4, 5.0)] * 6 + [(4, 60.0)])
    assert (fit.alpha_s, fit.s_per_number) == (pytest.approx(1), pytest.approx(1))


def test_chunks_that_make_no_difference_cost_nothing():
    fit = fit_rounds([(1, 3.0), (4, 3.0), (2, 3.0)])
    assert fit.s_per_number == pytest.approx(0, abs=1e-9)
    assert fit.ring_s(8, 4) == pytest.approx(14 * 3)
