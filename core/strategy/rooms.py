"""The collectives, message by message: core.collectives.programs', and those with a root, which are here.

Rank 0 is the root. What a rank holds is kept as whose part is in each chunk, so that a sum can be told from a copy.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from core.collectives.clock import Held, held_after_each_round
from core.collectives.programs import (
    Message,
    Program,
    Round,
    binomial_tree_all_reduce,
    direct_all_to_all,
    pairwise_all_to_all,
    port_chunks,
    ring_all_gather,
    ring_all_reduce,
    ring_reduce_scatter,
)
from core.errors import UnknownNameError, require_positive


def tree_reduce(ranks: int) -> Program:
    """Partial sums climb a binomial tree to rank 0: the first half of a tree all-reduce."""
    rounds = binomial_tree_all_reduce(ranks).rounds
    return Program(ranks, 1, rounds[: len(rounds) // 2])


def tree_broadcast(ranks: int) -> Program:
    """Rank 0's payload goes down a binomial tree: the second half."""
    rounds = binomial_tree_all_reduce(ranks).rounds
    return Program(ranks, 1, rounds[len(rounds) // 2 :])


def chain_broadcast(ranks: int) -> Program:
    """Rank 0's chunks go from neighbour to neighbour, one behind the other."""
    return Program(ranks, ranks, _chain(ranks, lambda number: number, adds=False))


def chain_reduce(ranks: int) -> Program:
    """Chunks go from the last rank towards rank 0, each rank adding its own."""
    return Program(ranks, ranks, _chain(ranks, lambda number: ranks - 1 - number, adds=True))


def hand_on(ranks: int) -> Program:
    """Send and receive: the whole payload from rank 0 to 1, from 1 to 2, as stages do."""
    rounds = tuple((Message(rank, rank + 1, (0,), False, (0,)),) for rank in range(ranks - 1))
    return Program(ranks, 1, rounds)


def _chain(ranks: int, rank_at: Callable[[int], int], adds: bool) -> tuple[Round, ...]:
    """In round s the rank at place k passes chunk s - k on to the next place."""
    return tuple(
        tuple(
            Message(rank_at(number), rank_at(number + 1), (step - number,), adds, (step - number,))
            for number in range(ranks - 1)
            if 0 <= step - number < ranks
        )
        for step in range(2 * ranks - 2)
    )


ROOMS: Mapping[str, Mapping[str, Callable[[int], Program]]] = MappingProxyType(
    {
        "broadcast": {"tree": tree_broadcast, "ring": chain_broadcast},
        "reduce": {"tree": tree_reduce, "ring": chain_reduce},
        "all-reduce": {"ring": ring_all_reduce, "tree": binomial_tree_all_reduce},
        "reduce-scatter": {"ring": ring_reduce_scatter},
        "all-gather": {"ring": ring_all_gather},
        "all-to-all": {"direct": direct_all_to_all, "pairwise": pairwise_all_to_all},
        "send/recv": {"neighbours": hand_on},
    }
)
"""Each operation's algorithms, as `(ranks) -> Program`. A chain is a ring that is not closed."""


@dataclass(frozen=True)
class Played:
    """An algorithm of an operation: its program, and what every rank holds at first and after each round."""

    op: str
    algorithm: str
    program: Program
    held: tuple[Held, ...]

    @property
    def sent_fraction(self) -> float:
        """What the rank that sends most sends in all, in payloads."""
        sent = [0] * self.program.ranks
        for message in (one for messages in self.program.rounds for one in messages):
            sent[message.source] += len(message.chunks)
        return max(sent) / self.program.chunks

    @property
    def port_fraction(self) -> float:
        """What the bytes' time is: each round's busiest port, in payloads, one round after the other."""
        ports = (max(port_chunks(messages, self.program.ranks), default=0) for messages in self.program.rounds)
        return sum(ports) / self.program.chunks


def played(op: str, ranks: int) -> list[Played]:
    """Every algorithm of an operation, played through. Raises UnknownNameError for another operation."""
    require_positive(ranks=ranks)
    if op not in ROOMS:
        raise UnknownNameError("collective", op, ROOMS)
    programs = {name: make(ranks) for name, make in ROOMS[op].items()}
    return [Played(op, name, one, held_after_each_round(one, started(op, one))) for name, one in programs.items()]


def started(op: str, program: Program) -> Held:
    """What every rank begins with: its own part of everything, its own chunk alone, or at rank 0 alone."""
    nothing: frozenset[int] = frozenset()

    def begins(rank: int, chunk: int) -> frozenset[int]:
        has_it = {"all-gather": rank == chunk, "broadcast": rank == 0, "send/recv": rank == 0}.get(op, True)
        return frozenset({rank}) if has_it else nothing

    return tuple(tuple(begins(rank, chunk) for chunk in range(program.chunks)) for rank in range(program.ranks))
