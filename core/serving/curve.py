"""An engine over a ladder of arrival rates, and the highest of them that keeps a promise."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Literal

import numpy as np

from core.errors import OutOfRangeError, require_positive
from core.serving.arrivals import poisson_arrivals, seeded
from core.serving.load import CHUNK_TOKENS, EngineCost
from core.serving.simulate import MOST_STEPS, LoadResult, simulate

LADDER = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0)
"""Arrival rates as shares of the engine's capacity."""

MOST_REQUESTS = 5000
FEWEST_REQUESTS = 50


@dataclass(frozen=True)
class Promise:
    """What a service promises of all but its slowest hundredth, or half; None where it promises nothing."""

    ttft_p99_s: float | None = None
    itl_p99_s: float | None = None
    percentile: Literal[50, 99] = 99

    def kept(self, result: LoadResult) -> bool:
        """Whether a run kept it."""
        ttft_s, itl_s = result.at(self.percentile)
        first = self.ttft_p99_s is None or ttft_s <= self.ttft_p99_s
        return first and (self.itl_p99_s is None or itl_s <= self.itl_p99_s)


def load_curve(
    cost: EngineCost,
    requests: int,
    rng: np.random.Generator,
    chunk_tokens: int = CHUNK_TOKENS,
) -> tuple[LoadResult, ...]:
    """One run a rate, each a share of the capacity. All see the same arrivals, only closer together.

    Long prompts take many steps each, and are asked for fewer times: all runs together stay near `MOST_STEPS`.

    Raises OutOfRangeError for more requests than `MOST_REQUESTS`.
    """
    require_positive(chunk_tokens=chunk_tokens)
    if not 1 <= requests <= MOST_REQUESTS:
        raise OutOfRangeError("requests", requests, "from_to", least=1, most=MOST_REQUESTS)
    steps_each = ceil(cost.prompt_tokens / chunk_tokens) + 3
    affordable = max(FEWEST_REQUESTS, MOST_STEPS // (len(LADDER) * steps_each))
    unit = poisson_arrivals(1.0, min(requests, affordable), rng)
    rates = [share * cost.capacity_per_s for share in LADDER]
    return tuple(simulate(cost, unit / rate, chunk_tokens) for rate in rates)


def highest_kept(curve: Sequence[LoadResult], promise: Promise) -> LoadResult | None:
    """The last run of a curve before the first that breaks a promise; None where even the first does."""
    kept = None
    for result in curve:
        if not promise.kept(result):
            break
        kept = result
    return kept


def most_kept_per_s(cost: EngineCost, promise: Promise, requests: int, chunk_tokens: int) -> float:
    """The highest rate at which an engine keeps a promise, to a 32nd of its capacity; 0 where it keeps none.

    One engine sees the same arrivals at every rate, only closer together.
    """
    unit = poisson_arrivals(1.0, requests, seeded(0))
    low, high = 0.0, cost.capacity_per_s
    for _ in range(5):
        middle = (low + high) / 2
        kept = promise.kept(simulate(cost, unit / middle, chunk_tokens))
        low, high = (middle, high) if kept else (low, middle)
    return low
