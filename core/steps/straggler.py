"""One slow rank, and what the others make of it: the same slowdown under TP, on a ring, and in a pipeline.

Whoever waits for everyone waits for the slowest. σ is the slow rank's time over the others', 1 where all are alike;
N ranks, p stages. Which rank it is matters to who waits, not to how long.
Ignored: noise that moves from rank to rank, and work that could be distributed anew.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from core.collectives.cost import CollectiveCost, ring_all_reduce
from core.errors import OutOfRangeError, require_non_negative
from core.specs import LinkSpec

Number = int | float | Fraction
"""Seconds, or ticks kept exact: what goes in as a fraction comes out as one."""


@dataclass(frozen=True)
class Straggler:
    """Which rank is slow, and its time over the others'."""

    rank: int
    slowdown: Number = 1

    def __post_init__(self) -> None:
        require_non_negative(rank=self.rank)
        if not self.slowdown >= 1:
            raise OutOfRangeError("slowdown", self.slowdown, "straggler", least=1)

    def slow(self, times: Sequence[Number]) -> tuple[Number, ...]:
        """The ranks' times with the slow one's stretched.

            t_r · (σ if r is the slow one else 1)

        Raises OutOfRangeError when there is no such rank.
        """
        if self.rank >= len(times):
            raise OutOfRangeError("rank", self.rank, "below_ranks", ranks=len(times))
        return tuple(time * self.slowdown if rank == self.rank else time for rank, time in enumerate(times))


@dataclass(frozen=True)
class Lockstep:
    """A step that all ranks end together, and how long each stood waiting in it."""

    step: Number
    waits: tuple[Number, ...]


def lockstep(compute: Sequence[Number], comm: Number) -> Lockstep:
    """A step of tensor parallelism, rank by rank: an all-reduce ends for nobody before the slowest has come to it.

        step = max c_r + comm,  rank r waits max c_r - c_r

    `compute` is each rank's share of the whole step, `comm` all of its all-reduces. Holds while the same rank is
    the slowest at every all-reduce; where ranks take turns it is longer. Source: Dean & Barroso 2013, The tail at
    scale: the maximum of many is what the whole waits for.
    """
    slowest = max(compute)
    return Lockstep(slowest + comm, tuple(slowest - own for own in compute))


def slowed_link(link: LinkSpec, slowdown: Number) -> LinkSpec:
    """A link whose bytes take σ times as long, as behind one port at a fraction of its lanes.

    β / σ
    """
    return link.scaled(1 / float(slowdown))


def uneven_ring_all_reduce(payload_bytes: float, hops: Sequence[LinkSpec]) -> CollectiveCost:
    """Cost of a ring all-reduce over N hops that differ: hop r leads from rank r to the next, and the last closes.

        T = t0 + 2(N-1) · max (α_r + n/(N·β_r))

    Every hop carries 2(N-1) messages, so the slowest is busy from the first to the last, and the rest wait for it.
    Source: Patarasuk & Yuan 2009, with hops of their own; run message by message in the tests.
    """
    prices = (ring_all_reduce(payload_bytes, len(hops), hop) for hop in hops)
    return max(prices, key=lambda price: price.latency_s + price.bandwidth_s)


def pipeline_rate(stage_times: Sequence[Number]) -> Number:
    """Microbatches a unit of time through a full pipeline: the pace of its slowest stage.

        1 / max t_s

    Source: fill-drain's makespan Σt + Σl + (m-1)·max t, of which each further microbatch adds max t.
    """
    slowest = max(stage_times)
    return Fraction(1) / slowest if isinstance(slowest, int | Fraction) else 1 / slowest
