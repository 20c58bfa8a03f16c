"""The count of a decode step as an exercise: worked, with its last step blank, or blank; graded with its unit."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from core.quantity import read_quantity
from core.sharding_math.step_ledger import activation_bytes, step_ledger
from core.specs import DTYPE_BYTES, ModelSpec
from core.units import KB, KIB

Level: TypeAlias = Literal["worked", "last step", "blank"]
LEVELS: tuple[Level, ...] = ("worked", "last step", "blank")
TOLERANCE = 0.01
"""Of the value: room for an answer rounded to three figures, not for another unit (KiB against KB is 2.4 %)."""

BYTE_UNITS = ("B", "KiB", "MiB", "GiB", "KB", "MB", "GB")
"""What is offered; any unit of bytes is taken."""


Remark: TypeAlias = Literal["right", "no_number", "which_unit", "no_unit", "thousands", "half", "twice", "not_yet"]


@dataclass(frozen=True)
class Line:
    """One line of the calculation: a product of two factors. `is_bytes`: its answer has a unit."""

    asks: Literal["entries", "payload", "count", "total"]
    first: float
    second: float
    is_bytes: bool

    @property
    def value(self) -> float:
        """The product."""
        return self.first * self.second


def calculation(model: ModelSpec, tokens: int, tp_size: int, dtype: str = "bf16") -> tuple[Line, ...]:
    """What a step's all-reduces carry, in four lines. At `tp_size` 1 there are none, and the last two are 0."""
    count = step_ledger(model, tokens, tp_size, dtype).count()
    layers = model.num_hidden_layers
    return (
        Line("entries", tokens, model.hidden_size, False),
        Line("payload", tokens * model.hidden_size, DTYPE_BYTES[dtype], True),
        Line("count", count // layers, layers, False),
        Line("total", count, activation_bytes(model, tokens, dtype), True),
    )


def is_given(level: Level, line: int, lines: int) -> bool:
    """Whether a line is worked out for the learner at this level."""
    return level == "worked" or (level == "last step" and line < lines - 1)


def grade(answer: str, line: Line) -> Remark:
    """An answer such as `8 KiB` or `8192 B`, within the tolerance, in whatever unit of bytes it is given."""
    quantity = read_quantity(answer)
    if quantity is None:
        return "no_number"
    if line.is_bytes and quantity.dimension != "bytes":
        return "which_unit"
    if not line.is_bytes and quantity.unit:
        return "no_unit"
    value = quantity.value
    if abs(value - line.value) <= TOLERANCE * line.value:
        return "right"
    return _slip(value / line.value, line.is_bytes) if line.value else "not_yet"


def _slip(ratio: float, is_bytes: bool) -> Remark:
    """What a wrong value looks like, by its ratio to the right one."""
    slips: tuple[tuple[Remark, float], ...] = (("half", 0.5), ("twice", 2.0))
    if is_bytes:
        slips = (("thousands", KB / KIB), *slips)
    return next((remark for remark, slip in slips if abs(ratio - slip) < 0.005), "not_yet")
