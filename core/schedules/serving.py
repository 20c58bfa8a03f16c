"""A pipeline that serves: one flush, and decode going round and round.

In decode, token n + 1 of a microbatch enters stage 0 only after token n has left the last stage, so what counts is
the cycle. Letters: t_s time of stage s, l_s delay of the link behind it, ret the way back to stage 0, m
microbatches in flight.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush
from math import ceil

import numpy as np

from core.errors import OutOfRangeError, require_non_negative, require_positive
from core.schedules.actions import Action, Placement, Time, whole
from core.schedules.simulator import Send, Timeline


@dataclass(frozen=True)
class Pipe:
    """Stages in a row, the links between them, and the way back. `send` is what a link is, as in Costs."""

    stage_times: tuple[Time, ...]
    link_delays: tuple[Time, ...] = ()
    return_delay: Time = 0
    send: Send = "latency"

    def __post_init__(self) -> None:
        if not self.stage_times:
            raise OutOfRangeError("stages", 0, "must be 1 or more")
        if len(self.link_delays) not in (0, len(self.stage_times) - 1):
            rule = f"must be {len(self.stage_times) - 1}, one between each two stages, or none"
            raise OutOfRangeError("len(link_delays)", len(self.link_delays), rule)
        for time in self.stage_times:
            require_positive(stage_time=float(time))
        for delay in (*self.link_delays, self.return_delay):
            require_non_negative(link_delay=float(delay))

    @property
    def hops(self) -> tuple[Time, ...]:
        """The delay behind each stage; nothing behind the last."""
        return (*(self.link_delays or (0,) * (len(self.stage_times) - 1)), 0)

    @property
    def traverse(self) -> Time:
        """How long one microbatch alone takes from the first stage to the end of the last: Σt + Σl."""
        return sum(self.stage_times) + sum(self.hops)

    @property
    def pace(self) -> Time:
        """The shortest time between two microbatches: max t; with serial wires max(t, l), blocking max(t + l)."""
        if self.send == "blocking":
            return max(time + hop for time, hop in zip(self.stage_times, self.hops, strict=True))
        return max(*self.stage_times, *(self.hops if self.send == "serial" else (0,)))


def flush_makespan(pipe: Pipe, microbatches: int) -> Time:
    """From the start of the first microbatch to the end of the last, the pipe empty before and after.

    Σt + Σl + (m - 1) · max t
    """
    return pipe.traverse + (whole("microbatches", microbatches) - 1) * pipe.pace


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
    microbatches are free; beyond m* it grows with m, and throughput no more.
    """
    m = whole("microbatches", microbatches)
    cycle = max(m * pipe.pace, pipe.traverse + pipe.return_delay)
    shares = tuple(Fraction(m * time) / cycle for time in pipe.stage_times)
    return Steady(cycle, Fraction(m) / cycle, shares)


def filling_microbatches(pipe: Pipe) -> int:
    """m*, the fewest microbatches in flight that keep the slowest stage busy: p with equal stages and free links.

    ⌈(Σt + Σl + ret) / max t⌉
    """
    return ceil(Fraction(pipe.traverse + pipe.return_delay) / pipe.pace)


def decode(pipe: Pipe, microbatches: int, tokens: int) -> Timeline:
    """Decode from an empty pipe: `tokens` rounds of m microbatches, simulated.

    Token n of microbatch k is the action of microbatch n·m + k.
    """
    m, rounds = whole("microbatches", microbatches), whole("tokens", tokens)
    stages = len(pipe.stage_times)
    line = _Line(pipe)
    ready: list[Time] = [0] * m
    rows: list[list[tuple[Action, Time, Time]]] = [[] for _ in range(stages)]
    for item in range(rounds * m):
        times = line.send_through(ready[item % m])
        ready[item % m] = times[-1][1] + pipe.return_delay
        for stage, (start, end) in enumerate(times):
            rows[stage].append((Action(stage, "F", item), start, end))
    actions, starts, ends = zip(*(entry for row in rows for entry in row), strict=True)
    return Timeline(Placement(stages), actions, starts, ends)


class _Line:
    """The stages and wires as they stand: when each is free again."""

    def __init__(self, pipe: Pipe) -> None:
        self.pipe = pipe
        self.free: list[Time] = [0] * len(pipe.stage_times)
        self.wires: list[Time] = [0] * len(pipe.stage_times)

    def send_through(self, ready: Time) -> list[tuple[Time, Time]]:
        """Start and end on each stage of one that may enter at `ready`, behind all that entered before."""
        times = []
        for stage, (time, hop) in enumerate(zip(self.pipe.stage_times, self.pipe.hops, strict=True)):
            start = max(ready, self.free[stage])
            end = start + time
            times.append((start, end))
            leaves = max(end, self.wires[stage]) if self.pipe.send == "serial" else end
            ready = self.wires[stage] = leaves + hop
            self.free[stage] = ready if self.pipe.send == "blocking" else end
        return times


@dataclass(frozen=True)
class Traffic:
    """A pipe under random arrivals: how busy it was, and how long a token took."""

    stages: int
    utilisation: float
    items_per_time: float
    mean_token_time: float


def random_traffic(pipe: Pipe, rate: float, sequences: int, tokens: int, rng: np.random.Generator) -> Traffic:
    """Sequences arriving at random (Poisson, `rate` a unit of time), each decoding `tokens` tokens on its own.

    First come, first served at stage 0; links are pure delays. `mean_token_time` runs from when a token may enter
    to when it has left.
    """
    require_positive(rate=rate)
    arrivals = np.cumsum(rng.exponential(1 / rate, whole("sequences", sequences)))
    waiting = [(float(time), whole("tokens", tokens)) for time in arrivals]
    steps = [(float(time), float(hop)) for time, hop in zip(pipe.stage_times, pipe.hops, strict=True)]
    free, spent, end = [0.0] * len(steps), 0.0, 0.0
    while waiting:
        ready, left = heappop(waiting)
        moment = ready
        for stage, (time, hop) in enumerate(steps):
            free[stage] = end = max(moment, free[stage]) + time
            moment = end + hop
        spent += end - ready
        if left > 1:
            heappush(waiting, (end + float(pipe.return_delay), left - 1))
    items, span = sequences * tokens, end - float(arrivals[0])
    busy = items * sum(time for time, _ in steps) / len(steps)
    return Traffic(len(steps), busy / span, items / span, spent / items)


def chunked_prefill_time(stages: int, chunks: int, chunk_time: Time) -> Time:
    """Time to the first token when a prompt goes through p stages in n chunks that follow one another.

        (n + p - 1) · c

    In one piece every stage takes n·c and the others wait: n·p·c. The gain is np / (n + p - 1).
    Ignored: attention of later chunks to earlier ones, which makes later chunks longer.
    """
    return (whole("chunks", chunks) + whole("stages", stages) - 1) * chunk_time


def mixed_bubble(stages: int, times: Sequence[Time]) -> Fraction:
    """The bubble of one flush whose microbatches differ, as prefill chunks among decode steps do.

        (p - 1) · max t / (Σt + (p - 1) · max t)

    `times` is each microbatch's time on any stage. The longest one is waited for on every stage.
    """
    whole("microbatches", len(times))
    for time in times:
        require_positive(microbatch_time=float(time))
    waits = (whole("stages", stages) - 1) * max(times)
    return Fraction(waits) / (sum(times) + waits)
