"""Collectives message by message: the algorithms of core.collectives.cost as programs that can be run and drawn.

A payload is cut into chunks. A round is the set of messages that travel at once; the rounds of a program are its
steps. There is no clock: running a program moves real numbers and counts steps and bytes, and the counts equal
the closed forms.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from core.collectives.cost import require_power_of_two
from core.errors import OutOfRangeError, UnknownNameError, require_positive

Array = NDArray[np.float64]

SWITCH = -1
"""The switch of an in-switch reduction: it adds what arrives, and answers within the same round."""


@dataclass(frozen=True)
class Message:
    """Chunks on their way from one rank to another, to be added to what is there or put in its place.

    `slots` are the chunks' places at the target; they differ from `chunks` in an all-to-all alone.
    """

    source: int
    target: int
    chunks: tuple[int, ...]
    adds: bool
    slots: tuple[int, ...]


Round = tuple[Message, ...]


@dataclass(frozen=True)
class Program:
    """An algorithm over `ranks` ranks, its payload in `chunks` chunks.

    `reads_input`: messages carry what a rank began with, since what arrives would overwrite it.
    """

    ranks: int
    chunks: int
    rounds: tuple[Round, ...]
    reads_input: bool = False


@dataclass(frozen=True)
class Run:
    """What every rank holds after a program, and what was counted on the way.

    `round_bytes` is, for each round, what passed the busiest rank's port, the fuller of its two directions.
    """

    buffers: tuple[Array, ...]
    round_bytes: tuple[int, ...]

    @property
    def steps(self) -> int:
        """Rounds; the closed form pays one latency α for each."""
        return len(self.round_bytes)

    @property
    def traffic_bytes(self) -> int:
        """Bytes on the critical path."""
        return sum(self.round_bytes)


def run(program: Program, inputs: Sequence[Array]) -> Run:
    """Carry a program out on one array of shape (chunks, width) for each rank.

    Raises OutOfRangeError when the arrays do not fit the program.
    """
    if len(inputs) != program.ranks or any(array.shape[0] != program.chunks for array in inputs):
        raise OutOfRangeError("inputs", len(inputs), "arrays", ranks=program.ranks, chunks=program.chunks)
    buffers = [array.copy() for array in inputs]
    round_bytes = []
    for messages in program.rounds:
        _deliver(messages, list(inputs) if program.reads_input else [b.copy() for b in buffers], buffers)
        round_bytes.append(max(port_chunks(messages, program.ranks), default=0) * buffers[0][0].nbytes)
    return Run(buffers=tuple(buffers), round_bytes=tuple(round_bytes))


def _deliver(messages: Round, before: list[Array], buffers: list[Array]) -> None:
    """All messages of a round at once: each carries what its source held when the round began."""
    in_switch = np.zeros_like(before[0])
    for message in messages:
        if message.target == SWITCH:
            in_switch[list(message.slots)] += before[message.source][list(message.chunks)]
    for message in messages:
        if message.target == SWITCH:
            continue
        held = in_switch if message.source == SWITCH else before[message.source]
        carried, slots = held[list(message.chunks)], list(message.slots)
        buffers[message.target][slots] = buffers[message.target][slots] + carried if message.adds else carried


def port_chunks(messages: Round, ranks: int) -> list[int]:
    """Chunks through each rank's port in a round, the fuller of its two directions."""
    sent, received = [0] * ranks, [0] * ranks
    for message in messages:
        if message.source != SWITCH:
            sent[message.source] += len(message.chunks)
        if message.target != SWITCH:
            received[message.target] += len(message.chunks)
    return [max(ports) for ports in zip(sent, received, strict=True)]


def ring_reduce_scatter(ranks: int) -> Program:
    """Each rank passes a chunk to the next, adding its own; rank r is left with the sum of chunk r."""
    return Program(ranks, ranks, tuple(_ring(range(ranks), _singles(ranks), shift=1, adds=True)))


def ring_all_gather(ranks: int) -> Program:
    """Each rank passes on, step by step, the chunk it last received; rank r began with chunk r."""
    return Program(ranks, ranks, tuple(_ring(range(ranks), _singles(ranks), shift=0, adds=False)))


