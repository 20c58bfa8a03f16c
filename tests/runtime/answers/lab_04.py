"""Lab 04 as a good student writes it."""

from fractions import Fraction
from itertools import count, pairwise

from core.errors import OutOfRangeError
from core.pipeline_bubble.schedules.actions import Action, Span


def fill_drain(stages, microbatches):
    return [Action(stage, "F", number) for stage in range(stages) for number in range(microbatches)]


def run_on_ticks(actions, stages):
    free, ended, spans = [0] * stages, {}, []
    for action in sorted(actions, key=lambda one: one.stage):
        start = max(free[action.stage], ended.get((action.stage - 1, action.microbatch), 0))
        spans.append(Span(action, action.stage, start, start + 1))
        free[action.stage] = ended[action.stage, action.microbatch] = start + 1
    return spans


def counted_bubble(spans, stages):
    spans = list(spans)
    cells = stages * max(span.end for span in spans)
    return Fraction(cells - sum(span.end - span.start for span in spans), cells)


def bubble_fraction(stages, microbatches):
    return Fraction(stages - 1, stages + microbatches - 1)


def bubble_overhead(stages, microbatches):
    return Fraction(stages - 1, microbatches)


def microbatches_for_budget(stages, budget, *, under=False):
    budget = Fraction(str(budget)) if isinstance(budget, float) else Fraction(budget)
    if budget <= 0 and stages > 1:
        raise OutOfRangeError("budget", budget, "is too small")
    bubbles = ((number, bubble_fraction(stages, number)) for number in count(1))
    return next(number for number, bubble in bubbles if bubble < budget or (bubble == budget and not under))


def is_valid(spans, stages, microbatches):
    spans = list(spans)
    by_action = {(span.action.stage, span.action.microbatch): span for span in spans}
    if len(spans) != stages * microbatches or len(by_action) != len(spans):
        return False
    for (stage, number), span in by_action.items():
        if span.rank != stage or span.end <= span.start or span.start < 0:
            return False
        if stage and ((stage - 1, number) not in by_action or by_action[stage - 1, number].end > span.start):
            return False
    for rank in range(stages):
        mine = sorted((span.start, span.end) for span in spans if span.rank == rank)
        if any(end > start for (_, end), (start, _) in pairwise(mine)):
            return False
    return True
