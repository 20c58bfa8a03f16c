"""A wire between ranks, on which every message is written down, the ring that runs on it, and the time it takes.

N ranks, n payload_bytes; α is `link.latency_s`, β is `link.bandwidth_bytes_per_s`.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from core.errors import OutOfRangeError, require_divides
from core.sharding_math.held import Held
from core.sharding_math.tensors import Array
from core.specs import LinkSpec

Send = Callable[[int, int, Array], Array]
"""Called with source, target and an array: what the target receives."""


@dataclass(frozen=True)
class Hop:
    """One message. `turn` counts from 0 what its source has sent; messages of one turn travel at once."""

    turn: int
    source: int
    target: int
    payload_bytes: int


class Wire:
    """What ranks hold, and what they send each other: a value gets from one rank to another by `send` alone."""

    def __init__(self, ranks: int) -> None:
        self.ranks = ranks
        self.hops: list[Hop] = []
        self._turns: dict[int, int] = defaultdict(int)

    def hold(self, values: Sequence[Array]) -> list[Array]:
        """One array a rank, each a copy that is held there."""
        return [_held(rank, value) for rank, value in enumerate(values)]

    def send(self, source: int, target: int, values: Array) -> Array:
        """What the target receives.

        Raises OutOfRangeError for a rank that is not there, or that sends what another holds.
        """
        for name, rank in (("source", source), ("target", target)):
            if rank not in range(self.ranks):
                raise OutOfRangeError(name, rank, "none_of_ranks", ranks=self.ranks, first=0)
        holders: frozenset[int] = getattr(values, "ranks", frozenset()) or frozenset(range(self.ranks))
        if source not in holders:
            raise OutOfRangeError("source", source, "does_not_hold", rank=min(holders))
        self.hops.append(Hop(self._turns[source], int(source), int(target), int(values.nbytes)))
        self._turns[source] += 1
        return _held(target, values)


def _held(rank: int, values: Array) -> Array:
    held = np.array(values, dtype=float).view(Held)
    held.ranks = frozenset({int(rank)})
    return held


def ring_all_reduce(values: Sequence[Array], send: Send) -> list[Array]:
    """Σ of `values`, as every rank holds it after a reduce-scatter and an all-gather round the ring.

    In turn t of the first, rank r sends chunk r-t to rank r+1, which adds it; in the second it sends chunk r+1-t,
    which is finished. Raises IndivisibleError where the values do not cut into N chunks.
    """
    ranks = len(values)
    require_divides("values", len(values[0]), "ranks", ranks)
    chunks = [list(np.split(value, ranks)) for value in values]
    for first, adds in ((0, True), (1, False)):
        for turn in range(ranks - 1):
            sent = [
                (
                    rank,
                    (rank + 1) % ranks,
                    (rank + first - turn) % ranks,
                    chunks[rank][(rank + first - turn) % ranks],
                )
                for rank in range(ranks)
            ]
            for source, target, chunk, part in sent:
                received = send(source, target, part)
                chunks[target][chunk] = chunks[target][chunk] + received if adds else received
    return [np.concatenate(own) for own in chunks]


def time_of_hops(hops: Iterable[Hop], link: LinkSpec) -> float:
    """Seconds of the messages on a link: the turns one after another, each as long as its slowest message.

    Σ over turns of max(α + bytes/β)
    """
    slowest: dict[int, float] = {}
    for hop in hops:
        time_s = link.latency_s + hop.payload_bytes / link.bandwidth_bytes_per_s
        slowest[hop.turn] = max(slowest.get(hop.turn, 0.0), time_s)
    return sum(slowest.values())