def ring_all_reduce(ranks: int) -> Program:
    """A ring reduce-scatter, then a ring all-gather."""
    return Program(ranks, ranks, ring_reduce_scatter(ranks).rounds + ring_all_gather(ranks).rounds)


def recursive_doubling_all_reduce(ranks: int) -> Program:
    """Whole payloads exchanged with partners 1, 2, 4, … away; surplus ranks fold in before and out after."""
    core_ranks = 1 << (ranks.bit_length() - 1)
    surplus = range(core_ranks, ranks)
    fold = tuple(_message(rank, rank - core_ranks, (0,), adds=True) for rank in surplus)
    unfold = tuple(_message(rank - core_ranks, rank, (0,), adds=False) for rank in surplus)
    exchanges = tuple(
        tuple(_message(rank, rank ^ distance, (0,), adds=True) for rank in range(core_ranks))
        for distance in _powers_below(core_ranks)
    )
    return Program(ranks, 1, ((fold,) if fold else ()) + exchanges + ((unfold,) if unfold else ()))


def rabenseifner_all_reduce(ranks: int) -> Program:
    """Recursive halving: the half a partner will own goes to it; then recursive doubling of what is owned.

    Raises OutOfRangeError unless `ranks` is a power of two.
    """
    require_power_of_two(ranks)
    halving = tuple(
        tuple(
            _message(rank, rank ^ distance, _block(rank ^ distance, distance), adds=True) for rank in range(ranks)
        )
        for distance in reversed(_powers_below(ranks))
    )
    doubling = tuple(
        tuple(_message(rank, rank ^ distance, _block(rank, distance), adds=False) for rank in range(ranks))
        for distance in _powers_below(ranks)
    )
    return Program(ranks, ranks, halving + doubling)


def binomial_tree_all_reduce(ranks: int) -> Program:
    """Partial sums climb a binomial tree to rank 0, and the sum comes down the same edges."""
    up = tuple(
        tuple(_message(rank, rank - distance, (0,), adds=True) for rank in range(distance, ranks, 2 * distance))
        for distance in _powers_below(ranks)
    )
    down = tuple(
        tuple(_message(message.target, message.source, (0,), adds=False) for message in messages)
        for messages in reversed(up)
    )
    return Program(ranks, 1, up + down)


def one_shot_all_reduce(ranks: int) -> Program:
    """Every rank reads every peer's whole payload in one round."""
    return Program(
        ranks, 1, (tuple(_message(r, t, (0,), adds=True) for r, t in _pairs(ranks)),) if ranks > 1 else ()
    )


def two_shot_all_reduce(ranks: int) -> Program:
    """Each peer's chunk straight to it, then each sum straight to everyone."""
    scatter = tuple(_message(rank, peer, (peer,), adds=True) for rank, peer in _pairs(ranks))
    gather = tuple(_message(rank, peer, (rank,), adds=False) for rank, peer in _pairs(ranks))
    return Program(ranks, ranks, (scatter, gather) if ranks > 1 else ())


def in_switch_all_reduce(ranks: int) -> Program:
    """Everyone's payload up to the switch, the sum down to everyone, in one round."""
    up = tuple(_message(rank, SWITCH, (0,), adds=True) for rank in range(ranks))
    down = tuple(_message(SWITCH, rank, (0,), adds=False) for rank in range(ranks))
    return Program(ranks, 1, (up + down,) if ranks > 1 else ())


def direct_all_to_all(ranks: int) -> Program:
    """Every rank's chunk p straight to rank p, where it takes the sender's place in the buffer."""
    exchange = tuple(Message(rank, peer, (peer,), False, (rank,)) for rank, peer in _pairs(ranks))
    return Program(ranks, ranks, (exchange,) if ranks > 1 else (), reads_input=True)


def pairwise_all_to_all(ranks: int) -> Program:
    """The same in N-1 rounds: in round k to the rank k further on."""
    rounds = tuple(
        tuple(Message(rank, (rank + k) % ranks, ((rank + k) % ranks,), False, (rank,)) for rank in range(ranks))
        for k in range(1, ranks)
    )
    return Program(ranks, ranks, rounds, reads_input=True)


