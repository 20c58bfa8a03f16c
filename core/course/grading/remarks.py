"""What a lab and its judge say, a block of labs.md and its values; and what a submission's process says."""

from contextlib import suppress

from core.course.grading.tasks import LABS
from core.english import express, template
from core.errors import Remark, remark

LONGEST = 400
"""Characters of what is passed on."""
_DEEPEST = 8
"""Remarks in one another: whoever sends one chooses how many."""
_FROM = ("errors", "labs")
_NOT_WRITTEN = {
    f"{lab.key}, task {task.number}: {task.name}": remark(
        "errors.raised.not_written", lab=lab.key, number=task.number, name=task.name
    )
    for lab in LABS.values()
    for task in lab.tasks
}
"""What a starter's functions raise."""


def say(block: str, /, **values: object) -> Remark:
    """Return what a block of labs.md says: remarks among its values stand in it, all others as their texts do."""
    worded = {name: one if isinstance(one, Remark | tuple) else str(one) for name, one in values.items()}
    return Remark(f"labs.{block}", worded)


def remark_of(row: object) -> Remark:
    """Return the remark that a row of `core.errors.as_row` is; of anything else the beginning of its text."""
    said = _value(row, _DEEPEST)
    return said if isinstance(said, Remark) else remark("errors.own_words", words=said)


def in_words(text: str) -> Remark | str:
    """Return an error's own words; of a task that is not written yet, the remark."""
    return _NOT_WRITTEN.get(text, text)


def _value(row: object, deepest: int) -> object:
    match row:
        case bool() | int() | float():
            return row
        case [str(code), dict(values)] if deepest and code.partition(".")[0] in _FROM and template(code):
            said = Remark(code, {name: _value(one, deepest - 1) for name, one in values.items()})
            with suppress(KeyError, ValueError, TypeError):  # a field too few, or of another kind
                if len(express(said.code, said.values)) <= LONGEST:
                    return said
    return in_words(str(row)[:LONGEST])
