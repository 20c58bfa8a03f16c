"""What a submission's process said, read from bytes: an answer to be judged, or a remark on why there is none.

Every sequence of bytes is one of the two. What is read is bounded in depth, in the digits of a number and in the
length of a text, and its texts can be written to any file.
"""

import json
from collections.abc import Mapping
from typing import Any

from core.course.grading.remarks import say
from core.errors import Remark

DEEPEST = 40
"""Lists in lists: an answer that is right has three at most."""
MOST_DIGITS = 1_000
LONGEST_TEXT = 2_000
UNREADABLE = say("judge.unreadable")


def answer_in(line: bytes) -> Mapping[str, Any] | Remark:
    """The answer that a line of bytes is, or why it is none."""
    try:
        answer = json.loads(line.decode("utf-8", errors="replace"), parse_int=_integer)
    except _TooLongError as error:
        return say("judge.digits", digits=error)
    except (ValueError, RecursionError, MemoryError):
        return UNREADABLE
    if not isinstance(answer, dict):
        return UNREADABLE
    if _depth(answer) > DEEPEST:
        return say("judge.too_deep", most=DEEPEST)
    return {writable(name): _plain(value) for name, value in answer.items()}


def writable(text: str) -> str:
    """A text that any file can hold: at most so long, without half of a pair and without control characters."""
    kept = text[:LONGEST_TEXT].encode("utf-8", errors="replace").decode("utf-8")
    return "".join(one if one >= " " and not "\x7f" <= one <= "\x9f" else " " for one in kept)


class _TooLongError(Exception):
    """A number of the answer has too many digits to be compared."""


def _integer(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise _TooLongError(len(digits.lstrip("-")))
    return int(digits)


def _depth(value: object) -> int:
    """How many lists or objects stand in one another, counted layer by layer."""
    layer, depth = [value], 0
    while layer := [one for one in layer if isinstance(one, dict | list)]:
        depth += 1
        layer = [inner for one in layer for inner in (one.values() if isinstance(one, dict) else one)]
    return depth


def _plain(value: Any) -> Any:
    """The value with each of its texts in a form that can be written."""
    if isinstance(value, str):
        return writable(value)
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {writable(name): _plain(one) for name, one in value.items()}
    return value
