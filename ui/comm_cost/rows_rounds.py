"""Lab 03's race: the all-reduce of one layer by three algorithms, round by round, on one clock."""

from collections.abc import Iterable, Sequence
from math import floor, log10
from typing import Literal

from core.collectives.clock import AllReduce, Course, arrivals_s
from runtime.kept import kept
from runtime.prose import said
from runtime.quantities import binary_bytes, seconds
from runtime.rows import Row, table

ALGORITHMS = {"ring": "ring", "binomial_tree": "tree", "one_shot": "one-shot"}
"""What is raced, and what it is called."""


@kept
def races(all_reduce: AllReduce) -> list[Course]:
    """Every algorithm of `ALGORITHMS` on one clock, over one link."""
    return [all_reduce.course(name) for name in ALGORITHMS]


def rules(course: Course) -> Literal["latency", "bandwidth"]:
    """Which of the two terms takes most of a course."""
    return "bandwidth" if 2 * course.bandwidth_s > course.end_s else "latency"


def detail(course: Course, all_reduce: AllReduce) -> str:
    """A course in words: `6 rounds, 2 KiB a message`."""
    rounds = said("comm_cost", "says.rounds", rounds=len(course.rounds))
    message = binary_bytes(all_reduce.payload_bytes / course.program.chunks)
    return said("comm_cost", "says.message", rounds=rounds, payload_bytes=message)


def stops(courses: Sequence[Course]) -> list[Row]:
    """Zero, and every time at which a round of some course has arrived."""
    return _moments((time_s, seconds(time_s)) for time_s in arrivals_s(courses))


def ticks(longest_s: float) -> list[Row]:
    """Round times from zero, four to eight of them, for the stopwatch's axis."""
    if longest_s <= 0:
        return _moments(())
    decade = 10.0 ** floor(log10(longest_s))
    step = next(step for step in (decade / 5, decade / 2, decade, 2 * decade) if longest_s / step < 8)
    return _moments((i * step, seconds(i * step, 2)) for i in range(1, int(longest_s / step) + 1))


def _moments(times: Iterable[tuple[float, str]]) -> list[Row]:
    """Times worth a word, and zero."""
    return table("time_s text", [(0.0, "0"), *times])
