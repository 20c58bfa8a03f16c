"""What a learner's lab 04 code gave, judged against the reference task by task, and their run made drawable.

The code itself runs elsewhere. What it gave comes here in plain forms that JSON can hold: rows of an action or a
span, a fraction as text, a number, a truth value; so it may hold anything, and is read as such.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from core.errors import CodeError, OutOfRangeError
from core.pipeline_bubble import bubble as pipeline_bubble
from core.pipeline_bubble.schedules.actions import Action, Span

TASKS = (
    "fill_drain",
    "run_on_ticks",
    "counted_bubble",
    "bubble_fraction",
    "bubble_overhead",
    "microbatches_for_budget",
    "is_valid",
)
RUN = "run"
"""Beside the tasks: their order on their own clock, for the picture."""
BUDGET = "0.1"
MOST_ROWS = 4096


@dataclass(frozen=True)
class Submission:
    """One task as the learner's code did it: what it gave, or what it raised."""

    task: str
    gave: object = None
    error: CodeError | None = None


@dataclass(frozen=True)
class Judgement:
    """A submission against the reference. Where it is wrong, the first value or row that differs.

    With `lengths` the rows agree as far as both go, and `gave` and `due` are how many there are.
    """

    right: bool
    gave: object = None
    due: object = None
    lengths: bool = False


def result_of(task: str, lab: Any, stages: int, microbatches: int) -> object:
    """What a lab's module gives for a task at these sizes. Each is handed the reference's input."""
    order = pipeline_bubble.fill_drain(stages, microbatches)
    spans = pipeline_bubble.run_on_ticks(order, stages)
    cheat = pipeline_bubble.run_without_waiting(stages, microbatches)
    questions: dict[str, Callable[[], object]] = {
        "fill_drain": lambda: lab.fill_drain(stages, microbatches),
        "run_on_ticks": lambda: lab.run_on_ticks(order, stages),
        "counted_bubble": lambda: lab.counted_bubble(spans, stages),
        "bubble_fraction": lambda: lab.bubble_fraction(stages, microbatches),
        "bubble_overhead": lambda: lab.bubble_overhead(stages, microbatches),
        "microbatches_for_budget": lambda: [
            lab.microbatches_for_budget(stages, BUDGET, under=under) for under in (False, True)
        ],
        "is_valid": lambda: [lab.is_valid(run, stages, microbatches) for run in (spans, cheat)],
        RUN: lambda: lab.run_on_ticks(lab.fill_drain(stages, microbatches), stages),
    }
    return plain(questions[task]())


def plain(value: object) -> object:
    """A value of the lab's in a form that JSON can hold; of anything else its words.

    Raises OutOfRangeError for a list that is too long to be read.
    """
    if isinstance(value, bool | int):
        return value
    if isinstance(value, Action):
        return [*value]
    if isinstance(value, Span):
        return [*value.action, *(plain(number) for number in (value.rank, value.start, value.end))]
    if isinstance(value, list | tuple):
        if len(value) > MOST_ROWS:
            raise OutOfRangeError("len(result)", len(value), "at_most_read", most=MOST_ROWS)
        return [plain(part) for part in value]
    if isinstance(value, Fraction):
        return str(value)
    return repr(value)[:200]


def judge(submission: Submission, stages: int, microbatches: int) -> Judgement:
    """The submission held against the reference. In what order stages are listed is free."""
    gave = _in_order(submission.gave)
    due = _in_order(result_of(submission.task, pipeline_bubble, stages, microbatches))
    if submission.error is None and gave == due:
        return Judgement(right=True)
    if not (isinstance(gave, list) and isinstance(due, list)):
        return Judgement(False, gave, due)
    for theirs, ours in zip(gave, due, strict=False):
        if theirs != ours:
            return Judgement(False, theirs, ours)
    return Judgement(False, len(gave), len(due), lengths=True)


def run_of(submissions: Iterable[Submission], stages: int, microbatches: int) -> list[Span] | None:
    """The learner's run: their order on their clock, else our order on theirs, else theirs on ours; or None.

    Only spans that have a place on a grid of these sizes; `violations` says what is wrong with them.
    """
    gave = {given.task: given.gave for given in submissions if given.error is None}
    for task in (RUN, "run_on_ticks"):
        spans = _spans(gave.get(task), stages, microbatches)
        if spans:
            return spans
    actions = _actions(gave.get("fill_drain"), stages, microbatches)
    return pipeline_bubble.run_on_ticks(actions, stages) if actions else None


def _in_order(value: object) -> object:
    """Rows by stage, or spans by rank and start; what is no rows stays as it is."""
    if not (isinstance(value, list) and value and all(isinstance(row, list) for row in value)):
        return value
    return sorted(value, key=lambda row: [repr(part).zfill(9) for part in (row[:1] if len(row) == 3 else row[3:5])])


def _actions(rows: object, stages: int, microbatches: int) -> list[Action]:
    """The rows as actions that a forward run of these sizes may hold; none if any cannot."""
    actions = _rows(rows, 3)
    return [Action(*row) for row in actions] if all(_fits(row, stages, microbatches) for row in actions) else []


def _spans(rows: object, stages: int, microbatches: int) -> list[Span]:
    """The rows as spans with a place on the grid; none if any has none."""
    spans, latest = _rows(rows, 6), 4 * (stages + microbatches)
    placed = all(
        _fits(row, stages, microbatches)
        and _whole_below(row[3], stages)
        and all(_whole_below(time, latest) for time in row[4:])
        and row[4] < row[5]
        for row in spans
    )
    return [Span(Action(*row[:3]), *row[3:]) for row in spans] if placed else []


def _rows(value: object, width: int) -> list[list[Any]]:
    rows = value if isinstance(value, list) else []
    return rows if all(isinstance(row, list) and len(row) == width for row in rows) else []


def _fits(row: Sequence[object], stages: int, microbatches: int) -> bool:
    return _whole_below(row[0], stages) and row[1] == "F" and _whole_below(row[2], microbatches)


def _whole_below(value: object, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < most
