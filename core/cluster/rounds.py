"""α and β of a ring that people pass by hand, out of the rounds they took."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from core.collectives.cost import ring_all_reduce
from core.links.fit import least_relative_error
from core.specs import LinkSpec


@dataclass(frozen=True)
class RoundFit:
    """A round of n numbers takes α + n/β, here as `s_per_number` = 1/β; `rounds` were measured."""

    alpha_s: float
    s_per_number: float
    rounds: int
    median_relative_error: float

    def round_s(self, numbers: int) -> float:
        """The model's time of a round in which every rank sends so many numbers."""
        return self.alpha_s + numbers * self.s_per_number

    def ring_s(self, ranks: int, numbers: int, wait_s: float = 0.0) -> float:
        """The whole all-reduce, by the closed form; `wait_s` is what the slowest rank waits before it sends."""
        per_s = 1 / self.s_per_number if self.s_per_number else float("inf")
        hand = LinkSpec("hand", "by hand", self.alpha_s + wait_s, per_s)
        return ring_all_reduce(ranks * numbers, ranks, hand).total_s


def fit_rounds(measured: Sequence[tuple[int, float]]) -> RoundFit | None:
    """The α and 1/β, neither below 0, that minimise Σ|t̂/t - 1| over rounds of (numbers a chunk, seconds).

    None where all chunks were of one size, which tells the sum of the two alone.
    """
    rounds = [(numbers, took_s) for numbers, took_s in measured if took_s > 0]
    if len({numbers for numbers, _ in rounds}) < 2:
        return None
    sizes, times = np.array(rounds, dtype=float).T
    alpha_s, s_per_number = least_relative_error(np.stack([np.ones_like(sizes), sizes], axis=1), times)
    errors = np.abs((alpha_s + s_per_number * sizes) / times - 1)
    return RoundFit(float(alpha_s), float(s_per_number), len(rounds), median(map(float, errors)))
