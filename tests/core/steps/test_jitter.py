"""The largest of N: closed forms against draws and against the tables of order statistics."""

from math import exp, log, pi, sqrt

import numpy as np
import pytest

from core.errors import OutOfRangeError
from core.steps.jitter import (
    drawn_of,
    expected_max_exponential,
    expected_max_normal,
    exponential_max_quantile,
    harmonic,
    hit_fraction,
    sampled_largest,
)


@pytest.mark.parametrize("ranks", [1, 2, 3, 8, 64])
def test_the_largest_of_n_exponentials_is_the_harmonic_number_of_means(ranks):
    """40,000 draws: the standard error of the mean is below 0.7 % of it; five of those are allowed."""
    drawn = sampled_largest(ranks, 2e-3, 40_000, 1).mean_s
    assert drawn == pytest.approx(expected_max_exponential(2e-3, ranks), rel=0.035)


def test_harmonic_numbers_of_the_sizes_in_use():
    """1, 3/2, 25/12 and 761/280."""
    assert [harmonic(n) for n in (1, 2, 4, 8)] == pytest.approx([1, 3 / 2, 25 / 12, 761 / 280])


@pytest.mark.parametrize(
    ("ranks", "expected"),
    [(1, 0), (2, 1 / sqrt(pi)), (3, 1.5 / sqrt(pi)), (4, 1.02938), (8, 1.42360), (16, 1.76599)],
)
def test_the_largest_of_n_normals_is_as_tabled(ranks, expected):
    """Two and three have closed forms; the rest from Harter 1961, expected values of normal order statistics."""
    assert expected_max_normal(1.0, ranks) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("ranks", [1, 8])
@pytest.mark.parametrize("quantile", [0.5, 0.99])
def test_each_rank_is_below_the_quantile_of_the_largest_often_enough(ranks, quantile):
    """P(one below t)^N is the quantile again."""
    time_s = exponential_max_quantile(1.0, ranks, quantile)
    assert (1 - exp(-time_s)) ** ranks == pytest.approx(quantile)


def test_one_ranks_median_is_the_mean_times_the_logarithm_of_two():
    assert exponential_max_quantile(3.0, 1, 0.5) == pytest.approx(3 * log(2))


@pytest.mark.parametrize("quantile", [0.0, 1.0, -1, float("nan")])
def test_a_quantile_lies_between_nought_and_one(quantile):
    with pytest.raises(OutOfRangeError):
        exponential_max_quantile(1.0, 2, quantile)


def test_many_small_chances_are_one_large():
    """Two coins: 3/4; a chance of 3 in a million over 5,120 messages: about 1.5 %."""
    assert hit_fraction(0.5, 2) == 0.75
    assert hit_fraction(3e-6, 5120) == pytest.approx(1.0 - (1 - 3e-6) ** 5120)
    assert hit_fraction(0.1, 0) == hit_fraction(0.0, 99) == 0


@pytest.mark.parametrize("chance", [1.0, -0.1, float("nan")])
def test_a_chance_is_below_one(chance):
    with pytest.raises(OutOfRangeError):
        hit_fraction(chance, 3)


def test_the_tail_of_a_hundred_times():
    """1 to 101: the middle is 51, and one in a hundred lies above 100."""
    tail = drawn_of(np.arange(1.0, 102.0))
    assert (tail.p50_s, tail.p99_s) == (51, 100)


def test_drawn_steps_come_to_the_closed_forms():
    """Eight ranks: the mean is 2.72 and the 99th percentile 6.68 means; 40,000 draws leave 5 % of doubt there."""
    drawn = sampled_largest(8, 1.0, 40_000, 7)
    assert drawn.mean_s == pytest.approx(expected_max_exponential(1.0, 8), rel=0.03)
    assert drawn.p99_s == pytest.approx(exponential_max_quantile(1.0, 8, 0.99), rel=0.05)
