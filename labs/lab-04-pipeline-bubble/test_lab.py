"""Lab 04: the order, the run, the bubble counted and by formula, the budget, and what could never happen."""

from dataclasses import replace
from fractions import Fraction

import pytest

from core.errors import OutOfRangeError
from core.pipeline_bubble.schedules.actions import Action, Span
from labs.diagnosis import given, is_due, refuses

SIZES = [(1, 1), (1, 5), (8, 1), (2, 3), (3, 2), (4, 4), (8, 16), (5, 12)]


def by_hand(stages, microbatches):
    """A fill-drain run written down: stage s runs microbatch k from tick s + k."""
    return [Span(Action(s, "F", k), s, s + k, s + k + 1) for s in range(stages) for k in range(microbatches)]


def listed(found, kind):
    """What a function returned as a list of actions or spans; fail where it is none."""
    __tracebackhide__ = True
    if not isinstance(found, list | tuple):
        pytest.fail(f"{given(found)}, and a list of {kind.__name__}s is due.", pytrace=False)
    strange = next((type(one).__name__ for one in found if not isinstance(one, kind)), None)
    if strange:
        pytest.fail(f"An entry of the list has the type {strange}; {kind.__name__} is due.", pytrace=False)
    return found


def runs_as(spans, due):
    """Fail unless the spans are those that are due, and say what the first other one does wrong."""
    __tracebackhide__ = True
    found = {str(span.action): span for span in listed(spans, Span)}
    ends = {str(span.action): span.end for span in spans}
    if len(found) != len(spans) or found.keys() != {str(span.action) for span in due}:
        pytest.fail(f"{len(spans)} spans were returned for {len(due)} actions: one each is due.", pytrace=False)
    for wanted in sorted(due, key=lambda span: (span.start, span.rank)):
        name, span = str(wanted.action), found[str(wanted.action)]
        if span == wanted:
            continue
        before = f"{wanted.action.stage - 1}F{wanted.action.microbatch}"
        why = "rank and stage are the same number" if span.rank != wanted.rank else ""
        why = why or ("an action lasts one tick" if span.end - span.start != 1 else "")
        why = why or (f"its input {before} ends at {ends[before]}" if span.start < ends.get(before, 0) else "")
        why = why or (
            "nothing keeps it until then" if span.start > wanted.start else "its stage is busy, in its order"
        )
        pytest.fail(
            f"{name} runs on rank {span.rank} from {span.start} to {span.end}, and is due on rank {wanted.rank}"
            f" from {wanted.start} to {wanted.end}: {why}.",
            pytrace=False,
        )


@pytest.mark.parametrize(("stages", "microbatches"), SIZES)
def test_every_stage_runs_every_microbatch_once_and_in_order(lab, stages, microbatches):
    actions = listed(lab.fill_drain(stages, microbatches), Action)
    case = f"p={stages}, m={microbatches}"
    due = {f"{stage}F{microbatch}" for stage in range(stages) for microbatch in range(microbatches)}
    strange = next((str(action) for action in actions if str(action) not in due), None)
    if strange:
        hint = "an Action is stage, kind, microbatch, and both are counted from 0"
        pytest.fail(f"{case}: {strange} is none of the actions; {hint}.", pytrace=False)
    is_due(len(actions), len(due), f"{case}, actions", {"every stage runs every microbatch": microbatches})
    for stage in range(stages):
        own = [action.microbatch for action in actions if action.stage == stage]
        if own != list(range(microbatches)):
            pytest.fail(f"{case}: stage {stage} takes {own}; each once, in order, is due.", pytrace=False)


@pytest.mark.parametrize(("stages", "microbatches"), SIZES)
def test_a_stage_starts_a_microbatch_when_the_stage_before_has_ended_it(lab, stages, microbatches):
    actions = [span.action for span in by_hand(stages, microbatches)]
    given = list(actions)
    runs_as(lab.run_on_ticks(given, stages), by_hand(stages, microbatches))
    if given != actions:
        pytest.fail("run_on_ticks changed the list it was given: work on a copy of it.", pytrace=False)


def test_the_order_of_the_stages_in_the_list_says_nothing(lab):
    """Last stage first: the same run."""
    actions = [span.action for span in by_hand(3, 4)]
    missing = None
    try:
        spans = lab.run_on_ticks(sorted(actions, reverse=True, key=lambda a: a.stage), 3)
    except KeyError as error:
        missing = str(error)
    if missing is not None:
        pytest.fail(
            f"The list may name the last stage first: an input, {missing}, need not have run when its action is"
            " met.",
            pytrace=False,
        )
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
    slips = {"that is the share of the work: the bubble is what is idle": Fraction(work, cells)}
    if work:
        slips["that is idle over work, the overhead; the bubble is idle over all cells"] = Fraction(idle, work)
    if formula is not None:
        slips["that is the formula: count the cells of the run that is given"] = formula
    return slips


def test_the_idle_cells_are_counted_on_the_grid(lab):
    """2 stages, 3 microbatches: 4 ticks, 8 cells, one idle at each end."""
    slips = {**bubble_slips(2, 8), "only the fill was counted: the drain idles as long": Fraction(1, 8)}
    is_due(lab.counted_bubble(by_hand(2, 3), 2), Fraction(2, 8), "2 stages, 3 microbatches", slips)


