"""A pipeline that serves: one flush, and decode going round and round.

In decode, token n + 1 of a microbatch enters stage 0 only after token n has left the last stage, so what counts is
the cycle. Letters: t_s time of stage s, l_s delay of the link behind it, ret the way back to stage 0, m
microbatches in flight.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from heapq import heappop, heappush
from math import ceil

import numpy as np

from core.errors import OutOfRangeError, require_non_negative, require_positive
from core.pipeline_bubble.schedules.actions import Action, Placement, Time, whole
from core.pipeline_bubble.schedules.simulator import Send, Timeline

MOST_STEPS = 2**20
"""Passes of a microbatch through a stage that are run to see decode settle."""


@dataclass(frozen=True)
class Pipe:
    """Stages in a row, the links between them, and the way back. `send` is what a link is, as in Costs.

    With v `chunks` the stages stand in a loop over p ranks, stage s on rank s mod p, and a token goes round the
    ranks v times. A hop between two stages of one rank is free.
    """

    stage_times: tuple[Time, ...]
    link_delays: tuple[Time, ...] = ()
    return_delay: Time = 0
    send: Send = "latency"
    chunks: int = 1

    def __post_init__(self) -> None:
        if not self.stage_times:
            raise OutOfRangeError("stages", 0, "or_more", least=1)
        if len(self.stage_times) % whole("chunks", self.chunks):
            raise OutOfRangeError("len(stage_times)", len(self.stage_times), "for_each_rank", chunks=self.chunks)
        if len(self.link_delays) not in (0, len(self.stage_times) - 1):
            pairs = len(self.stage_times) - 1
            raise OutOfRangeError("len(link_delays)", len(self.link_delays), "between_stages", delays=pairs)
        for time in self.stage_times:
            require_positive(stage_time=float(time))
        for delay in (*self.link_delays, self.return_delay):
            require_non_negative(link_delay=float(delay))

    @cached_property
    def ranks(self) -> int:
        return len(self.stage_times) // self.chunks

    @cached_property
    def hops(self) -> tuple[Time, ...]:
        """The delay behind each stage; nothing behind the last."""
        if not self.link_delays or self.ranks == 1:
            return (0,) * len(self.stage_times)
        return (*self.link_delays, 0)

    @cached_property
    def traverse(self) -> Time:
        """How long one microbatch alone takes from the first stage to the end of the last: Σt + Σl."""
        return sum(self.stage_times) + sum(self.hops)

    @cached_property
    def work(self) -> tuple[Time, ...]:
        """How long a microbatch keeps each rank computing: its chunks' times together."""
        return self._of_each_rank(self.stage_times)

    @cached_property
    def pace(self) -> Time:
        """The shortest time between two microbatches: max t; with serial links max(t, l), blocking max(t + l).

        With chunks, t and l are a rank's and a link's over all of its chunks.
        """
        links = self._of_each_rank(self.hops)
        if self.send == "blocking":
            return max(time + hop for time, hop in zip(self.work, links, strict=True))
        return max(*self.work, *(links if self.send == "serial" else (0,)))

    def _of_each_rank(self, values: tuple[Time, ...]) -> tuple[Time, ...]:
        return tuple(sum(values[rank :: self.ranks]) for rank in range(self.ranks))


@dataclass(frozen=True)
class Steady:
    """Decode that has settled: one token for each of m microbatches every `cycle`."""

    cycle: Time
    items_per_time: Fraction
    utilisation: tuple[Fraction, ...]


def steady_decode(pipe: Pipe, microbatches: int) -> Steady:
    """What decode settles to with m microbatches in flight.

        cycle = max(m · max t, Σt + Σl + ret)

    The cycle is also the time between two tokens of one sequence. Below m* it is the way round, and more
    microbatches are free; beyond m* it grows with m, and throughput no more. Over several chunks there is no such
    form, for a rank keeps to its order: the cycle is then the simulation's, and at least this. Utilisation is a
    rank's.
    """
    m = whole("microbatches", microbatches)
    closed = max(m * pipe.pace, pipe.traverse + pipe.return_delay)
    cycle = closed if pipe.chunks == 1 else simulated_cycle(pipe, m)
    shares = tuple(Fraction(m * time) / cycle for time in pipe.work)
    return Steady(cycle, Fraction(m) / cycle, shares)


