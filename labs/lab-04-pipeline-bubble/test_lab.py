"""Lab 04: the order, the run, the bubble counted and by formula, the budget, and what could never happen."""

from dataclasses import replace
from fractions import Fraction

import pytest

from core.errors import OutOfRangeError
from core.pipeline_bubble.schedules.actions import Action, Span
from labs.diagnosis import fail_type, is_due, refuses
from labs.spoken import fail, say

SIZES = [(1, 1), (1, 5), (8, 1), (2, 3), (3, 2), (4, 4), (8, 16), (5, 12)]


def by_hand(stages, microbatches):
    """A fill-drain run written down: stage s runs microbatch k from tick s + k."""
    return [Span(Action(s, "F", k), s, s + k, s + k + 1) for s in range(stages) for k in range(microbatches)]


def listed(found, kind):
    """What a function returned as a list of actions or spans; fail where it is none."""
    __tracebackhide__ = True
    if not isinstance(found, list | tuple):
        fail_type("result.{}_list", found, kind=f"{kind.__name__}s")
    strange = next((type(one).__name__ for one in found if not isinstance(one, kind)), None)
    if strange:
        fail("result.type_entry", found=strange, kind=kind.__name__)
    return found


def runs_as(spans, due):
    """Fail unless the spans are those that are due, and say what the first other one does wrong."""
    __tracebackhide__ = True
    found = {str(span.action): span for span in listed(spans, Span)}
    ends = {str(span.action): span.end for span in spans}
    if len(found) != len(spans) or found.keys() != {str(span.action) for span in due}:
        fail("result.spans", found=len(spans), due=len(due))
    for wanted in sorted(due, key=lambda span: (span.start, span.rank)):
        name, span = str(wanted.action), found[str(wanted.action)]
        if span == wanted:
            continue
        before = f"{wanted.action.stage - 1}F{wanted.action.microbatch}"
        if span.rank != wanted.rank:
            why = say("part.same_number")
        elif span.end - span.start != 1:
            why = say("part.one_tick")
        elif span.start < ends.get(before, 0):
            why = say("part.input_ends", before=before, tick=ends[before])
        else:
            why = say("part.not_kept" if span.start > wanted.start else "part.stage_busy")
        ran = {"name": name, "rank": span.rank, "start": span.start, "end": span.end, "because": why}
        fail("result.other_span", **ran, due=wanted.rank, begin=wanted.start, to=wanted.end)


@pytest.mark.parametrize(("stages", "microbatches"), SIZES)
def test_every_stage_runs_every_microbatch_once_and_in_order(lab, stages, microbatches):
    actions = listed(lab.fill_drain(stages, microbatches), Action)
    case, size = f"p={stages}, m={microbatches}", {"stages": stages, "microbatches": microbatches}
    due = {f"{stage}F{microbatch}" for stage in range(stages) for microbatch in range(microbatches)}
    strange = next((str(action) for action in actions if str(action) not in due), None)
    if strange:
        fail("result.no_action", case=case, strange=strange, first=0)
    is_due(len(actions), len(due), say("part.of_actions", **size), {say("slip.every_microbatch"): microbatches})
    for stage in range(stages):
        own = [action.microbatch for action in actions if action.stage == stage]
        if own != list(range(microbatches)):
            fail("result.other_order", case=case, stage=stage, own=own)


@pytest.mark.parametrize(("stages", "microbatches"), SIZES)
def test_a_stage_starts_a_microbatch_when_the_stage_before_has_ended_it(lab, stages, microbatches):
    actions = [span.action for span in by_hand(stages, microbatches)]
    given = list(actions)
    runs_as(lab.run_on_ticks(given, stages), by_hand(stages, microbatches))
    if given != actions:
        fail("result.changed_list")


def test_the_order_of_the_stages_in_the_list_says_nothing(lab):
    """Last stage first: the same run."""
    actions = [span.action for span in by_hand(3, 4)]
    missing = None
    try:
        spans = lab.run_on_ticks(sorted(actions, reverse=True, key=lambda a: a.stage), 3)
    except KeyError as error:
        missing = str(error)
    if missing is not None:
        fail("result.last_first", input=missing)
    runs_as(spans, by_hand(3, 4))


