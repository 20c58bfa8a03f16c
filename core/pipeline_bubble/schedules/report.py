"""What a run cost: makespan, the bubble on both grounds, and each rank's idle time and peak of activations.

The clock is the global one, from 0 to the last end on any rank. A schedule that calls itself free of bubbles often
counts each rank from its own first start to its own last end; `own_bubble_fraction` is that count.
"""

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise

from core.errors import OutOfRangeError
from core.pipeline_bubble.schedules.actions import Action, Span, Time
from core.pipeline_bubble.schedules.simulator import Timeline


@dataclass(frozen=True)
class RankReport:
    """One rank: what it ran, how long it stood idle, and how many activations it held at most.

    An activation is one microbatch's on one chunk, held from its forward to the end of its backward, or of the
    weight's half where that is apart. Forward alone holds it only while it runs.
    """

    spans: tuple[Span, ...]
    idle: Time
    idle_in_span: Time
    peak_activations: int


@dataclass(frozen=True)
class Report:
    """A run's cost, in its schedule's unit of time: until the last action ends, and all ranks' work together."""

    makespan: Time
    busy: Time
    ranks: tuple[RankReport, ...]

    @property
    def bubble_fraction(self) -> Fraction:
        """Idle over all time: 1 - busy / (p · makespan)."""
        return 1 - Fraction(self.busy) / (len(self.ranks) * self.makespan)

    @property
    def overhead(self) -> Fraction:
        """Idle over working time: by how much the run is longer than its work spread evenly."""
        return len(self.ranks) * Fraction(self.makespan) / self.busy - 1

    @property
    def own_bubble_fraction(self) -> Fraction:
        """Idle over all time with each rank counted from its own first start to its own last end."""
        idle = Fraction(sum(rank.idle_in_span for rank in self.ranks))
        return idle / (idle + self.busy)


def report(timeline: Timeline) -> Report:
    """The numbers of a run that ended.

    Raises OutOfRangeError for one that waits for itself, and for one in which nothing ran.
    """
    if timeline.waiting:
        stuck = ", ".join(map(str, timeline.waiting))
        raise OutOfRangeError("waiting", stuck, "deadlock")
    if not timeline.makespan:
        raise OutOfRangeError("makespan", 0, "nothing_ran", least=0)
    by_rank: list[list[Span]] = [[] for _ in range(timeline.placement.ranks)]
    for span in timeline:
        by_rank[span.rank].append(span)
    ranks = tuple(_rank_report(tuple(spans), timeline.makespan) for spans in by_rank)
    return Report(timeline.makespan, timeline.busy, ranks)


@dataclass(frozen=True, slots=True)
class Held:
    """How many activations a rank holds from `start` on, until the next of its kind."""

    start: Time
    activations: int


def held_over_time(timeline: Timeline) -> list[list[Held]]:
    """What each rank holds as time passes: one more from a forward's start, one less from the end that frees it.

    The peak of it is `RankReport.peak_activations`.
    """
    trains = any(kind != "F" for _, kind, _ in timeline.actions)
    changes: list[Counter[Time]] = [Counter() for _ in range(timeline.placement.ranks)]
    for span in timeline:
        changes[span.rank][span.start] += span.action.kind == "F"
        changes[span.rank][span.end] -= span.action.kind in ("B", "W") or not trains
    return [_summed(change) for change in changes]


def _summed(changes: Counter[Time]) -> list[Held]:
    moments = sorted(time for time, change in changes.items() if change)
    return [
        Held(time, held) for time, held in zip(moments, accumulate(changes[time] for time in moments), strict=True)
    ]


def _rank_report(spans: tuple[Span, ...], makespan: Time) -> RankReport:
    busy = sum((span.end - span.start for span in spans), Fraction(0))
    gaps = sum((after.start - before.end for before, after in pairwise(spans)), Fraction(0))
    return RankReport(spans, makespan - busy, gaps, peak_activations([span.action for span in spans]))


def peak_activations(program: list[Action]) -> int:
    """The most activations one rank holds at once, running `program` in order."""
    trains = any(action.kind != "F" for action in program)
    held = peak = 0
    for action in program:
        if action.kind == "F":
            held += 1
            peak = max(peak, held)
        if action.kind in ("B", "W") or not trains:
            held -= 1
    return peak
