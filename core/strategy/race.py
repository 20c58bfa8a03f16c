"""One stream of requests through several plans of the same GPUs, on one clock.

Every plan sees the same arrivals, spread in turn over its engines. An engine is core.serving's, its steps priced by
the planner. Prefill and decode apart are two rows of engines: the first reads a prompt and gives the first token,
its keys and values cross a link, one prompt after another from an engine or to one, and the second writes the rest.

Ignored: lengths that differ, a scheduler that looks at queues, and the prefill side's memory while a cache waits.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean

from core.placement.plan import Plan, Question
from core.serving.arrivals import Floats, poisson_arrivals, seeded
from core.serving.load import EngineCost
from core.serving.simulate import Course, follow
from core.strategy.entrants import Entrant, entrants

REQUESTS = 400
"""Of a race: enough for a lane that cannot keep up to show it."""

LOADS = {"light": 0.1, "busy": 0.6, "rush": 0.95}
"""Arrivals a second as shares of what the best lane can complete."""


@dataclass(frozen=True)
class Ticket:
    """One request's way: it waits, is read, has its first token, is ready to be written, holds a slot, is done.

    Its slot is free before it is done where later stages still work on its last token.
    """

    arrived_s: float
    begun_s: float
    first_s: float
    ready_s: float
    held_s: float
    freed_s: float
    done_s: float


@dataclass(frozen=True)
class Lane:
    """One entrant's run over the trace, ticket by ticket."""

    entrant: Entrant
    output_tokens: int
    tickets: tuple[Ticket, ...]

    @cached_property
    def _sorted(self) -> dict[str, list[float]]:
        names = ("arrived_s", "begun_s", "first_s", "ready_s", "held_s", "freed_s", "done_s")
        return {name: sorted(getattr(ticket, name) for ticket in self.tickets) for name in names}

    def _count(self, name: str, time_s: float) -> int:
        return bisect_right(self._sorted[name], time_s)

    def waiting_at(self, time_s: float) -> int:
        """Requests that wait: to be read, or with their cache ready to be written."""
        unread = self._count("arrived_s", time_s) - self._count("begun_s", time_s)
        return unread + self._count("ready_s", time_s) - self._count("held_s", time_s)

    def running_at(self, time_s: float) -> int:
        """Sequences that hold a part of the cache, each room for all of its output."""
        return self._count("held_s", time_s) - self._count("freed_s", time_s)

    def done_at(self, time_s: float) -> int:
        return self._count("done_s", time_s)

    def fill_at(self, time_s: float) -> float:
        """The share of the cache that is held, of all engines that decode."""
        return self.running_at(time_s) / (self.entrant.writers * self.entrant.cache_sequences)

    @property
    def end_s(self) -> float:
        return self._sorted["done_s"][-1]

    def ttft_s(self, until_s: float | None = None) -> float | None:
        """The mean wait for a first token, of those that had it by then; None where none had."""
        return _mean(one.first_s - one.arrived_s for one in self.tickets if _by(one.first_s, until_s))

    def itl_s(self, until_s: float | None = None) -> float | None:
        """The mean time between a request's tokens, of those that were done by then."""
        gaps = max(1, self.output_tokens - 1)
        return _mean((one.done_s - one.first_s) / gaps for one in self.tickets if _by(one.done_s, until_s))

    @cached_property
    def answer_s(self) -> float:
        """The mean time from a request's arrival to its last token: the least of it wins."""
        return fmean(one.done_s - one.arrived_s for one in self.tickets)

    @property
    def most_waiting(self) -> int:
        return max(self.waiting_at(ticket.arrived_s) for ticket in self.tickets)

    @property
    def most_fill(self) -> float:
        """Share of the cache that is held at once, at the most."""
        return max(self.fill_at(ticket.held_s) for ticket in self.tickets)


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
    arrivals = poisson_arrivals(arrivals_per_s, requests, seeded(seed))
    return Race(arrivals_per_s, tuple(_lane(entrant, arrivals, chunk_tokens) for entrant in entered))


def _lane(entrant: Entrant, arrivals: Floats, chunk_tokens: int) -> Lane:
    if entrant.readers:
        tickets = _relay(entrant, arrivals, chunk_tokens)
    else:
        tickets = [
            Ticket(arrived, begun, first, begun, begun, done, done + entrant.cost.prefill_delay_s)
            for course in _distributed(entrant.cost, entrant.engines, arrivals, chunk_tokens)
            for arrived, begun, first, done in _rows(course)
        ]
    return Lane(entrant, entrant.cost.output_tokens, tuple(tickets))


def _relay(entrant: Entrant, arrivals: Floats, chunk_tokens: int) -> list[Ticket]:
    """Readers first, then writers in turn, which take each cache as it arrives."""
    readers = _distributed(entrant.reader, entrant.readers, arrivals, chunk_tokens)
    asked = [(row, reader) for reader, course in enumerate(readers) for row in _rows(course)]
    read = sorted(asked, key=lambda one: one[0][2])  # as their caches are ready
    free_s: dict[tuple[str, int], float] = {}
    ready = []
    for turn, (row, reader) in enumerate(read):
        ports = ("out", reader), ("in", turn % entrant.writers)
        ready.append(max(row[2], *(free_s.get(port, 0.0) for port in ports)) + entrant.transfer_s)
        free_s |= dict.fromkeys(ports, ready[-1])
    tickets = []
    for hand, course in enumerate(_distributed(entrant.writer, entrant.writers, ready, chunk_tokens)):
        for ((arrived, begun, first, _), _), (came, held, _, done) in zip(
            read[hand :: entrant.writers], _rows(course), strict=True
        ):
            tickets.append(Ticket(arrived, begun, first, came, held, done, done))
    return tickets


def _distributed(
    cost: EngineCost, engines: int, arrivals: Sequence[float] | Floats, chunk_tokens: int
) -> list[Course]:
    """A stream in turn over engines; one that is sent nothing has no course."""
    hands = [arrivals[engine::engines] for engine in range(engines)]
    return [follow(cost, hand, chunk_tokens) for hand in hands if len(hand)]


def _rows(course: Course) -> list[tuple[float, float, float, float]]:
    return list(zip(course.arrivals_s, course.begun_s, course.first_s, course.done_s, strict=True))


def _by(time_s: float, until_s: float | None) -> bool:
    return until_s is None or time_s <= until_s


def _mean(values: Iterable[float]) -> float | None:
    seen = list(values)
    return fmean(seen) if seen else None


@dataclass(frozen=True)
class Asked:
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


def asked(question: Question, load: str, judged: Iterable[Plan] = ()) -> Asked:
    """A question's race at one of the loads, between its plans; some of them may have been `judged`."""
    entered = entrants(question, judged)
    most = max((entrant.capacity_per_s for entrant in entered), default=0.0)
    return Asked(entered, LOADS[load] * most, question.cluster.gpu.vllm_batched_tokens)
