"""One stream of requests through several plans of the same GPUs, on one clock.

Every plan sees the same arrivals, spread in turn over its engines. An engine is core.serving's, its steps priced by
the planner. Prefill and decode apart are two rows of engines: the first reads a prompt and gives the first token,
its keys and values cross a link, one prompt after another from an engine or to one, and the second writes the rest.

Ignored: lengths that differ, a scheduler that looks at queues, and the prefill side's memory while a cache waits.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from operator import itemgetter
from statistics import fmean
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.placement.plan import Plan, Question
from core.serving.arrivals import Floats, poisson_arrivals, seeded
from core.serving.load import EngineCost
from core.serving.simulate import Course, follow
from core.strategy.entrants import Entrant, entrants

Counts = NDArray[np.int64]

REQUESTS = 400
"""Of a race: enough for a lane that cannot keep up to show it."""

LOADS = {"light": 0.1, "busy": 0.6, "rush": 0.95}
"""Arrivals a second as shares of what the best lane can complete."""


class Ways(NamedTuple):
    """Each request's way, in seconds: it waits, is read, has its first token, is ready to be written, holds a slot.

    Its slot is free before it is done where later stages still work on its last token. All are in one order.
    """

    arrived: tuple[float, ...]
    begun: tuple[float, ...]
    first: tuple[float, ...]
    ready: tuple[float, ...]
    held: tuple[float, ...]
    freed: tuple[float, ...]
    done: tuple[float, ...]


@dataclass(frozen=True)
class Lane:
    """One entrant's run over the trace. Of many times, what is told is an array of as many."""

    entrant: Entrant
    output_tokens: int
    ways: Ways

    @cached_property
    def _sorted(self) -> Mapping[str, Floats]:
        return {name: np.sort(times_s) for name, times_s in self.ways._asdict().items()}

    def _count(self, name: str, times_s: Sequence[float]) -> Counts:
        """How many had come so far by each time."""
        return self._sorted[name].searchsorted(times_s, "right")

    def waiting_at(self, times_s: Sequence[float]) -> Counts:
        """Requests that wait: to be read, or with their cache ready to be written."""
        unread = self._count("arrived", times_s) - self._count("begun", times_s)
        return unread + self._count("ready", times_s) - self._count("held", times_s)

    def running_at(self, times_s: Sequence[float]) -> Counts:
        """Sequences that hold a part of the cache, each room for all of its output."""
        return self._count("held", times_s) - self._count("freed", times_s)

    def done_at(self, times_s: Sequence[float]) -> Counts:
        return self._count("done", times_s)

    def fill_at(self, times_s: Sequence[float]) -> Floats:
        """The share of the cache that is held, of all engines that decode."""
        return self.running_at(times_s) / (self.entrant.writers * self.entrant.cache_sequences)

    @property
    def requests(self) -> int:
        return len(self.ways.done)

    @property
    def end_s(self) -> float:
        return max(self.ways.done)

    @cached_property
    def _waits_s(self) -> list[float]:
        """From arrival to first token."""
        return [first - arrived for first, arrived in zip(self.ways.first, self.ways.arrived, strict=True)]

    @cached_property
    def _gaps_s(self) -> list[float]:
        """Between a request's tokens, on average."""
        gaps = max(1, self.output_tokens - 1)
        return [(done - first) / gaps for done, first in zip(self.ways.done, self.ways.first, strict=True)]

    @property
    def ttft_s(self) -> float:
        """The mean wait for a first token."""
        return fmean(self._waits_s)

    @property
    def itl_s(self) -> float:
        """The mean time between a request's tokens."""
        return fmean(self._gaps_s)

    def ttft_at(self, times_s: Sequence[float]) -> list[float | None]:
        """The same of those that had their first token by each time; None where none had."""
        return _means(self._waits_s, self.ways.first, times_s)

    def itl_at(self, times_s: Sequence[float]) -> list[float | None]:
        """The same of those that were done by each time."""
        return _means(self._gaps_s, self.ways.done, times_s)

    @cached_property
    def answer_s(self) -> float:
        """The mean time from a request's arrival to its last token: the least of it wins."""
        return fmean([done - arrived for done, arrived in zip(self.ways.done, self.ways.arrived, strict=True)])

    @property
    def most_waiting(self) -> int:
        return int(self.waiting_at(self.ways.arrived).max())

    @property
    def most_fill(self) -> float:
        """Share of the cache that is held at once, at the most."""
        return float(self.fill_at(self.ways.held).max())


def _means(values: Sequence[float], seen_s: Sequence[float], times_s: Sequence[float]) -> list[float | None]:
    """The mean of the values that had been seen by each time; None where none had."""
    order = np.argsort(seen_s)
    sums = np.array(values)[order].cumsum().tolist()
    counts = np.array(seen_s)[order].searchsorted(times_s, "right").tolist()
    return [sums[count - 1] / count if count else None for count in counts]