def test_the_order_of_the_microbatches_on_a_stage_is_kept(lab):
    """Stage 1 wants microbatch 1 first: it waits until tick 2, though microbatch 0 is there at tick 1."""
    actions = [Action(0, "F", 0), Action(0, "F", 1), Action(1, "F", 1), Action(1, "F", 0)]
    due = [
        Span(action, action.stage, start, start + 1) for action, start in zip(actions, (0, 1, 2, 3), strict=True)
    ]
    runs_as(lab.run_on_ticks(actions, 2), due)


def bubble_slips(idle, cells, formula=None):
    """Known wrong bubbles, by what is to be said of each."""
    work = cells - idle
    slips = {say("slip.share_of_work"): Fraction(work, cells)}
    if work:
        slips[say("slip.idle_over_work")] = Fraction(idle, work)
    if formula is not None:
        slips[say("slip.formula")] = formula
    return slips


def test_the_idle_cells_are_counted_on_the_grid(lab):
    """2 stages, 3 microbatches: 4 ticks, 8 cells, one idle at each end."""
    slips = {**bubble_slips(2, 8), say("slip.fill_alone"): Fraction(1, 8)}
    is_due(
        lab.counted_bubble(by_hand(2, 3), 2),
        Fraction(2, 8),
        say("part.stages_microbatches", stages="2", microbatches="3"),
        slips,
    )


def test_counting_works_on_runs_that_no_formula_describes(lab):
    """One microbatch on two stages, the second late: 2 busy of 2 x 5 cells. A stage that ran nothing idles too."""
    late = [Span(Action(0, "F", 0), 0, 0, 1), Span(Action(1, "F", 0), 1, 4, 5)]
    is_due(
        lab.counted_bubble(late, 2),
        Fraction(8, 10),
        say("part.second_late", stages="2"),
        bubble_slips(8, 10, Fraction(1, 2)),
    )
    slips = {say("slip.empty_row"): Fraction(8, 10), **bubble_slips(13, 15)}
    is_due(lab.counted_bubble(late, 3), Fraction(13, 15), say("part.same_run", stages="3"), slips)


@pytest.mark.parametrize(("stages", "microbatches"), SIZES)
def test_counted_and_formula_are_the_same_fraction(lab, stages, microbatches):
    run = by_hand(stages, microbatches)
    cells = stages * max(span.end for span in run)
    slips = {
        **bubble_slips(cells - len(run), cells),
        say("slip.stage_too_many"): Fraction(stages, microbatches + stages),
        say("slip.ticks", ticks="m + p - 1"): Fraction(stages - 1, microbatches + stages),
    }
    case = f"p={stages}, m={microbatches}"
    is_due(lab.bubble_fraction(stages, microbatches), Fraction(cells - len(run), cells), case, slips)


def test_the_parts_work_together(lab):
    """An order, your run of it, and its idle cells: 7/23 at 8 stages and 16 microbatches, as the formula has it."""
    run = listed(lab.run_on_ticks([span.action for span in by_hand(8, 16)], 8), Span)
    idle = 8 * max(span.end for span in run) - len(run)
    is_due(idle, 56, say("part.idle_cells", stages="8", microbatches="16"))
    is_due(
        Fraction(idle, idle + len(run)),
        Fraction(7, 23),
        say("part.counted", stages="8", microbatches="16"),
        bubble_slips(56, 184),
    )


@pytest.mark.parametrize(("stages", "microbatches"), SIZES)
def test_the_overhead_is_idle_over_working_time(lab, stages, microbatches):
    idle, ticks = stages - 1, stages + microbatches - 1
    slips = {say("slip.idle_over_all"): Fraction(idle, ticks)}
    if idle:
        slips[say("slip.work_over_idle")] = Fraction(microbatches, idle)
    case = f"p={stages}, m={microbatches}"
    is_due(lab.bubble_overhead(stages, microbatches), Fraction(idle, microbatches), case, slips)


