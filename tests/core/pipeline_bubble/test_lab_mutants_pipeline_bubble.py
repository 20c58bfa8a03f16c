"""Plausible wrong answers to lab 04: its tests kill each of them, and one says which rule was broken."""

import pytest

from tests.lab_runs import run_mutants, survivors

pytestmark = pytest.mark.slow

REFERENCE = """
from fractions import Fraction
from core.pipeline_bubble.bubble import (
    bubble_fraction, bubble_overhead, counted_bubble, fill_drain, is_valid, microbatches_for_budget, run_on_ticks
)
from core.pipeline_bubble.schedules.actions import Action, Span
"""

MUTANTS = {
    "the microbatches in turned order": (
        """
def fill_drain(stages, microbatches):
    return [Action(s, "F", k) for s in range(stages) for k in reversed(range(microbatches))]
""",
        "test_every_stage_runs_every_microbatch_once_and_in_order",
    ),
    "the list it was given emptied": (
        """
from core.pipeline_bubble.bubble import run_on_ticks as run_them

def run_on_ticks(actions, stages):
    return run_them([actions.pop(0) for _ in range(len(actions))], stages)
""",
        "test_a_stage_starts_a_microbatch_when_the_stage_before_has_ended_it",
    ),
    "stages that do not wait for their input": (
        """
def run_on_ticks(actions, stages):
    free = [0] * stages
    spans = []
    for action in actions:
        spans.append(Span(action, action.stage, free[action.stage], free[action.stage] + 1))
        free[action.stage] += 1
    return spans
""",
        "test_a_stage_starts_a_microbatch_when_the_stage_before_has_ended_it",
    ),
    "the formula in place of a simulation": (
        """
def run_on_ticks(actions, stages):
    return [Span(a, a.stage, a.stage + a.microbatch, a.stage + a.microbatch + 1) for a in actions]
""",
        "test_the_order_of_the_microbatches_on_a_stage_is_kept",
    ),
    "the fill counted and the drain forgotten": (
        """
def counted_bubble(spans, stages):
    spans = list(spans)
    idle = sum(min((s.start for s in spans if s.rank == rank), default=0) for rank in range(stages))
    return Fraction(idle, stages * max(s.end for s in spans))
""",
        "test_the_idle_cells_are_counted_on_the_grid",
    ),
    "the rows that are there taken for all rows": (
        """
def counted_bubble(spans, stages):
    spans = list(spans)
    cells = len({s.rank for s in spans}) * max(s.end for s in spans)
    return Fraction(cells - len(spans), cells)
""",
        "test_counting_works_on_runs_that_no_formula_describes",
    ),
    "p for p - 1": (
        """
def bubble_fraction(stages, microbatches):
    return Fraction(stages, microbatches + stages)
""",
        "test_counted_and_formula_are_the_same_fraction",
    ),
    "the overhead given as the fraction": (
        """
def bubble_fraction(stages, microbatches):
    return Fraction(stages - 1, microbatches)
""",
        "test_counted_and_formula_are_the_same_fraction",
    ),
    "a float where a fraction was asked for": (
        """
def bubble_overhead(stages, microbatches):
    return (stages - 1) / microbatches
""",
        "test_the_overhead_is_idle_over_working_time",
    ),
    "the budget in floating point": (
        """
import math
def microbatches_for_budget(stages, budget, *, under=False):
    least = (stages - 1) * (1 - float(budget)) / float(budget)
    return max(1, math.floor(least) + 1 if under else math.ceil(least))
""",
        "test_ten_percent_takes_63_microbatches_on_eight_stages_and_64_to_be_under",
    ),
    "under taken for at most": (
        """
def microbatches_for_budget(stages, budget, *, under=False):
    budget = Fraction(str(budget))
    return max(1, ((stages - 1) * (1 - budget) / budget).__ceil__())
""",
        "test_the_budget_is_met_by_this_many_and_not_by_one_less",
    ),
    "the overhead held to the budget": (
        """
def microbatches_for_budget(stages, budget, *, under=False):
    least = (stages - 1) / Fraction(str(budget))
    return max(1, least.__floor__() + 1 if under else least.__ceil__())
""",
        "test_ten_percent_takes_63_microbatches_on_eight_stages_and_64_to_be_under",
    ),
    "valid by count alone": (
        """
def is_valid(spans, stages, microbatches):
    return len({s.action for s in spans}) == stages * microbatches
""",
        "test_what_cannot_happen_is_not_valid",
    ),
    "a pause taken for an error": (
        """
def is_valid(spans, stages, microbatches):
    return all(s.start == s.action.stage + s.action.microbatch for s in spans)
""",
        "test_a_run_with_pauses_is_valid",
    ),
}


SAYS = {
    "the microbatches in turned order": "stage 0 takes [4, 3, 2, 1, 0]; each once, in order, is due",
    "the list it was given emptied": "run_on_ticks changed the list it was given",
    "stages that do not wait for their input": "its input 0F0 ends at 1",
    "the formula in place of a simulation": "its stage is busy, in its order",
    "the fill counted and the drain forgotten": "Only the fill was counted",
    "the rows that are there taken for all rows": "A stage that ran nothing is a row too",
    "p for p - 1": "One stage too many waits",
    "the overhead given as the fraction": "That is idle over work, the overhead",
    "a float where a fraction was asked for": "was returned as a float, and the Fraction ",
    "the budget in floating point": "Fraction(str(budget)) is exact",
    "under taken for at most": "That many meet the budget exactly; under it takes one more",
    "the overhead held to the budget": "That holds the overhead, (p - 1)/m, to the budget",
    "valid by count alone": "1F0 starts before its input 0F0 has ended",
    "a pause taken for an error": "late is slow, not wrong",
}
"""What the learner is told of each."""


def test_each_plausible_bug_dies_by_the_test_of_its_rule_and_is_told_why(tmp_path):
    graded = run_mutants("lab-04-pipeline-bubble", REFERENCE, MUTANTS, tmp_path)
    assert survivors(graded, MUTANTS) == set()
    for name, words in SAYS.items():
        assert words in " ".join(one.failure or "" for one in graded[name]), name
