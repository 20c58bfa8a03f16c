"""An engine run step by step under the requests it is given; what its steps take is in core.serving.load.

Where nothing changes, many steps are taken at once: a run costs as much as its requests and their chunks.
Requests are all as long as the cost says, or each as long as `Requests` says.
"""

from bisect import insort
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from math import ceil, inf
from operator import add
from typing import NamedTuple

import numpy as np

from core.errors import require_positive
from core.serving.arrivals import Floats, Requests
from core.serving.load import CHUNK_TOKENS, EngineCost

MOST_STEPS = 60_000
"""Where a run is cut, so that no question takes longer than about half a second."""

MOST_AT_ONCE = 60_000
"""Steps that are alike and taken as one, at the most."""

WARM_UP = 0.2
"""The share of requests, from the first, that are left out of the percentiles: the engine began empty."""


@dataclass(frozen=True)
class LoadResult:
    """A run of an engine at one arrival rate. Percentiles are over requests (first token), or tokens (between).

    `cut` where the run ended before all requests were done.
    """

    arrivals_per_s: float
    requests: int
    ttft_mean_s: float
    ttft_p50_s: float
    ttft_p99_s: float
    itl_mean_s: float
    itl_p50_s: float
    itl_p99_s: float
    tokens_per_s: float
    mean_running: float
    mean_waiting: float
    busy_fraction: float
    sojourn_mean_s: float
    steps: int
    cut: bool

    def at(self, percentile: int) -> tuple[float, float]:
        """The first token's time and that between tokens, of the slower half or of the slowest hundredth."""
        return (self.ttft_p50_s, self.itl_p50_s) if percentile == 50 else (self.ttft_p99_s, self.itl_p99_s)


class Course(NamedTuple):
    """When each request of a run arrived, was begun, had its first token and was done: all in one order.

    Those that a cut run did not get to are missing from the later lists.
    """

    arrivals_s: tuple[float, ...]
    begun_s: tuple[float, ...]
    first_s: tuple[float, ...]
    done_s: tuple[float, ...]


def follow(cost: EngineCost, arrivals_s: Sequence[float] | Floats, chunk_tokens: int = CHUNK_TOKENS) -> Course:
    """The same run as `simulate`, told request by request.

    Raises OutOfRangeError without requests, or for a chunk of nothing.
    """
    run = _run(cost, arrivals_s, chunk_tokens)
    done_s = tuple(time_s for _, time_s in sorted(run.done))
    return Course(tuple(run.arrivals_s), tuple(run.begun_s), tuple(run.first_s), done_s)


def simulate(
    cost: EngineCost,
    arrivals_s: Sequence[float] | Floats,
    chunk_tokens: int = CHUNK_TOKENS,
    closed: bool = False,
    requests: Requests | None = None,
) -> LoadResult:
    """An engine given requests at these times, ascending, from empty until all are done or the run is cut.

    `closed` counts a first token from when its request is begun: so does a client that keeps as many in flight as
    the engine holds, and sends the next when one is done.

    Raises OutOfRangeError without requests, or for a chunk of nothing.
    """
    return _run(cost, arrivals_s, chunk_tokens, requests).result(closed)


def _run(
    cost: EngineCost,
    arrivals_s: Sequence[float] | Floats,
    chunk_tokens: int,
    requests: Requests | None = None,
) -> "_Run":
    require_positive(requests=len(arrivals_s), chunk_tokens=chunk_tokens)
    run = _Run(cost, np.asarray(arrivals_s, np.float64).tolist(), chunk_tokens, requests)
    run.to_the_end()
    return run


