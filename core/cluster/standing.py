"""A ring that people pass by hand, as a wall and a phone show it, and what is kept of one that has ended."""

from dataclasses import dataclass

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
    def slowest_rank(self) -> int:
        """The one that took longest over its own moves."""
        return max(range(self.ranks), key=self.ranks_s.__getitem__)


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
