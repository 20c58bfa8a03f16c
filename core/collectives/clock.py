"""A collective program on a clock: what each round costs on a link, and what every rank holds after it.

A round is one hop's latency, then the bytes that pass its busiest port; the next begins when all of it has arrived.
So a program ends when its closed form in core.collectives.cost does. With a slow rank, a round that uses its port
takes as long as that port.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate
from math import inf

from core.collectives.programs import SWITCH, Program, Round, port_chunks, program
from core.errors import OutOfRangeError, require_non_negative
from core.specs import LinkSpec


@dataclass(frozen=True)
class TimedRound:
    """Messages that travel at once, when they leave, and the two terms of their time."""

    messages: Round
    start_s: float
    latency_s: float
    bandwidth_s: float

    @property
    def end_s(self) -> float:
        """When the last byte of the round has arrived."""
        return self.start_s + self.latency_s + self.bandwidth_s


def timed_rounds(
    program: Program, payload_bytes: float, link: LinkSpec, slow_rank: int | None = None, slowdown: float = 1.0
) -> tuple[TimedRound, ...]:
    """The rounds of a program one after another, the link's launch before the first.

        round = α + max over ranks of σ_r · bytes through port r / β

    `slowdown` is σ of `slow_rank`, whose port takes that much longer for its bytes.
    Raises OutOfRangeError for a slowdown below 1.
    """
    require_non_negative(payload_bytes=payload_bytes)
    if not slowdown >= 1:
        raise OutOfRangeError("slowdown", slowdown, "straggler", least=1)
    chunk_s = payload_bytes / program.chunks / link.bandwidth_bytes_per_s
    factors = [slowdown if rank == slow_rank else 1.0 for rank in range(program.ranks)]
    bandwidths = [
        chunk_s * max(factor * chunks for factor, chunks in zip(factors, ports, strict=True))
        for ports in (port_chunks(messages, program.ranks) for messages in program.rounds)
    ]
    starts = accumulate((link.latency_s + bandwidth_s for bandwidth_s in bandwidths), initial=link.base_s)
    return tuple(
        TimedRound(messages, start_s, link.latency_s, bandwidth_s)
        for messages, start_s, bandwidth_s in zip(program.rounds, starts, bandwidths, strict=False)
    )


Held = tuple[tuple[frozenset[int], ...], ...]
"""`held[rank][chunk]`: the ranks whose part is in the sum that this rank holds of this chunk."""

_TOGETHER = 0.015
"""Arrivals closer than this share of the whole are one: nobody could see them apart."""


@dataclass(frozen=True)
class Course:
    """A program on a clock: its rounds, and what every rank holds before the first and after each."""

    program: Program
    rounds: tuple[TimedRound, ...]
    held: tuple[Held, ...]

    @property
    def end_s(self) -> float:
        """When the last byte has arrived."""
        return self.rounds[-1].end_s if self.rounds else 0.0

    @property
    def bandwidth_s(self) -> float:
        """The time in which bytes pour."""
        return sum(one.bandwidth_s for one in self.rounds)


def arrivals_s(courses: Iterable[Course]) -> list[float]:
    """The times at which a round of some course has arrived; of those that nobody sees apart the last."""
    ends = sorted({one.end_s for course in courses for one in course.rounds})
    apart_s = _TOGETHER * max(ends, default=0.0)
    return [end for end, later in zip(ends, [*ends[1:], inf], strict=True) if later - end >= apart_s]


def held_after_each_round(program: Program, start: Held | None = None) -> tuple[Held, ...]:
    """What every rank holds before the first round and after each: a reduction is done where all parts are in all.

    Without a `start` every rank begins with its own part of everything.
    Raises OutOfRangeError, without one, for a program that reads its input, which is no reduction.
    """
    if start is None and program.reads_input:
        raise OutOfRangeError("reads_input", True, "no_reduction")
    start = start or tuple((frozenset({rank}),) * program.chunks for rank in range(program.ranks))
    states = [start]
    for messages in program.rounds:
        before = start if program.reads_input else states[-1]
        after = [list(chunks) for chunks in states[-1]]
        summed = frozenset(message.source for message in messages if message.target == SWITCH)
        for message in messages:
            if message.target == SWITCH:
                continue
            for chunk, slot in zip(message.chunks, message.slots, strict=True):
                arrives = summed if message.source == SWITCH else before[message.source][chunk]
                after[message.target][slot] = arrives | after[message.target][slot] if message.adds else arrives
        states.append(tuple(tuple(chunks) for chunks in after))
    return tuple(states)


@dataclass(frozen=True)
class AllReduce:
    """What is put on a clock: so many ranks, a payload, a link, and by how much the last rank's port is slower."""

    ranks: int
    payload_bytes: float
    link: LinkSpec
    slowdown: float = 1.0

    def course(self, algorithm: str) -> Course:
        """This all-reduce by one of the algorithms."""
        steps = program("all_reduce", algorithm, self.ranks)
        rounds = timed_rounds(steps, self.payload_bytes, self.link, self.ranks - 1, self.slowdown)
        return Course(steps, rounds, held_after_each_round(steps))
