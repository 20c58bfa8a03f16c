"""The words of a pipeline: an action, where it runs, and when it ran.

p ranks hold v chunks each, so there are p·v stages; with v = 1 a stage is a rank.
"""

import re
from dataclasses import dataclass
from fractions import Fraction
from operator import index
from typing import Literal, NamedTuple

from core.errors import OutOfRangeError

Kind = Literal["F", "B", "I", "W"]
"""Forward, full backward, backward for the input, backward for the weight, as PyTorch's letters. B is I and W."""

Time = int | Fraction
"""Any unit, kept exact: a float from outside comes in by `exact`."""

_NUMBER = re.compile(r"[+-]?(\d+/\d+|(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?)")


class Action(NamedTuple):
    """One computation of one microbatch on one stage. Prints as PyTorch's pipelining does: `2F0`.

    A named tuple, for there are many of them: it is made in half the time of a frozen dataclass.
    """

    stage: int
    kind: Kind
    microbatch: int

    def __str__(self) -> str:
        return f"{self.stage}{self.kind}{self.microbatch}"


@dataclass(frozen=True, slots=True)
class Span:
    """An action with its place on the clock: `rank` is busy with it from `start` up to `end`."""

    action: Action
    rank: int
    start: Time
    end: Time


@dataclass(frozen=True)
class Placement:
    """Which rank holds which stage.

    `loop` distributes the stages round and round (stage s on rank s mod p); `v` goes down the ranks and back up,
    so that rank 0 holds the first stage and the last.
    """

    ranks: int
    chunks: int = 1
    shape: Literal["loop", "v"] = "loop"

    def __post_init__(self) -> None:
        whole("ranks", self.ranks)
        whole("chunks", self.chunks)
        if self.shape == "v" and self.chunks != 2:
            raise OutOfRangeError("chunks", self.chunks, "folded", chunks=2)

    @property
    def stages(self) -> int:
        """p·v: chunks of layers, over all ranks."""
        return self.ranks * self.chunks

    def rank(self, stage: int) -> int:
        if self.shape == "v" and stage >= self.ranks:
            return self.stages - 1 - stage
        return stage % self.ranks

    def chunk(self, stage: int) -> int:
        """Which of its rank's chunks `stage` is, 0 being the first in the direction of the forward pass."""
        return stage // self.ranks


def whole(name: str, value: int, least: int = 1) -> int:
    """`value` as an int, when it is a whole number of at least `least`.

    Raises OutOfRangeError for a smaller one, a fraction, a truth value or anything that is no number.
    """
    try:
        number = None if isinstance(value, bool) else index(value)
    except TypeError:
        number = None
    if number is None or number < least:
        raise OutOfRangeError(name, value, "whole_or_more", least=least)
    return number


def exact(name: str, value: int | float | str | Fraction) -> Fraction:
    """`value` as the fraction it was written as: `0.1` is 1/10, not the double nearest to it.

    Raises OutOfRangeError for text that is no number, for nan and infinity, and for exponents beyond three digits.
    """
    text = str(value)
    if not _NUMBER.fullmatch(text) or re.search(r"/0+$", text):
        raise OutOfRangeError(name, value, "a_number_such", a="1/10", b=0.1)
    return Fraction(text)
