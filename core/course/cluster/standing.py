"""A ring that people pass by hand, as a wall and a phone show it, what is kept of it, and α and β of its rounds."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from core.collectives.cost import ring_all_reduce
from core.links.fit import least_relative_error
from core.specs import LinkSpec

WAIT_S = 5.0
"""What the one who is told to be slow waits before each message."""


@dataclass(frozen=True)
class Run:
    """One all-reduce that has ended: what it was of, and how long each round took, and each rank in a round."""

    ranks: int
    numbers: int
    slow_rank: int | None
    rounds_s: tuple[float, ...]
    ranks_s: tuple[float, ...]
    """Each rank's own time from its move to its message: the mean of the rounds."""

    @property
    def total_s(self) -> float:
        return sum(self.rounds_s)

    @property
    def wait_s(self) -> float:
        """What somebody was told to wait in each round."""
        return 0.0 if self.slow_rank is None else WAIT_S

    @property
    def slowest_rank(self) -> int:
        """The one that took longest over its own moves."""
        return max(range(self.ranks), key=self.ranks_s.__getitem__)


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


def fitted(runs: Sequence[Run]) -> RoundFit | None:
    """The fit over all rounds in which nobody was told to be slow."""
    return fit_rounds([(run.numbers, took_s) for run in runs if run.slow_rank is None for took_s in run.rounds_s])


@dataclass(frozen=True)
class Rank:
    """One rank as the wall draws it."""

    done: int
    has_move: bool
    is_simulated: bool
    is_silent: bool
    parts: tuple[int, ...]
    """How many ranks' parts are in each of its chunks."""
    total: int
    """All its numbers added up: of all ranks the same at the end."""


@dataclass(frozen=True)
class Standing:
    """A ring as it stands."""

    run: int
    rounds: int
    round: int
    """Which round is under way for who is furthest behind, from 0; `rounds` at the end."""
    numbers: int
    slow_rank: int | None
    passed_s: float
    ranks: tuple[Rank, ...]
    agree: int
    sums: tuple[tuple[int, ...], ...]
    """The sum, chunk by chunk, once all ranks hold one."""

    @property
    def is_done(self) -> bool:
        return self.round == self.rounds

    @property
    def movers(self) -> tuple[int, ...]:
        """The ranks with a move that are furthest behind: everybody waits for them."""
        movers = [rank for rank, one in enumerate(self.ranks) if one.has_move]
        least = min((self.ranks[rank].done for rank in movers), default=0)
        return tuple(rank for rank in movers if self.ranks[rank].done == least)


@dataclass(frozen=True)
class Hand:
    """What a phone shows of its rank. `chunk` is to be sent now, after `wait_s`; None where there is none.

    `came` is the chunk that came last, and `adds` whether its numbers were added to the rank's own.
    """

    run: int
    rank: int
    ranks: int
    round: int
    rounds: int
    held: tuple[tuple[int, ...], ...]
    parts: tuple[int, ...]
    chunk: int | None
    wait_s: float
    came: int | None
    adds: bool