@dataclass(frozen=True)
class Race:
    """All lanes under one stream, in the order of the entrants."""

    arrivals_per_s: float
    lanes: tuple[Lane, ...]

    @cached_property
    def winner(self) -> int:
        """The lane whose answers take the least time."""
        return min(range(len(self.lanes)), key=lambda index: self.lanes[index].answer_s)

    @property
    def end_s(self) -> float:
        """When the race is called: all are done, or the first lane's time has passed three times."""
        ends = [lane.end_s for lane in self.lanes]
        return min(max(ends), 3 * min(ends))


def race(
    entered: Sequence[Entrant], arrivals_per_s: float, chunk_tokens: int, seed: int = 0, requests: int = REQUESTS
) -> Race:
    """Every entrant under the same requests, which arrive at random at a mean rate.

    Raises OutOfRangeError without requests, or for a rate that is none.
    """
    arrivals = poisson_arrivals(arrivals_per_s, requests, seeded(seed)).tolist()
    return Race(arrivals_per_s, tuple(_lane(entrant, arrivals, chunk_tokens) for entrant in entered))


def _lane(entrant: Entrant, arrivals: Sequence[float], chunk_tokens: int) -> Lane:
    if entrant.readers:
        ways = _relay(entrant, arrivals, chunk_tokens)
    else:
        courses = _distributed(entrant.cost, entrant.engines, arrivals, chunk_tokens)
        arrived, begun, first, freed = (tuple(chain(*times_s)) for times_s in zip(*courses, strict=True))
        delay_s = entrant.cost.prefill_delay_s
        ways = Ways(arrived, begun, first, begun, begun, freed, tuple([time_s + delay_s for time_s in freed]))
    return Lane(entrant, entrant.cost.output_tokens, ways)


def _relay(entrant: Entrant, arrivals: Sequence[float], chunk_tokens: int) -> Ways:
    """Readers first, then writers in turn, which take each cache as it arrives."""
    asked = [
        (first, arrived, begun, reader)
        for reader, course in enumerate(_distributed(entrant.reader, entrant.readers, arrivals, chunk_tokens))
        for arrived, begun, first in zip(course.arrivals_s, course.begun_s, course.first_s, strict=True)
    ]
    asked.sort(key=itemgetter(0))  # as their caches are ready
    out_s, in_s, writers = [0.0] * entrant.readers, [0.0] * entrant.writers, entrant.writers
    ready = []
    for turn, (first, _, _, reader) in enumerate(asked):
        came = max(first, out_s[reader], in_s[turn % writers]) + entrant.transfer_s
        out_s[reader] = in_s[turn % writers] = came
        ready.append(came)
    ways = []
    for hand, course in enumerate(_distributed(entrant.writer, writers, ready, chunk_tokens)):
        read = asked[hand::writers]
        ways += [
            (arrived, begun, first, came, held, done, done)
            for (first, arrived, begun, _), came, held, done in zip(
                read, course.arrivals_s, course.begun_s, course.done_s, strict=True
            )
        ]
    return Ways(*zip(*ways, strict=True))


def _distributed(cost: EngineCost, engines: int, arrivals: Sequence[float], chunk_tokens: int) -> list[Course]:
    """A stream in turn over engines; one that is sent nothing has no course."""
    hands = [arrivals[engine::engines] for engine in range(min(engines, len(arrivals)))]
    return [follow(cost, hand, chunk_tokens) for hand in hands]


@dataclass(frozen=True)
class RaceSetup:
    """Who races, and at which load; it is run once somebody wants to know how it went. One alone races nobody."""

    entered: tuple[Entrant, ...]
    arrivals_per_s: float
    chunk_tokens: int

    @cached_property
    def ran(self) -> Race:
        return race(self.entered, self.arrivals_per_s, self.chunk_tokens)

    @property
    def winner(self) -> Lane:
        return self.ran.lanes[self.ran.winner]

    @property
    def named(self) -> int:
        """The winner's number, from 1."""
        return self.ran.winner + 1

    @property
    def answer(self) -> float:
        """What tells this race from another: how long its winner takes."""
        return self.winner.answer_s


def asked(question: Question, load: str, judged: Iterable[Plan] = ()) -> RaceSetup:
    """A question's race at one of the loads, between its plans; some of them may have been `judged`."""
    entered = entrants(question, judged)
    most = max((entrant.capacity_per_s for entrant in entered), default=0.0)
    return RaceSetup(entered, LOADS[load] * most, question.cluster.gpu.vllm_batched_tokens)
