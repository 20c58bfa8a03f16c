"""Lab 03's race: the all-reduce of one layer by three algorithms, round by round, on one clock."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, log10
from typing import Literal

from core.collectives.clock import Held, TimedRound, held_after_each_round, timed_rounds
from core.collectives.programs import Program, program
from core.specs import LinkSpec
from runtime.kept import kept
from runtime.prose import named, said
from runtime.quantities import binary_bytes, seconds

ALGORITHMS = {"ring": "ring", "binomial_tree": "tree", "one_shot": "one-shot"}
"""What is raced, and what it is called."""

_TOGETHER = 0.015
"""Arrivals closer than this share of the whole are one stop: nobody could see them apart."""


@dataclass(frozen=True)
class AllReduce:
    """What is raced: so many ranks, a payload, a link, and by how much the last rank's port is slower."""

    ranks: int
    payload_bytes: float
    link: LinkSpec
    slowdown: float = 1.0


@dataclass(frozen=True)
class Race:
    """One algorithm's rounds on the clock, and what every rank holds after each."""

    name: str
    program: Program
    rounds: tuple[TimedRound, ...]
    held: tuple[Held, ...]

    @property
    def end_s(self) -> float:
        """When the last round has arrived."""
        return self.rounds[-1].end_s if self.rounds else 0.0

    @property
    def total(self) -> str:
        """How long it takes, in words."""
        return seconds(self.end_s)

    @property
    def bandwidth_s(self) -> float:
        """The time in which bytes pour."""
        return sum(round_.bandwidth_s for round_ in self.rounds)


@dataclass(frozen=True)
class Moment:
    """A time worth a word."""

    time_s: float
    text: str


@kept
def races(all_reduce: AllReduce) -> list[Race]:
    """Ring, tree and one-shot over one link."""
    return [_race(all_reduce, name) for name in ALGORITHMS]


def _race(all_reduce: AllReduce, name: str) -> Race:
    steps = program("all_reduce", name, all_reduce.ranks)
    rounds = timed_rounds(
        steps, all_reduce.payload_bytes, all_reduce.link, all_reduce.ranks - 1, all_reduce.slowdown
    )
    return Race(named("comm_cost", ALGORITHMS[name]), steps, rounds, held_after_each_round(steps))


def rules(race: Race) -> Literal["latency", "bandwidth"]:
    """Which of the two terms takes most of a course."""
    return "bandwidth" if 2 * race.bandwidth_s > race.end_s else "latency"


def detail(race: Race, all_reduce: AllReduce) -> str:
    """A course in words: `6 rounds, 2 KiB a message`."""
    rounds = said("comm_cost", "says.rounds", rounds=len(race.rounds))
    return said(
        "comm_cost",
        "says.message",
        rounds=rounds,
        payload_bytes=binary_bytes(all_reduce.payload_bytes / race.program.chunks),
    )


def stops(raced: Sequence[Race]) -> list[Moment]:
    """Zero, and every time at which a round of some course has arrived."""
    ends = sorted({round_.end_s for race in raced for round_ in race.rounds})
    kept: list[float] = []
    for end_s in ends:
        if kept and end_s - kept[-1] < _TOGETHER * ends[-1]:
            kept.pop()
        kept.append(end_s)
    return [Moment(0.0, "0"), *(Moment(time_s, seconds(time_s)) for time_s in kept)]


def ticks(longest_s: float) -> list[Moment]:
    """Round times from zero, four to eight of them, for the stopwatch's axis."""
    if longest_s <= 0:
        return [Moment(0.0, "0")]
    decade = 10.0 ** floor(log10(longest_s))
    step = next(step for step in (decade / 5, decade / 2, decade, 2 * decade) if longest_s / step < 8)
    return [
        Moment(0.0, "0"),
        *(Moment(i * step, seconds(i * step, 2)) for i in range(1, int(longest_s / step) + 1)),
    ]
