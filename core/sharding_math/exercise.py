"""The count of a decode step as an exercise: worked, with its last step blank, or blank; graded with its unit."""

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from core.sharding_math.step_ledger import activation_bytes, step_ledger
from core.specs import DTYPE_BYTES, ModelSpec
from core.text.question import Number, number
from core.units import KB, KIB

Level: TypeAlias = Literal["worked", "last step", "blank"]
LEVELS: tuple[Level, ...] = ("worked", "last step", "blank")
TOLERANCE = 0.01
"""Of the value: room for an answer rounded to three figures, not for another unit (KiB against KB is 2.4 %)."""


@dataclass(frozen=True)
class Line:
    """One line of the calculation: a product of two factors. `is_bytes`: its answer has a unit."""

    asks: Literal["entries", "payload", "count", "total"]
    first: float
    second: float
    is_bytes: bool

    @property
    def value(self) -> float:
        return self.first * self.second

    @property
    def question(self) -> Number:
        """The line as it is asked, and how it is known to be missed: KB for KiB, half of it, twice."""
        slips = {"half": self.value / 2, "twice": 2 * self.value}
        if not self.is_bytes:
            return replace(number(self.value, "count", slips), key="by_hand")
        return replace(
            number(self.value, "bytes", {"thousands": self.value * KB / KIB, **slips}, TOLERANCE), key="by_hand"
        )


def calculation(model: ModelSpec, tokens: int, tp_size: int) -> tuple[Line, ...]:
    """What a step's all-reduces carry, in four lines. At `tp_size` 1 there are none, and the last two are 0."""
    count = step_ledger(model, tokens, tp_size).count()
    layers = model.num_hidden_layers
    return (
        Line("entries", tokens, model.hidden_size, False),
        Line("payload", tokens * model.hidden_size, DTYPE_BYTES["bf16"], True),
        Line("count", count // layers, layers, False),
        Line("total", count, activation_bytes(model, tokens), True),
    )


def is_given(level: Level, line: int, lines: int) -> bool:
    """Whether a line is worked out for the learner at this level."""
    return level == "worked" or (level == "last step" and line < lines - 1)