@dataclass
class _Run:
    """A run and what was seen of it: `done` by request, `gaps` between tokens with how many tokens waited so."""

    cost: EngineCost
    arrivals_s: list[float]
    chunk_tokens: int
    requests: Requests | None = None
    now_s: float = 0.0
    steps: int = 0
    begun_s: list[float] = field(default_factory=list)
    first_s: list[float] = field(default_factory=list)
    done: list[tuple[int, float]] = field(default_factory=list)
    gaps: list[tuple[float, int, int]] = field(default_factory=list)
    running_area: float = 0.0
    waiting_area: float = 0.0
    busy_s: float = 0.0

    def __post_init__(self) -> None:
        cost, count, given = self.cost, len(self.arrivals_s), self.requests
        self.prompts: Sequence[int] = given.prompts if given else [cost.prompt_tokens] * count
        self.outputs: Sequence[int] = given.outputs if given else [cost.output_tokens] * count
        self.room_tokens = given.room_tokens if given else inf

    @property
    def unfinished(self) -> bool:
        return len(self.done) < len(self.arrivals_s)

    def to_the_end(self) -> None:
        """Until all are done or the run is cut: idle to the next arrival, or take as many steps as nothing changes.

        One loop over local names: a page's race goes through it some two thousand times, and its requests as often.
        """
        cost, outputs, begun_s, first_s, done = self.cost, self.outputs, self.begun_s, self.first_s, self.done
        most_running, room_tokens, chunk_tokens = cost.most_running, self.room_tokens, self.chunk_tokens
        prompt_tokens, prefill_s, delay_s = cost.prompt_tokens, cost.prefill_s, cost.prefill_delay_s
        added = cost.added_fraction
        gaps, alike = self.gaps, self.requests is None
        arrivals_s, requests = [*self.arrivals_s, inf], len(self.arrivals_s)
        needed = list(map(add, self.prompts, outputs))  # of the cache, by each request
        read_by = list(accumulate(self.prompts))  # tokens of all prompts up to each
        ends: list[tuple[int, int]] = []  # by which decode step each sequence is done, the earliest first
        decode_s: dict[int, float] = {0: 0.0}  # of a step, by its batch
        now_s = busy_s = running_area = waiting_area = 0.0
        arrived = begun = first = finished = ended = read = decoded = reserved = steps = 0
        while finished < requests and steps < MOST_STEPS:
            # what has come is taken in, and the oldest that wait are begun while there is room
            while arrivals_s[arrived] <= now_s:
                arrived += 1
            held, batch = begun - finished, first - finished
            while begun < arrived and held < most_running and reserved + needed[begun] <= room_tokens:
                begun_s.append(now_s)
                reserved += needed[begun]
                begun, held = begun + 1, held + 1

            if held:
                # a step carries a token of every running sequence, and a piece of the prompts that wait to be read
                if batch not in decode_s:
                    decode_s[batch] = cost.decode_at(batch)
                step_s, piece, count = decode_s[batch], 0, MOST_AT_ONCE
                # until a sequence ends, the oldest prompt has no whole chunk left, or one comes that could begin
                if begun > first:
                    unread = read_by[begun - 1] - read
                    piece = unread if unread < chunk_tokens else chunk_tokens
                    alone_s = prefill_s * piece / prompt_tokens if alike else self._reading_s(piece, read, read_by)
                    step_s += added * alone_s if batch else alone_s
                    whole = (read_by[first] - read) // chunk_tokens or 1
                    count = whole if whole < count else count
                if batch:
                    left = ends[ended][0] - decoded
                    count = left if left < count else count
                if held < most_running and step_s:
                    until = (arrivals_s[arrived] - now_s) / step_s
                    if until <= count - 1:
                        count = ceil(until) or 1
                steps += 1
                passed_s = count * step_s
                busy_s += passed_s
                read += count * piece
            else:
                passed_s = arrivals_s[arrived] - now_s

            # time goes by; who arrives in it waits from then on
            now_s += passed_s
            running_area += passed_s * held
            waiting_area += passed_s * (arrived - begun)
            while arrivals_s[arrived] < now_s:
                waiting_area += now_s - arrivals_s[arrived]
                arrived += 1

            # the tokens of a sequence that has ended leave the cache, one that was read goes on to its end
            if batch:
                gaps.append((step_s, count * batch, first))
                decoded += count
                while batch and ends[ended][0] <= decoded:
                    done.append((ends[ended][1], now_s))
                    ended, batch = ended + 1, batch - 1
            while first < begun and read_by[first] <= read:
                first_s.append(now_s + delay_s)
                end = decoded + outputs[first] - 1, first
                if outputs[first] == 1:
                    done.append((first, now_s))
                elif alike:
                    ends.append(end)
                else:
                    insort(ends, end, ended)
                first += 1
            for request, _ in done[finished:]:
                reserved -= needed[request]
                finished += 1
        self.now_s, self.steps, self.busy_s = now_s, steps, busy_s
        self.running_area, self.waiting_area = running_area, waiting_area

    def _reading_s(self, tokens: int, read: int, read_by: Sequence[int]) -> float:
        """What reading that many tokens takes where prompts differ, once so many of all have been read."""
        assert self.requests is not None
        time_s, request = 0.0, len(self.first_s)
        while tokens:
            taken = min(tokens, read_by[request] - read)
            time_s += self.requests.prefill_s[request] * taken / self.prompts[request]
            tokens, read, request = tokens - taken, read + taken, request + 1
        return time_s

    def result(self, closed: bool) -> LoadResult:
        """What was seen, the warm-up left out of the percentiles."""
        arrivals = np.array(self.arrivals_s)
        skipped = int(WARM_UP * len(self.first_s))
        sent = np.array(self.begun_s) if closed else arrivals
        ttft = (np.array(self.first_s) - sent[: len(self.first_s)])[skipped:]
        sojourn = np.array([time_s - self.arrivals_s[request] for request, time_s in self.done])
        gaps = np.array([(gap, weight) for gap, weight, seen in self.gaps if seen > skipped] or [(0.0, 1)])
        span_s = self.now_s or inf
        p50_s, p99_s = np.quantile(gaps[:, 0], (0.5, 0.99), weights=gaps[:, 1], method="inverted_cdf")
        return LoadResult(
            arrivals_per_s=len(self.arrivals_s) / self.arrivals_s[-1] if self.arrivals_s[-1] else inf,
            requests=len(self.done),
            ttft_mean_s=float(ttft.mean()) if ttft.size else inf,
            ttft_p50_s=float(np.quantile(ttft, 0.5)) if ttft.size else inf,
            ttft_p99_s=float(np.quantile(ttft, 0.99)) if ttft.size else inf,
            itl_mean_s=float(np.average(gaps[:, 0], weights=gaps[:, 1])),
            itl_p50_s=float(p50_s),
            itl_p99_s=float(p99_s),
            tokens_per_s=sum(self.outputs[request] for request, _ in self.done) / span_s,
            mean_running=self.running_area / span_s,
            mean_waiting=self.waiting_area / span_s,
            busy_fraction=self.busy_s / span_s,
            sojourn_mean_s=float(sojourn.mean()) if sojourn.size else inf,
            steps=self.steps,
            cut=self.unfinished,
        )
