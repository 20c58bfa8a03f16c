"""An engine run step by step under the requests it is given; what its steps take is in core.serving.load.

Where nothing changes, many steps are taken at once: a run costs as much as its requests and their chunks.
Requests are all as long as the cost says, or each as long as `Requests` says.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from math import ceil, inf

import numpy as np

from core.errors import require_positive
from core.serving.arrivals import Floats, Requests
from core.serving.load import CHUNK_TOKENS, EngineCost

MOST_STEPS = 60_000
"""Where a run is cut, so that no question takes longer than about half a second."""

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


@dataclass(frozen=True)
class Course:
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
    run = _Run(cost, [float(time) for time in arrivals_s], chunk_tokens, requests)
    while run.unfinished and run.steps < MOST_STEPS:
        run.advance()
    return run


@dataclass
class _Run:
    """The state of a run: what waits, what is being read, what is written, and what was seen."""

    cost: EngineCost
    arrivals_s: list[float]
    chunk_tokens: int
    requests: Requests | None = None
    reserved: int = 0
    now_s: float = 0.0
    steps: int = 0
    decoded: int = 0
    arrived: int = 0
    begun: int = 0
    unread: deque[int] = field(default_factory=deque)
    ends: list[tuple[int, int]] = field(default_factory=list)
    begun_s: list[float] = field(default_factory=list)
    first_s: list[float] = field(default_factory=list)
    done: list[tuple[int, float]] = field(default_factory=list)
    gaps: list[tuple[float, int, int]] = field(default_factory=list)
    running_area: float = 0.0
    waiting_area: float = 0.0
    busy_s: float = 0.0
    decode_s: dict[int, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        cost, count, given = self.cost, len(self.arrivals_s), self.requests
        self.prompts: Sequence[int] = given.prompts if given else [cost.prompt_tokens] * count
        self.outputs: Sequence[int] = given.outputs if given else [cost.output_tokens] * count

    @property
    def unfinished(self) -> bool:
        return len(self.done) < len(self.arrivals_s)

    def advance(self) -> None:
        """Idle to the next arrival, or take a step, or as many steps at once as nothing changes."""
        self._admit()
        batch, reading = len(self.ends), len(self.unread)
        if not batch and not reading:
            self._pass(self.arrivals_s[self.arrived] - self.now_s, 0)
            return
        step_s = self._decode_s(batch) if batch else 0.0
        read = 0
        if reading:
            read = min(self.chunk_tokens, self.unread[0] if reading == 1 else sum(self.unread))
            step_s += self._reading_s(read)
        count = self._undisturbed(step_s, read)
        self.steps += 1
        self.busy_s += count * step_s
        self._pass(count * step_s, batch)
        if batch:
            self._write(step_s, count, batch)
        if read:
            self._read(count * read)

    def _decode_s(self, batch: int) -> float:
        """What a decode step of that many takes; the same batch comes many times."""
        if batch not in self.decode_s:
            self.decode_s[batch] = self.cost.decode_at(batch)
        return self.decode_s[batch]

    def _admit(self) -> None:
        """Take in what has come, and begin what there is room for."""
        arrivals_s = self.arrivals_s
        while self.arrived < len(arrivals_s) and arrivals_s[self.arrived] <= self.now_s:
            self.arrived += 1
        while self.begun < self.arrived and self._has_room():
            prompt = self.prompts[self.begun]
            self.reserved += prompt + self.outputs[self.begun]
            self.unread.append(prompt)
            self.begun += 1
            self.begun_s.append(self.now_s)

    def _has_room(self) -> bool:
        """Whether the oldest that waits may begin."""
        if len(self.ends) + len(self.unread) >= self.cost.most_running:
            return False
        if self.requests is None:
            return True
        needed = self.prompts[self.begun] + self.outputs[self.begun]
        return self.reserved + needed <= self.requests.room_tokens

    def _reading_s(self, tokens: int) -> float:
        """What reading that many tokens of the oldest prompts takes."""
        if self.requests is None:
            return self.cost.prefill_s * tokens / self.cost.prompt_tokens
        time_s, request = 0.0, len(self.first_s)
        for left in self.unread:
            taken = min(tokens, left)
            time_s += self.requests.prefill_s[request] * taken / self.requests.prompts[request]
            tokens, request = tokens - taken, request + 1
            if not tokens:
                break
        return time_s

    def _undisturbed(self, step_s: float, read: int) -> int:
        """Steps until a sequence ends, or the oldest prompt has no whole chunk left to be read.

        Or until the one in which the next request arrives that could begin.
        """
        whole = max(1, self.unread[0] // self.chunk_tokens) if read else MOST_STEPS
        left = min(whole, self.ends[0][0] - self.decoded) if self.ends else whole
        full = len(self.ends) + len(self.unread) >= self.cost.most_running
        if full or self.arrived == len(self.arrivals_s) or step_s == 0:
            return left
        return max(1, min(left, ceil((self.arrivals_s[self.arrived] - self.now_s) / step_s)))

    def _pass(self, duration_s: float, batch: int) -> None:
        """Let time go by, with as many running and waiting as there are; arrivals in it wait from then on."""
        end_s = self.now_s + duration_s
        self.running_area += duration_s * (batch + len(self.unread))
        self.waiting_area += duration_s * (self.arrived - self.begun)
        while self.arrived < len(self.arrivals_s) and self.arrivals_s[self.arrived] < end_s:
            self.waiting_area += end_s - self.arrivals_s[self.arrived]
            self.arrived += 1
        self.now_s = max(end_s, self.now_s)

    def _write(self, step_s: float, count: int, batch: int) -> None:
        """One token of every running sequence in each of `count` steps; those whose last it was are done."""
        self.gaps.append((step_s, count * batch, len(self.first_s)))
        self.decoded += count
        while self.ends and self.ends[0][0] <= self.decoded:
            self._end(heappop(self.ends)[1])

    def _end(self, request: int) -> None:
        """A request is done, and its tokens leave the cache."""
        self.reserved -= self.prompts[request] + self.outputs[request]
        self.done.append((request, self.now_s))

    def _read(self, tokens: int) -> None:
        """Read that many tokens of the oldest prompts; one that is read whole has its first token."""
        unread = self.unread
        while tokens and unread:
            if unread[0] > tokens:
                unread[0] -= tokens
                return
            tokens -= unread.popleft()
            request = len(self.first_s)
            self.first_s.append(self.now_s + self.cost.prefill_delay_s)
            if steps := self.outputs[request] - 1:
                heappush(self.ends, (self.decoded + steps, request))
            else:
                self._end(request)

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
