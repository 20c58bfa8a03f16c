"""Every lab's probes; those of lab 04, schedules, are made here."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType

import numpy as np

from core.course.grading.probe import Json, Probe
from core.course.grading.probes_of_bills import of_the_bill
from core.course.grading.probes_of_layers import of_sharding, of_two_ranks
from core.course.grading.tasks import Lab
from core.pipeline_bubble import bubble
from core.pipeline_bubble.schedules.actions import Action, Span
from core.text.question import Draw


def probes(lab: Lab, seed: int) -> tuple[Probe, ...]:
    """Every probe of a lab with the inputs of a seed. Their claims are the same for all seeds."""
    return tuple(_PROBES[lab.key](np.random.default_rng(seed)))


# Lab 04: actions and spans


def _of_the_bubble(rng: Draw) -> Iterator[Probe]:
    stages, microbatches = int(rng.integers(2, 6)), int(rng.integers(2, 8))
    size = {"stages": stages, "microbatches": microbatches}
    order = bubble.fill_drain(stages, microbatches)
    yield Probe(1, "every_pair_in_order", "fill_drain", size, {"value": _rows(order)})
    by_stage = [[action for action in order if action.stage == stage] for stage in rng.permutation(stages)]
    mixed = [action for part in by_stage for action in part]
    spans = bubble.run_on_ticks(order, stages)
    yield Probe(2, "starts_when_both_are_there", "run_on_ticks",
                {"actions": ["actions", _rows(order)], "stages": stages}, {"value": _sorted(spans)})  # fmt: skip
    yield Probe(2, "any_order_of_stages", "run_on_ticks",
                {"actions": ["actions", _rows(mixed)], "stages": stages}, {"value": _sorted(spans)})  # fmt: skip
    backwards = [Action(stage, "F", number) for stage in range(stages) for number in reversed(range(microbatches))]
    yield Probe(2, "a_stage_keeps_its_own_order", "run_on_ticks",
                {"actions": ["actions", _rows(backwards)], "stages": stages},
                {"value": _sorted(bubble.run_on_ticks(backwards, stages)), "left": _rows(backwards)})  # fmt: skip
    paused = _paused(spans, rng)
    for claim, run, rows in (
        ("idle_cells_over_all_cells", spans, stages),
        ("no_formula_describes", paused, stages),
        ("idle_stage", paused, stages + 1),
    ):
        yield Probe(3, claim, "counted_bubble", {"spans": ["spans", _sorted(run)], "stages": rows},
                    {"value": str(bubble.counted_bubble(run, rows))})  # fmt: skip
    large = {"stages": int(rng.integers(3, 60)), "microbatches": int(rng.integers(3, 300))}
    yield Probe(4, "in_p_and_m_alone", "bubble_fraction", large, {"value": str(bubble.bubble_fraction(**large))})
    share = ["bubble_fraction", list(large.values()), ["fraction", str(bubble.bubble_fraction(**large))]]
    yield Probe(5, "idle_over_working_time", "bubble_overhead", {**large, "right": [share]},
                {"value": str(bubble.bubble_overhead(**large))})  # fmt: skip
    for claim, under in (("the_fewest_at_the_budget", False), ("the_fewest_under_it", True)):
        budget, deep = Fraction(1, int(rng.integers(3, 20))), int(rng.integers(2, 12))
        least = bubble.microbatches_for_budget(deep, budget, under=under)
        yield Probe(6, claim, "microbatches_for_budget",
                    {"stages": deep, "budget": ["fraction", str(budget)], "under": under, "right": [
                        ["bubble_fraction", [deep, number], ["fraction", str(bubble.bubble_fraction(deep, number))]]
                        for number in range(1, least + 2)]},
                    {"value": least})  # fmt: skip
    for under in (False, True):
        claim = f"no_budget_is_refused_{'under' if under else 'at_most'}"
        yield Probe(6, claim, "microbatches_for_budget",
                    {"stages": 4, "budget": ["fraction", str(-Fraction(int(rng.integers(2)), 7))], "under": under},
                    {"raised": ["OutOfRangeError: "]})  # fmt: skip
    wrong = int(rng.integers(1, len(spans)))
    early = replace(spans[-1], start=0, end=1)
    for claim, run, right in (
        ("a_real_run", spans, True),
        ("a_run_with_pauses", paused, True),
        ("an_action_left_out", spans[:wrong] + spans[wrong + 1 :], False),
        ("an_action_before_its_input", [*spans[:-1], early], False),
        ("an_action_twice", [*spans, spans[wrong]], False),
    ):
        yield Probe(7, claim, "is_valid", {"spans": ["spans", _sorted(run)], **size}, {"value": right})


def _rows(actions: list[Action]) -> Json:
    return [[stage, kind, microbatch] for stage, kind, microbatch in actions]


def _sorted(spans: list[Span]) -> Json:
    """Spans as rows, in the one order in which two lists of them can be compared."""
    return sorted([list(span.action), span.rank, span.start, span.end] for span in spans)


def _paused(spans: list[Span], rng: Draw) -> list[Span]:
    """The same run with every rank one pause behind the one before it."""
    pause = int(rng.integers(1, 4))
    return [replace(span, start=span.start + span.rank * pause, end=span.end + span.rank * pause) for span in spans]


_PROBES: Mapping[str, Callable[[Draw], Iterator[Probe]]] = MappingProxyType(
    {"lab-01": of_sharding, "lab-02": of_two_ranks, "lab-03": of_the_bill, "lab-04": _of_the_bubble}
)
