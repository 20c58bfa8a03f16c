"""The pipeline bubble: counted on a run against the closed form, as exact fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import OutOfRangeError
from core.pipeline_bubble.bubble import (
    bubble_fraction,
    bubble_overhead,
    counted_bubble,
    fill_drain,
    formulas,
    is_valid,
    microbatches_for_budget,
    run_on_ticks,
    run_without_waiting,
    timeline_on_ticks,
)
from core.pipeline_bubble.schedules.grid import tick_grid
from core.pipeline_bubble.schedules.validity import violations
from tests.each import each

sizes = st.integers(1, 12)
budgets = st.fractions(Fraction(1, 50), 1, max_denominator=60)


@given(stages=sizes, microbatches=st.integers(1, 40))
def test_counted_bubble_equals_the_formula_exactly(stages, microbatches):
    """Two ways to one fraction: idle cells of a simulated run over all cells, and (p - 1) / (m + p - 1)."""
    spans = run_on_ticks(fill_drain(stages, microbatches), stages)
    assert counted_bubble(spans, stages) == bubble_fraction(stages, microbatches)


def test_eight_stages_and_sixteen_microbatches_idle_seven_of_twenty_three():
    """56 idle cells of 8 x 23: 28 in the triangle of the fill and 28 in that of the drain."""
    grid = tick_grid(run_on_ticks(fill_drain(8, 16), 8), 8)
    assert grid.shape == (8, 23)
    idle = grid == -1
    assert (idle.sum(), np.tril(idle, -1).sum(), np.triu(idle, 1).sum()) == (56, 28, 28)
    assert bubble_fraction(8, 16) == Fraction(56, 8 * 23) == Fraction(7, 23)


@given(stages=sizes, microbatches=st.integers(1, 40))
def test_a_microbatch_reaches_a_stage_one_tick_after_the_stage_before(stages, microbatches):
    """In fill-drain stage s starts microbatch k at tick s + k, whatever the sizes."""
    for span in run_on_ticks(fill_drain(stages, microbatches), stages):
        assert (span.start, span.end) == (span.action.stage + span.action.microbatch, span.start + 1)


@given(stages=sizes, microbatches=st.integers(1, 40))
def test_fraction_and_overhead_are_one_bubble_on_two_grounds(stages, microbatches):
    """idle/total = f and idle/ideal = o means o = f / (1 - f)."""
    fraction, overhead = bubble_fraction(stages, microbatches), bubble_overhead(stages, microbatches)
    assert overhead == fraction / (1 - fraction) == Fraction(stages - 1, microbatches)


def test_one_stage_never_idles_and_one_microbatch_leaves_one_stage_busy():
    assert bubble_fraction(1, 5) == 0
    assert bubble_fraction(8, 1) == Fraction(7, 8)


def test_ten_percent_on_eight_stages_takes_63_microbatches_and_64_to_be_under():
    """7 / (63 + 7) is 1/10 exactly, so 63 is at the budget and 64 the first below it."""
    assert bubble_fraction(8, 63) == Fraction(1, 10)
    for budget in (Fraction(1, 10), 0.1, "0.1", "1/10", np.float64(0.1)):
        assert microbatches_for_budget(8, budget) == 63
        assert microbatches_for_budget(8, budget, under=True) == 64


def test_floating_point_would_call_63_microbatches_under_ten_percent():
    """The trap the exact fractions avoid: 1 - 63/70 comes out below 0.1."""
    assert 1 - 63 / 70 < 0.1
    assert not bubble_fraction(8, 63) < Fraction(1, 10)


@given(stages=sizes, budget=budgets, under=st.booleans())
def test_the_budget_solver_finds_the_fewest_microbatches(stages, budget, under):
    """Its answer meets the budget and one microbatch less does not."""

    def meets(microbatches):
        fraction = bubble_fraction(stages, microbatches)
        return fraction < budget if under else fraction <= budget

    least = microbatches_for_budget(stages, budget, under=under)
    assert meets(least)
    assert least == 1 or not meets(least - 1)


@pytest.mark.parametrize("budget", [0, -0.1, "0", "nan", "ten", float("inf"), "1/0", "1e999999999"])
def test_a_budget_that_cannot_be_met_is_refused(budget):
    with pytest.raises(OutOfRangeError, match="budget="):
        microbatches_for_budget(8, budget)


def test_a_budget_of_zero_is_met_by_one_stage_alone():
    assert microbatches_for_budget(1, 0) == 1
    with pytest.raises(OutOfRangeError, match="above 0"):
        microbatches_for_budget(1, 0, under=True)


@each("size", [0, -1, 2.5, "8", True, None])
@each("function", [fill_drain, bubble_fraction, bubble_overhead])
def test_sizes_are_whole_and_at_least_one(function, size):
    with pytest.raises(OutOfRangeError, match="stages="):
        function(size, 4)
    with pytest.raises(OutOfRangeError, match="microbatches="):
        function(4, size)


@given(stages=sizes, microbatches=st.integers(1, 20))
def test_the_simulated_run_is_valid(stages, microbatches):
    assert is_valid(run_on_ticks(fill_drain(stages, microbatches), stages), stages, microbatches)


def test_stages_that_do_not_wait_have_no_bubble_and_break_the_input_rule():
    """All eight stages at tick 0: nothing idles, and stages 1 to 7 start all 16 microbatches without input."""
    wrong = run_without_waiting(8, 16)
    assert counted_bubble(wrong, 8) == 0
    broken = list(violations(wrong, 8, 16))
    assert {violation.rule for violation in broken} == {"early"}
    assert len(broken) == 7 * 16


def test_one_stage_a_tick_early_is_caught_on_that_stage_alone():
    broken = list(violations(run_without_waiting(8, 16, early_stage=3), 8, 16))
    assert {violation.span.action.stage for violation in broken} == {3}
    first = broken[0]
    assert (str(first.action), first.span.start, str(first.other), first.ended) == ("3F0", 2, "2F0", 3)


def test_order_across_ranks_does_not_matter_and_order_on_a_rank_does():
    """A list sorted by microbatch gives the same run; a stage that turns its order round waits for the last one."""
    by_microbatch = sorted(fill_drain(3, 4), key=lambda action: action.microbatch)
    assert set(run_on_ticks(by_microbatch, 3)) == set(run_on_ticks(fill_drain(3, 4), 3))
    turned = [*fill_drain(1, 4), *(action for action in reversed(fill_drain(2, 4)) if action.stage == 1)]
    assert timeline_on_ticks(turned, 2).makespan == 8


def test_every_formula_it_is_mistaken_for_gives_another_number():
    """At p = 8, m = 16: 7/23 is right; 7/16, 8/24, 7/46 and 7/8 are what the others give."""
    fractions = [formula.fraction for formula in formulas(8, 16)]
    assert fractions == [Fraction(7, 23), Fraction(7, 16), Fraction(1, 3), Fraction(7, 46), Fraction(7, 8)]


def test_nothing_run_has_no_bubble_fraction():
    with pytest.raises(OutOfRangeError):
        counted_bubble([], 4)
