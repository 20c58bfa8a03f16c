"""One clock: work that holds ports, links and processors, run event by event.

A piece of work starts once all it waits for is over and everything it holds is free; it holds that for `lasts_s`,
and is over `travels_s` later, as a message is whose bytes have left. Whoever could start first starts first; of two
at one instant, the one named first.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from core.errors import OutOfRangeError, require_non_negative


@dataclass(frozen=True)
class Work:
    """What takes time: the things it holds meanwhile, and the work that must be over before it starts."""

    name: str
    holds: tuple[str, ...]
    lasts_s: float
    after: tuple[str, ...] = ()
    travels_s: float = 0.0
    from_s: float = 0.0

    def __post_init__(self) -> None:
        require_non_negative(lasts_s=self.lasts_s, travels_s=self.travels_s, from_s=self.from_s)


class Ran(NamedTuple):
    """When a piece of work started, let go of what it held, and was over."""

    start_s: float
    free_s: float
    end_s: float


@dataclass(frozen=True)
class Replay:
    """All of it, on one clock."""

    ran: Mapping[str, Ran]
    busy_s: Mapping[str, float]

    @property
    def end_s(self) -> float:
        """When the last work was over."""
        return max((one.end_s for one in self.ran.values()), default=0.0)


def busiest_s(works: Iterable[Work]) -> float:
    """How long the fullest port must be busy, whatever the order: no clock can be done sooner."""
    busy_s: dict[str, float] = defaultdict(float)
    for work in works:
        for thing in work.holds:
            busy_s[thing] += work.lasts_s
    return max(busy_s.values(), default=0.0)


def replay(works: Iterable[Work]) -> Replay:
    """Run them. Raises OutOfRangeError for one that waits for what is not there, and for a circle."""
    named = {work.name: work for work in works}
    order = {name: index for index, name in enumerate(named)}
    waiting = {name: len(work.after) for name, work in named.items()}
    followers: dict[str, list[str]] = defaultdict(list)
    for work in named.values():
        for before in work.after:
            if before not in named:
                raise OutOfRangeError("after", before, "names no work that there is")
            followers[before].append(work.name)
    ready_s = {name: work.from_s for name, work in named.items()}
    free_s: dict[str, float] = defaultdict(float)
    busy_s: dict[str, float] = defaultdict(float)
    ran: dict[str, Ran] = {}
    queue = [(ready_s[name], order[name], name) for name, count in waiting.items() if not count]
    heapify(queue)
    while queue:
        estimate_s, index, name = heappop(queue)
        work = named[name]
        start_s = max([ready_s[name], *(free_s[thing] for thing in work.holds)])
        if start_s > estimate_s:
            heappush(queue, (start_s, index, name))
            continue
        ran[name] = Ran(start_s, start_s + work.lasts_s, start_s + work.lasts_s + work.travels_s)
        for thing in work.holds:
            free_s[thing] = ran[name].free_s
            busy_s[thing] += work.lasts_s
        for follower in followers[name]:
            waiting[follower] -= 1
            ready_s[follower] = max(ready_s[follower], ran[name].end_s)
            if not waiting[follower]:
                heappush(queue, (ready_s[follower], order[follower], follower))
    if len(ran) < len(named):
        stuck = next(name for name in named if name not in ran)
        raise OutOfRangeError("after", stuck, "waits for itself in the end")
    return Replay(ran, dict(busy_s))