def hierarchical_all_reduce(gpus_per_node: int, nodes: int) -> Program:
    """Rings inside the nodes, rings across them over each GPU's own piece, rings inside again.

    Rank = node · gpus_per_node + GPU. The rounds are 2(L-1) inside, of which half at each end, and 2(G-1) across.
    """
    require_positive(gpus_per_node=gpus_per_node, nodes=nodes)
    pieces = [tuple(range(gpu * nodes, (gpu + 1) * nodes)) for gpu in range(gpus_per_node)]
    inside = [range(node * gpus_per_node, (node + 1) * gpus_per_node) for node in range(nodes)]
    across = [range(gpu, nodes * gpus_per_node, gpus_per_node) for gpu in range(gpus_per_node)]
    chunks = [[(chunk,) for chunk in piece] for piece in pieces]
    rounds = (
        _together([_ring(members, pieces, shift=1, adds=True) for members in inside])
        + _together([_ring(members, chunks[gpu], shift=1, adds=True) for gpu, members in enumerate(across)])
        + _together([_ring(members, chunks[gpu], shift=0, adds=False) for gpu, members in enumerate(across)])
        + _together([_ring(members, pieces, shift=0, adds=False) for members in inside])
    )
    return Program(nodes * gpus_per_node, nodes * gpus_per_node, rounds)


PROGRAMS: Mapping[tuple[str, str], Callable[[int], Program]] = MappingProxyType(
    {
        ("all_reduce", "ring"): ring_all_reduce,
        ("all_reduce", "recursive_doubling"): recursive_doubling_all_reduce,
        ("all_reduce", "rabenseifner"): rabenseifner_all_reduce,
        ("all_reduce", "binomial_tree"): binomial_tree_all_reduce,
        ("all_reduce", "one_shot"): one_shot_all_reduce,
        ("all_reduce", "two_shot"): two_shot_all_reduce,
        ("all_reduce", "in_switch"): in_switch_all_reduce,
        ("reduce_scatter", "ring"): ring_reduce_scatter,
        ("all_gather", "ring"): ring_all_gather,
        ("all_to_all", "direct"): direct_all_to_all,
        ("all_to_all", "pairwise"): pairwise_all_to_all,
    }
)
"""`(ranks) -> Program`, under the names that core.collectives.cost.ALGORITHMS has."""


def program(op: str, algorithm: str, ranks: int) -> Program:
    """The program of one collective by a named algorithm.

    Raises UnknownNameError when the two do not belong together, OutOfRangeError for ranks it cannot be of.
    """
    require_positive(ranks=ranks)
    if (op, algorithm) not in PROGRAMS:
        raise UnknownNameError("program", f"{op} {algorithm}", (" ".join(names) for names in PROGRAMS))
    return PROGRAMS[op, algorithm](ranks)


def _ring(members: Sequence[int], blocks: Sequence[tuple[int, ...]], shift: int, adds: bool) -> Iterator[Round]:
    """N-1 rounds in which each member passes one block to the next: in round s, block (place - s - shift)."""
    size = len(members)
    for step in range(size - 1):
        yield tuple(
            _message(rank, members[(index + 1) % size], blocks[(index - step - shift) % size], adds)
            for index, rank in enumerate(members)
        )


def _together(rings: Sequence[Iterator[Round]]) -> tuple[Round, ...]:
    """Rings that run side by side: the rounds of all, merged."""
    return tuple(sum(rounds, ()) for rounds in zip(*rings, strict=True))


def _message(source: int, target: int, chunks: tuple[int, ...], adds: bool) -> Message:
    return Message(source, target, chunks, adds, chunks)


def _singles(count: int) -> list[tuple[int, ...]]:
    return [(chunk,) for chunk in range(count)]


def _pairs(ranks: int) -> list[tuple[int, int]]:
    return [(rank, peer) for rank in range(ranks) for peer in range(ranks) if rank != peer]


def _powers_below(ranks: int) -> list[int]:
    """1, 2, 4, … below `ranks`."""
    return [1 << bit for bit in range((ranks - 1).bit_length())]


def _block(rank: int, size: int) -> tuple[int, ...]:
    """The aligned run of `size` chunks that holds chunk `rank`."""
    start = rank - rank % size
    return tuple(range(start, start + size))
