"""The count of a decode step as an exercise: worked, with its last step blank, or blank; graded with its unit."""

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from core.sharding_math.step_ledger import activation_bytes, step_ledger
from core.specs import DTYPE_BYTES, ModelSpec
from core.units import GB, GIB, KB, KIB, MB, MIB, binary_bytes, grouped

Level: TypeAlias = Literal["worked", "last step", "blank"]
LEVELS: tuple[Level, ...] = ("worked", "last step", "blank")
TOLERANCE = 0.01
"""Of the value: room for an answer rounded to three figures, not for another unit (KiB against KB is 2.4 %)."""

_BYTES = {"B": 1, "KiB": KIB, "MiB": MIB, "GiB": GIB, "KB": KB, "kB": KB, "MB": MB, "GB": GB}
_ANSWER = re.compile(r"\s*([0-9][0-9\s,\u202f]*(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*")


@dataclass(frozen=True)
class Line:
    """One line of the calculation: what is asked, the arithmetic, its value and how that is written."""

    asks: str
    arithmetic: str
    value: float
    shown: str
    is_bytes: bool


@dataclass(frozen=True)
class Grade:
    """An answer judged, and what to say: the arithmetic, or what is wrong with the unit."""

    right: bool
    feedback: str


def calculation(model: ModelSpec, tokens: int, tp_size: int, dtype: str = "bf16") -> tuple[Line, ...]:
    """What a step's all-reduces carry, in four lines. At `tp_size` 1 there are none, and the last two are 0."""
    payload, count = activation_bytes(model, tokens, dtype), step_ledger(model, tokens, tp_size, dtype).count()
    entries, width = tokens * model.hidden_size, DTYPE_BYTES[dtype]
    a_layer = count // model.num_hidden_layers
    return (
        Line(
            "entries of one row of y a token",
            f"{grouped(tokens)} × {grouped(model.hidden_size)}",
            entries,
            grouped(entries),
            False,
        ),
        Line(
            "payload of one all-reduce",
            f"{grouped(entries)} × {width:g} B",
            payload,
            binary_bytes(payload),
            True,
        ),
        Line(
            "all-reduces in a step",
            f"{a_layer} × {model.num_hidden_layers}",
            count,
            str(count),
            False,
        ),
        Line(
            "payloads of a step together",
            f"{count} × {binary_bytes(payload)}",
            count * payload,
            binary_bytes(count * payload),
            True,
        ),
    )


def is_given(level: Level, line: int, lines: int) -> bool:
    """Whether a line is worked out for the learner at this level."""
    return level == "worked" or (level == "last step" and line < lines - 1)


def grade(answer: str, line: Line) -> Grade:
    """An answer such as `8 KiB` or `8192 B`, within the tolerance, in whatever unit of bytes it is given."""
    found = _ANSWER.fullmatch(answer)
    if found is None:
        return Grade(False, "A number is asked for, with its unit where it has one.")
    value, unit = float(re.sub(r"[\s,\u202f]", "", found[1])), found[2]
    if line.is_bytes and unit not in _BYTES:
        return Grade(False, f"In which unit? One of {', '.join(_BYTES)}.")
    if not line.is_bytes and unit:
        return Grade(False, "This is a count: it has no unit.")
    value *= _BYTES[unit] if line.is_bytes else 1
    if abs(value - line.value) <= TOLERANCE * line.value:
        return Grade(True, f"{line.arithmetic} = {line.shown}")
    return Grade(False, _hint(value, line))


def _hint(value: float, line: Line) -> str:
    """What a wrong value looks like, where it is a known slip; else the way to the right one."""
    if line.is_bytes and line.value and abs(value / line.value - KB / KIB) < 0.005:
        return "KB are thousands, KiB are 1024s: which of them did you mean?"
    if line.value and abs(value / line.value - 0.5) < 0.005:
        return "Half of it. Is something counted once that happens twice?"
    if line.value and abs(value / line.value - 2) < 0.005:
        return "Twice too much. Is something counted twice?"
    return f"Not yet: {line.arithmetic}."
