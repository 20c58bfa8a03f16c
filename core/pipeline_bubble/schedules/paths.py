"""What a run was waiting for: the chain of actions that made it as long as it is, or what never came."""

from dataclasses import dataclass
from itertools import pairwise

from core.pipeline_bubble.schedules.actions import Action, Span, Time
from core.pipeline_bubble.schedules.simulator import Costs, Timeline
from core.pipeline_bubble.schedules.validity import inputs


def critical_path(timeline: Timeline, costs: Costs | None = None) -> list[Span]:
    """A chain from time 0 to the last end in which each span starts as soon as the one before lets it.

    Its durations and hops add up to the makespan, so shortening anything off the chain shortens nothing. Of
    several such chains it is one; where an input and the rank itself are ready together it follows the input.
    """
    spans = list(timeline)
    if not spans:
        return []
    by_action = {span.action: span for span in spans}
    before = {after.action: span for span, after in pairwise(spans) if span.rank == after.rank}
    hops = (costs or Costs()).hops(timeline.placement)
    path = [max(spans, key=lambda span: span.end)]
    while path[-1].start > 0:
        path.append(_held_up_by(path[-1], by_action, before, hops, timeline.placement.stages))
    return path[::-1]


@dataclass(frozen=True)
class Wait:
    """A rank that stands still for ever: what it wants to run next, and the input that will not come."""

    rank: int
    action: Action
    missing: Action


def waits(timeline: Timeline) -> list[Wait]:
    """Each rank that is stuck. Follow the missing inputs from rank to rank and you come back to where you began."""
    ran = set(timeline.actions)
    return [
        Wait(timeline.placement.rank(action.stage), action, choices[0])
        for action in timeline.waiting
        for choices in inputs(action, timeline.placement.stages)
        if not ran.intersection(choices)
    ]


def _held_up_by(
    span: Span, by_action: dict[Action, Span], before: dict[Action, Span], hops: list[Time], stages: int
) -> Span:
    """The span whose end, and hop if it has one, came last before `span` could start."""
    arrivals = [
        (source.end + (hops[min(source.action.stage, span.action.stage)] if other_stage else 0), source)
        for choices in inputs(span.action, stages)
        for choice in choices
        if (source := by_action.get(choice)) is not None
        for other_stage in [source.action.stage != span.action.stage]
    ]
    if span.action in before:
        arrivals.append((before[span.action].end, before[span.action]))
    return max(arrivals, key=lambda arrival: arrival[0])[1]