def test_counting_works_on_runs_that_no_formula_describes(lab):
    """One microbatch on two stages, the second late: 2 busy of 2 x 5 cells. A stage that ran nothing idles too."""
    late = [Span(Action(0, "F", 0), 0, 0, 1), Span(Action(1, "F", 0), 1, 4, 5)]
    is_due(
        lab.counted_bubble(late, 2),
        Fraction(8, 10),
        "2 stages, the second late",
        bubble_slips(8, 10, Fraction(1, 2)),
    )
    slips = {"a stage that ran nothing is a row too, and idle": Fraction(8, 10), **bubble_slips(13, 15)}
    is_due(lab.counted_bubble(late, 3), Fraction(13, 15), "the same run on 3 stages", slips)


@pytest.mark.parametrize(("stages", "microbatches"), SIZES)
def test_counted_and_formula_are_the_same_fraction(lab, stages, microbatches):
    run = by_hand(stages, microbatches)
    cells = stages * max(span.end for span in run)
    slips = {
        **bubble_slips(cells - len(run), cells),
        "one stage too many waits: the first one never does": Fraction(stages, microbatches + stages),
        "the run lasts m + p - 1 ticks": Fraction(stages - 1, microbatches + stages),
    }
    case = f"p={stages}, m={microbatches}"
    is_due(lab.bubble_fraction(stages, microbatches), Fraction(cells - len(run), cells), case, slips)


def test_the_parts_work_together(lab):
    """An order, your run of it, and its idle cells: 7/23 at 8 stages and 16 microbatches, as the formula has it."""
    run = listed(lab.run_on_ticks([span.action for span in by_hand(8, 16)], 8), Span)
    idle = 8 * max(span.end for span in run) - len(run)
    is_due(idle, 56, "Idle cells of the run, p=8, m=16")
    is_due(Fraction(idle, idle + len(run)), Fraction(7, 23), "Counted, p=8, m=16", bubble_slips(56, 184))


@pytest.mark.parametrize(("stages", "microbatches"), SIZES)
def test_the_overhead_is_idle_over_working_time(lab, stages, microbatches):
    idle, ticks = stages - 1, stages + microbatches - 1
    slips = {"that is idle over all time, the bubble; the overhead is idle over work": Fraction(idle, ticks)}
    if idle:
        slips["that is work over idle"] = Fraction(microbatches, idle)
    case = f"p={stages}, m={microbatches}"
    is_due(lab.bubble_overhead(stages, microbatches), Fraction(idle, microbatches), case, slips)


def budget_is_due(lab, stages, budget, under):
    """The fewest microbatches by trial, in exact fractions."""
    __tracebackhide__ = True
    exact, least = Fraction(str(budget)), 1
    while (bubble := Fraction(stages - 1, least + stages - 1)) > exact or (under and bubble == exact):
        least += 1
    slips = {
        "that many meet the budget exactly; under it takes one more": least - 1 if under else None,
        "one less is at the budget exactly, and that is enough": None if under else least + 1,
        "that holds the overhead, (p - 1)/m, to the budget": -((1 - stages) / exact // 1),
    }
    case = f"p={stages}, a budget of {budget!r}, under={under}"
    if isinstance(budget, float):
        case += " (Fraction(str(budget)) is exact)"
    known = {words: wrong for words, wrong in slips.items() if wrong is not None}
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
    refuses(call, OutOfRangeError, f"A budget of {budget} for 4 stages, under={under}")


def judged(lab, run, stages, microbatches, due, what):
    """Fail unless a run is found as valid as it is."""
    __tracebackhide__ = True
    found = lab.is_valid(run, stages, microbatches)
    if found not in (True, False):
        pytest.fail(f"{given(found)}, and True or False is due.", pytrace=False)
    if bool(found) != due:
        verdict = "is right, and was refused" if due else "cannot happen, and was accepted"
        pytest.fail(f"This run {verdict}: {what}.", pytrace=False)


@pytest.mark.parametrize(("stages", "microbatches"), SIZES)
def test_a_real_run_is_valid(lab, stages, microbatches):
    what = f"p={stages}, m={microbatches}, each action as early as it can be"
    judged(lab, by_hand(stages, microbatches), stages, microbatches, True, what)


def test_a_run_with_pauses_is_valid(lab):
    """Late is slow, not wrong."""
    slow = [replace(span, start=2 * span.start, end=2 * span.start + 1) for span in by_hand(3, 4)]
    judged(lab, slow, 3, 4, True, "every other tick is a pause, and late is slow, not wrong")


def moved(run, action, start):
    """The run with one action at another time."""
    return [replace(span, start=start, end=start + 1) if str(span.action) == action else span for span in run]


SPOILT = {
    "the last action is missing": lambda run: run[:-1],
    "the first action is missing": lambda run: run[1:],
    "an action runs twice": lambda run: [*run, replace(run[-1], start=50, end=51)],
    "there is no such microbatch": lambda run: [*run, Span(Action(0, "F", 4), 0, 50, 51)],
    "1F0 starts before its input 0F0 has ended": lambda run: moved(run, "1F0", 0),
    "every stage but the first starts a tick too early": lambda run: [
        replace(span, start=span.start - 1, end=span.start) if span.rank else span for span in run
    ],
    "a stage runs two actions at a time": lambda run: [
        replace(span, start=6, end=7) if span.rank == 2 else span for span in run
    ],
}


@pytest.mark.parametrize("what", SPOILT)
def test_what_cannot_happen_is_not_valid(lab, what):
    judged(lab, SPOILT[what](by_hand(3, 4)), 3, 4, False, what)
