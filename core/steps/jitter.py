"""Time that varies: the largest of N draws, and the chance that a step is hit at all.

A step in lockstep ends with its slowest rank, so what counts is the maximum of N, not the mean. X is one rank's
extra time, H_N = 1 + 1/2 + … + 1/N.
"""

from dataclasses import dataclass
from math import erf, expm1, log, log1p, sqrt

import numpy as np

from core.errors import OutOfRangeError, require_non_negative, require_positive

SPAN, STEPS = 12.0, 4000
"""Standard deviations over which a normal's maximum is integrated, beyond lies less than rounding; in how many."""


def harmonic(count: int) -> float:
    """H_N = 1 + 1/2 + … + 1/N."""
    return sum(1 / n for n in range(1, count + 1))


def expected_max_exponential(mean_s: float, ranks: int) -> float:
    """The mean of the largest of N exponential delays: the first of N to end, then of N-1, and so on.

        E[max] = mean · H_N

    Source: Rényi 1953, the spacings of exponential order statistics are independent.
    """
    require_non_negative(mean_s=mean_s)
    require_positive(ranks=ranks)
    return mean_s * harmonic(ranks)


def expected_max_normal(deviation_s: float, ranks: int) -> float:
    """The mean of the largest of N normal delays about zero, integrated.

        E[max] = σ ∫ (1 - Φ(z)^N) - Φ(-z)^N dz over z > 0

    It has no closed form beyond a few ranks: σ/√π for two, 3σ/(2√π) for three.
    """
    require_non_negative(deviation_s=deviation_s)
    require_positive(ranks=ranks)
    width = SPAN / STEPS
    above = (0.5 * (1 + erf((i + 0.5) * width / sqrt(2))) for i in range(STEPS))
    return deviation_s * width * sum(1 - p**ranks - (1 - p) ** ranks for p in above)


def exponential_max_quantile(mean_s: float, ranks: int, quantile: float) -> float:
    """The quantile of the largest of N exponential delays: each must be below it.

        -mean · ln(1 - q^(1/N))

    Raises OutOfRangeError unless 0 < q < 1.
    """
    require_positive(ranks=ranks)
    if not 0 < quantile < 1:
        raise OutOfRangeError("quantile", quantile, "between", least=0, most=1)
    return -mean_s * log(-expm1(log(quantile) / ranks))


def hit_fraction(chance: float, trials: int) -> float:
    """How often at least one of n trials is hit, each with chance p.

        1 - (1 - p)^n

    Raises OutOfRangeError unless 0 <= p < 1.
    """
    require_non_negative(trials=trials)
    if not 0 <= chance < 1:
        raise OutOfRangeError("chance", chance, "from_to_below", least=0, most=1)
    return -expm1(trials * log1p(-chance))


@dataclass(frozen=True)
class Drawn:
    """What many times come to: their mean, and the two quantiles that a dashboard shows."""

    mean_s: float
    p50_s: float
    p99_s: float


def drawn_of(times_s: np.ndarray) -> Drawn:
    """Many times in one line."""
    median, high = np.quantile(times_s, (0.5, 0.99))
    return Drawn(float(times_s.mean()), float(median), float(high))


def sampled_largest(ranks: int, mean_s: float, steps: int, seed: int) -> Drawn:
    """The largest of N exponential delays over `steps` drawn steps: what the closed forms are held against."""
    require_positive(ranks=ranks, steps=steps)
    return drawn_of(np.random.default_rng(seed).exponential(mean_s, (steps, ranks)).max(axis=1))


def histogram_shares(times_s: np.ndarray, edges_s: np.ndarray) -> np.ndarray:
    """The share of all times in each bin, the last bin closed; none outside of the edges is counted."""
    counts, _ = np.histogram(times_s, edges_s)
    return counts / len(times_s)
