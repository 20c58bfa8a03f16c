"""The slowest of many ranks that are each a little late: what its figure draws."""

from dataclasses import dataclass

from core.clinic import SEED
from core.clinic.jitter import (
    expected_max_exponential,
    expected_max_normal,
    exponential_max_quantile,
    sampled_largest,
)
from runtime.prose import named


@dataclass(frozen=True)
class Largest:
    """The extra time of the slowest of N ranks, over one rank's mean; `kind` says of which scatter and quantile."""

    kind: str
    ranks: int
    times: float


MEAN, NORMAL, P99, DRAWN = "mean, rare long delays", "mean, many small delays", "99 of 100 steps", "drawn"
SIZES = (1, 2, 4, 8, 16, 32, 64)


def largest_of(steps: int = 4000) -> list[Largest]:
    """E[max] of N exponential and normal delays and the 99th percentile, closed; circles are drawn at random."""
    return [row for ranks in SIZES for row in _largest(ranks, steps)]


def _largest(ranks: int, steps: int) -> list[Largest]:
    drawn = sampled_largest(ranks, 1.0, steps, SEED)
    return [
        Largest(named("clinic", MEAN), ranks, expected_max_exponential(1.0, ranks)),
        Largest(named("clinic", NORMAL), ranks, expected_max_normal(1.0, ranks)),
        Largest(named("clinic", P99), ranks, exponential_max_quantile(1.0, ranks, 0.99)),
        Largest(named("clinic", DRAWN), ranks, drawn.mean_s),
        Largest(DRAWN, ranks, drawn.p99_s),
    ]
