"""Lab 04: the order, the run, the bubble counted and by formula, the budget, and what could never happen."""

from dataclasses import replace
from fractions import Fraction

import pytest

from core.pipeline_bubble.schedules.actions import Action, Span

SIZES = [(1, 1), (1, 5), (8, 1), (2, 3), (3, 2), (4, 4), (8, 16), (5, 12)]


def by_hand(stages, microbatches):
    """A fill-drain run written down: stage s runs microbatch k from tick s + k."""
    return [Span(Action(s, "F", k), s, s + k, s + k + 1) for s in range(stages) for k in range(microbatches)]


@pytest.mark.parametrize(("stages", "microbatches"), SIZES)
def test_every_stage_runs_every_microbatch_once_and_in_order(lab, stages, microbatches):
    actions = lab.fill_drain(stages, microbatches)
    assert len(actions) == stages * microbatches
    for stage in range(stages):
        own = [str(action) for action in actions if action.stage == stage]
        assert own == [f"{stage}F{microbatch}" for microbatch in range(microbatches)]


@pytest.mark.parametrize(("stages", "microbatches"), SIZES)
def test_a_stage_starts_a_microbatch_when_the_stage_before_has_ended_it(lab, stages, microbatches):
    actions = [span.action for span in by_hand(stages, microbatches)]
    assert set(lab.run_on_ticks(actions, stages)) == set(by_hand(stages, microbatches))


def test_the_order_of_the_stages_in_the_list_says_nothing(lab):
    """Last stage first: the same run."""
    actions = [span.action for span in by_hand(3, 4)]
    assert set(lab.run_on_ticks(sorted(actions, reverse=True, key=lambda a: a.stage), 3)) == set(by_hand(3, 4))


def test_the_order_of_the_microbatches_on_a_stage_is_kept(lab):
    """Stage 1 wants microbatch 1 first: it waits until tick 2, though microbatch 0 is there at tick 1."""
    actions = [Action(0, "F", 0), Action(0, "F", 1), Action(1, "F", 1), Action(1, "F", 0)]
    starts = {str(span.action): span.start for span in lab.run_on_ticks(actions, 2)}
    assert starts == {"0F0": 0, "0F1": 1, "1F1": 2, "1F0": 3}


def test_the_idle_cells_are_counted_on_the_grid(lab):
    """2 stages, 3 microbatches: 4 ticks, 8 cells, one idle at each end."""
    assert lab.counted_bubble(by_hand(2, 3), 2) == Fraction(2, 8)


def test_counting_works_on_runs_that_no_formula_describes(lab):
    """One microbatch on two stages, the second late: 2 busy of 2 x 5 cells. A stage that ran nothing idles too."""
    late = [Span(Action(0, "F", 0), 0, 0, 1), Span(Action(1, "F", 0), 1, 4, 5)]
    assert lab.counted_bubble(late, 2) == Fraction(8, 10)
    assert lab.counted_bubble(late, 3) == Fraction(13, 15)


@pytest.mark.parametrize(("stages", "microbatches"), SIZES)
def test_counted_and_formula_are_the_same_fraction(lab, stages, microbatches):
    formula = lab.bubble_fraction(stages, microbatches)
    assert isinstance(formula, Fraction)
    run = by_hand(stages, microbatches)
    cells = stages * max(span.end for span in run)
    assert formula == Fraction(cells - len(run), cells)


def test_the_parts_work_together(lab):
    """Your order, your run, your count, your formula: 7/23 at 8 stages and 16 microbatches."""
    run = lab.run_on_ticks(lab.fill_drain(8, 16), 8)
    assert lab.counted_bubble(run, 8) == lab.bubble_fraction(8, 16) == Fraction(7, 23)


@pytest.mark.parametrize(("stages", "microbatches"), SIZES)
def test_the_overhead_is_idle_over_working_time(lab, stages, microbatches):
    overhead = lab.bubble_overhead(stages, microbatches)
    assert isinstance(overhead, Fraction)
    ticks = stages + microbatches - 1
    assert overhead == Fraction(ticks - microbatches, microbatches)


@pytest.mark.parametrize("budget", [Fraction(1, 10), 0.1, "0.1"])
def test_ten_percent_takes_63_microbatches_on_eight_stages_and_64_to_be_under(lab, budget):
    """7 / (63 + 7) is one tenth exactly: at the budget, not under it."""
    assert lab.microbatches_for_budget(8, budget) == 63
    assert lab.microbatches_for_budget(8, budget, under=True) == 64


@pytest.mark.parametrize("stages", [2, 3, 4, 8, 12])
@pytest.mark.parametrize("budget", ["0.5", "0.3", "0.2", "0.05", "0.07"])
@pytest.mark.parametrize("under", [False, True])
def test_the_budget_is_met_by_this_many_and_not_by_one_less(lab, stages, budget, under):
    found = lab.microbatches_for_budget(stages, budget, under=under)

    def meets(microbatches):
        bubble = Fraction(stages - 1, microbatches + stages - 1)
        return bubble < Fraction(budget) if under else bubble <= Fraction(budget)

    assert meets(found)
    assert found == 1 or not meets(found - 1)


def test_one_stage_meets_any_budget_with_one_microbatch(lab):
    assert lab.microbatches_for_budget(1, "0.1") == 1


@pytest.mark.parametrize(("stages", "microbatches"), SIZES)
def test_a_real_run_is_valid(lab, stages, microbatches):
    assert lab.is_valid(by_hand(stages, microbatches), stages, microbatches)


def test_a_run_with_pauses_is_valid(lab):
    """Late is slow, not wrong."""
    assert lab.is_valid(
        [replace(span, start=2 * span.start, end=2 * span.start + 1) for span in by_hand(3, 4)], 3, 4
    )


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda run: run[:-1], id="the last action is missing"),
        pytest.param(lambda run: run[1:], id="the first action is missing"),
        pytest.param(lambda run: [*run, replace(run[-1], start=50, end=51)], id="an action runs twice"),
        pytest.param(lambda run: [*run, Span(Action(0, "F", 4), 0, 50, 51)], id="there is no such microbatch"),
        pytest.param(
            lambda run: [replace(s, start=0, end=1) if str(s.action) == "1F0" else s for s in run], id="early"
        ),
        pytest.param(
            lambda run: [replace(s, start=s.start - 1, end=s.start) if s.rank else s for s in run], id="all early"
        ),
        pytest.param(
            lambda run: [replace(s, start=6, end=7) if s.rank == 2 else s for s in run], id="two at a time"
        ),
    ],
)
def test_what_cannot_happen_is_not_valid(lab, spoil):
    assert not lab.is_valid(spoil(by_hand(3, 4)), 3, 4)