def budget_is_due(lab, stages, budget, under):
    """The fewest microbatches by trial, in exact fractions."""
    __tracebackhide__ = True
    exact, least = Fraction(str(budget)), 1
    while (bubble := Fraction(stages - 1, least + stages - 1)) > exact or (under and bubble == exact):
        least += 1
    slips = {
        say("slip.under_takes_one"): least - 1 if under else None,
        say("slip.at_is_enough"): None if under else least + 1,
        say("slip.overhead_held", formula="(p - 1)/m"): -((1 - stages) / exact // 1),
    }
    exactly = "part.budget_exact" if isinstance(budget, float) else "part.budget"
    case = say(exactly, stages=stages, budget=repr(budget), under=under)
    known = {slip: wrong for slip, wrong in slips.items() if wrong is not None}
    is_due(lab.microbatches_for_budget(stages, budget, under=under), least, case, known)


@pytest.mark.parametrize("budget", [Fraction(1, 10), 0.1, "0.1"])
def test_ten_percent_takes_63_microbatches_on_eight_stages_and_64_to_be_under(lab, budget):
    """7 / (63 + 7) is one tenth exactly: at the budget, not under it."""
    budget_is_due(lab, 8, budget, under=False)
    budget_is_due(lab, 8, budget, under=True)


@pytest.mark.parametrize("stages", [2, 3, 4, 8, 12])
@pytest.mark.parametrize("budget", ["0.5", "0.3", "0.2", "0.05", "0.07"])
@pytest.mark.parametrize("under", [False, True])
def test_the_budget_is_met_by_this_many_and_not_by_one_less(lab, stages, budget, under):
    budget_is_due(lab, stages, budget, under)


def test_one_stage_meets_any_budget_with_one_microbatch(lab):
    budget_is_due(lab, 1, "0.1", under=False)


@pytest.mark.parametrize("budget", [0, "0.0", -0.1, Fraction(-1, 3)])
@pytest.mark.parametrize("under", [False, True])
def test_a_budget_of_nothing_is_refused(lab, budget, under):
    """Some of several stages always idle."""
    call = lambda: lab.microbatches_for_budget(4, budget, under=under)  # noqa: E731
    refuses(call, OutOfRangeError, say("part.budget_for", budget=budget, stages=4, under=under))


def judged(lab, run, stages, microbatches, due, what):
    """Fail unless a run is found as valid as it is."""
    __tracebackhide__ = True
    found = lab.is_valid(run, stages, microbatches)
    if found not in (True, False):
        fail_type("result.{}_truth", found)
    if bool(found) != due:
        fail("result.run_refused" if due else "result.run_accepted", because=what)


@pytest.mark.parametrize(("stages", "microbatches"), SIZES)
def test_a_real_run_is_valid(lab, stages, microbatches):
    what = say("part.real_run", stages=stages, microbatches=microbatches)
    judged(lab, by_hand(stages, microbatches), stages, microbatches, True, what)


def test_a_run_with_pauses_is_valid(lab):
    """Late is slow, not wrong."""
    slow = [replace(span, start=2 * span.start, end=2 * span.start + 1) for span in by_hand(3, 4)]
    judged(lab, slow, 3, 4, True, say("part.pauses"))


def moved(run, action, start):
    """The run with one action at another time."""
    return [replace(span, start=start, end=start + 1) if str(span.action) == action else span for span in run]


SPOILT = {
    say("part.last_missing"): lambda run: run[:-1],
    say("part.first_missing"): lambda run: run[1:],
    say("part.twice"): lambda run: [*run, replace(run[-1], start=50, end=51)],
    say("part.no_microbatch"): lambda run: [*run, Span(Action(0, "F", 4), 0, 50, 51)],
    say("part.before_input", action="1F0", input="0F0"): lambda run: moved(run, "1F0", 0),
    say("part.too_early"): lambda run: [
        replace(span, start=span.start - 1, end=span.start) if span.rank else span for span in run
    ],
    say("part.two_at_a_time"): lambda run: [
        replace(span, start=6, end=7) if span.rank == 2 else span for span in run
    ],
}


@pytest.mark.parametrize("what", SPOILT, ids=str)
def test_what_cannot_happen_is_not_valid(lab, what):
    judged(lab, SPOILT[what](by_hand(3, 4)), 3, 4, False, what)