def simulated_cycle(pipe: Pipe, microbatches: int) -> Time:
    """The time a round takes once the run repeats itself: rounds are run until one ends as an earlier one did.

    Every run repeats in the end, for it only adds and takes maxima (Baccelli et al. 1992, Synchronization and
    linearity, section 3.7).
    Raises OutOfRangeError when it has not within a bounded number of them.
    """
    line = _Line(pipe, whole("microbatches", microbatches))
    seen: dict[tuple[Time, ...], tuple[int, Time]] = {}
    rounds = max(2, MOST_STEPS // (microbatches * len(pipe.stage_times)))
    for number in range(rounds):
        line.run_round()
        began, state = line.state()
        if state in seen:
            earlier, then = seen[state]
            return Fraction(began - then) / (number - earlier)
        seen[state] = number, began
    raise OutOfRangeError("microbatches", microbatches, "did_not_settle", rounds=rounds)


def filling_microbatches(pipe: Pipe) -> int:
    """m*, the fewest microbatches in flight that keep the slowest stage busy: p with equal stages and free links.

    ⌈(Σt + Σl + ret) / max t⌉
    """
    return ceil(Fraction(pipe.traverse + pipe.return_delay) / pipe.pace)


def decode(pipe: Pipe, microbatches: int, tokens: int) -> Timeline:
    """Decode from an empty pipe: `tokens` rounds of m microbatches, simulated.

    Token n of microbatch k is the action of microbatch n·m + k. In a round a rank takes all microbatches through
    its first chunk, then all through its second.
    """
    m, rounds = whole("microbatches", microbatches), whole("tokens", tokens)
    line = _Line(pipe, m)
    rows: list[list[tuple[Action, Time, Time]]] = [[] for _ in range(pipe.ranks)]
    for first in range(0, rounds * m, m):
        for stage, k, start, end in line.run_round():
            rows[stage % pipe.ranks].append((Action(stage, "F", first + k), start, end))
    actions, starts, ends = zip(*(entry for row in rows for entry in row), strict=True)
    return Timeline(Placement(pipe.ranks, pipe.chunks), actions, starts, ends)


class _Line:
    """The ranks and links as they stand: when each is free again, and when each microbatch may go on."""

    def __init__(self, pipe: Pipe, microbatches: int) -> None:
        self.pipe = pipe
        self.steps = list(zip(pipe.stage_times, pipe.hops, strict=True))
        self.ready: list[Time] = [0] * microbatches
        self.free: list[Time] = [0] * pipe.ranks
        self.links: list[Time] = [0] * pipe.ranks

    def run_round(self) -> list[tuple[int, int, Time, Time]]:
        """One token of every microbatch: stage, microbatch, start and end, in the order in which each rank ran."""
        ran = []
        for lap in range(0, len(self.steps), self.pipe.ranks):
            for k, ready in enumerate(self.ready):
                for stage in range(lap, lap + self.pipe.ranks):
                    start, end, ready = self._pass(stage, ready)
                    ran.append((stage, k, start, end))
                self.ready[k] = ready
        self.ready = [ready + self.pipe.return_delay for ready in self.ready]
        return ran

    def state(self) -> tuple[Time, tuple[Time, ...]]:
        """When the next round may begin, and everything as seen from there. What is free before is free then."""
        began = min(self.ready)
        return began, tuple(max(moment - began, 0) for moment in (*self.ready, *self.free, *self.links))

    def _pass(self, stage: int, ready: Time) -> tuple[Time, Time, Time]:
        """Start and end of one that may enter `stage` at `ready`, and when it arrives at the next."""
        rank, (time, hop) = stage % self.pipe.ranks, self.steps[stage]
        start = max(ready, self.free[rank])
        end = start + time
        leaves = max(end, self.links[rank]) if self.pipe.send == "serial" else end
        arrival = leaves + hop
        if hop:
            self.links[rank] = arrival
        self.free[rank] = arrival if self.pipe.send == "blocking" else end
        return start, end, arrival


@dataclass(frozen=True)
class Traffic:
    """A pipe under random arrivals: how busy it was, and how long a token took."""

    stages: int
    utilisation: float
    items_per_time: float
    mean_token_time: float


def random_traffic(pipe: Pipe, rate: float, sequences: int, tokens: int, rng: np.random.Generator) -> Traffic:
    """Sequences arriving at random (Poisson, `rate` a unit of time), each decoding `tokens` tokens.

    First come, first served at stage 0, one at a time; links are pure delays. `mean_token_time` runs from when a
    token may enter to when it has left.
    """
    require_positive(rate=rate)
    arrivals = np.cumsum(rng.exponential(1 / rate, whole("sequences", sequences)))
    waiting = [(float(time), whole("tokens", tokens)) for time in arrivals]
    steps = [(float(time), float(hop)) for time, hop in zip(pipe.stage_times, pipe.hops, strict=True)]
    return_delay, free, spent = float(pipe.return_delay), [0.0] * len(steps), 0.0
    while waiting:
        ready, left = heappop(waiting)
        moment = ready
        for stage, (time, hop) in enumerate(steps):
            began = moment if moment > free[stage] else free[stage]
            free[stage] = began + time
            moment = free[stage] + hop
        spent += free[-1] - ready
        if left > 1:
            heappush(waiting, (free[-1] + return_delay, left - 1))
    items, span = sequences * tokens, free[-1] - float(arrivals[0])
    busy = items * sum(time for time, _ in steps) / len(steps)
    return Traffic(len(steps), busy / span, items / span, spent / items)


def chunked_prefill_time(stages: int, chunks: int, chunk_time: Time) -> Time:
    """Time to the first token when a prompt goes through p stages in n chunks that follow one another.

        (n + p - 1) · c

    In one piece every stage takes n·c and the others wait: n·p·c. The gain is np / (n + p - 1).
    Ignored: attention of later chunks to earlier ones, which makes later chunks longer.
    """
    return (whole("chunks", chunks) + whole("stages", stages) - 1) * chunk_time
