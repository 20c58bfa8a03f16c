"""Whether a timeline may happen: the one predicate every schedule is held against.

It reads only what ran when, so it judges timelines that no simulator made, a learner's or a wrong one.
Links are taken as free: a link delay can only make a start later.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from core.pipeline_bubble.schedules.actions import Action, Span, Time

Rule = Literal["times", "back", "stranger", "early", "missing", "overlap"]
"""Run not once; gone back neither whole nor in halves; not of these sizes; begun before its input had ended,
or without one that ever runs; begun while its rank was busy.
"""


@dataclass(frozen=True)
class Violation:
    """An action that breaks a rule.

    `counts` says how often it ran, or went back as B, I and W. `other` is the input it did not wait for, or the
    action its rank was busy with, and `ended` when that one ended.
    """

    rule: Rule
    action: Action
    span: Span | None = None
    other: Action | None = None
    ended: Time | None = None
    counts: tuple[int, ...] = ()


def is_valid(spans: Iterable[Span], stages: int, microbatches: int) -> bool:
    """True when every action runs once, after its inputs, and no rank runs two at a time."""
    return not any(True for _ in violations(spans, stages, microbatches))


def violations(spans: Iterable[Span], stages: int, microbatches: int) -> Iterator[Violation]:
    """Every broken rule: actions missing or repeated, inputs not there yet, two at a time on one rank."""
    placed = list(spans)
    yield from _not_once(placed, stages, microbatches)
    yield from _before_input(placed, stages)
    yield from _overlapping(placed)


def _not_once(spans: Sequence[Span], stages: int, microbatches: int) -> Iterator[Violation]:
    """Each microbatch goes forward once on each stage; if any goes back, each does once, whole or halved."""
    counts = Counter(span.action for span in spans)
    trains = any(action.kind != "F" for action in counts)
    for action in (Action(s, "F", k) for s in range(stages) for k in range(microbatches)):
        if counts[action] != 1:
            yield Violation("times", action, counts=(counts[action],))
        back = tuple(counts[Action(action.stage, kind, action.microbatch)] for kind in ("B", "I", "W"))
        if trains and back not in ((1, 0, 0), (0, 1, 1)):
            yield Violation("back", action, counts=back)
    for action in counts:
        if not (0 <= action.stage < stages and 0 <= action.microbatch < microbatches):
            yield Violation("stranger", action, counts=(counts[action],))


def _before_input(spans: Sequence[Span], stages: int) -> Iterator[Violation]:
    """An action starts no earlier than each of its inputs ends."""
    ends = {span.action: span.end for span in spans}
    for span in spans:
        for choices in inputs(span.action, stages):
            ended = [ends[choice] for choice in choices if choice in ends]
            if not ended or min(ended) > span.start:
                rule: Rule = "early" if ended else "missing"
                yield Violation(rule, span.action, span, choices[0], min(ended, default=None))


def _overlapping(spans: Sequence[Span]) -> Iterator[Violation]:
    """A rank ends one action before it starts the next."""
    in_order = sorted(spans, key=lambda span: (span.rank, span.start, span.end))
    for before, after in pairwise(in_order):
        if before.rank == after.rank and after.start < before.end:
            yield Violation("overlap", after.action, after, before.action, before.end)


def inputs(action: Action, stages: int) -> list[tuple[Action, ...]]:
    """What must have ended before `action` starts. A tuple is a choice: a gradient comes from B or from I."""
    stage, microbatch = action.stage, action.microbatch
    if action.kind == "F":
        return [(Action(stage - 1, "F", microbatch),)] if stage else []
    if action.kind == "W":
        return [(Action(stage, "I", microbatch),)]
    needed: list[tuple[Action, ...]] = [(Action(stage, "F", microbatch),)]
    if stage < stages - 1:
        needed.append((Action(stage + 1, "B", microbatch), Action(stage + 1, "I", microbatch)))
    return needed
