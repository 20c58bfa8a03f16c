"""A question of the quiz: its numbers, what may be answered, how an answer is judged. Its words are in content/.

A choice names its options, of which one is right; a number has an answer in SI, a tolerance, and the slips by which
it is known to be got wrong. Every option, slip and right answer has a block of prose of its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias, TypeVar

import numpy as np

from core.quantity import Dimension, Quantity, read_quantity
from core.units import bandwidth, binary_bytes, decimal_bytes, grouped, percent, plain, seconds

TOLERANCE = 0.02
"""Relative: room for rounding in the working, for no other formula."""

Concept = Literal[
    "sharding",
    "payload",
    "collectives",
    "latency or bandwidth",
    "the bill",
    "the node boundary",
    "waiting",
    "pipelines",
    "serving",
    "memory",
    "mixtures",
    "training",
    "units",
    "real ranks",
    "published slips",
]
Reply = Literal["right", "option", "slip", "wrong", "no_letter", "no_number", "no_unit", "other_unit"]
Draw = np.random.Generator
T = TypeVar("T")

_LETTERS = "abcdefgh"


@dataclass(frozen=True)
class Taught:
    """The scene that teaches it: a page's stem and the scene's name in code."""

    stem: str
    scene: str


@dataclass(frozen=True)
class Choice:
    """A question with options by name, in the order they are shown."""

    key: str
    concept: Concept
    taught: Taught
    options: tuple[str, ...]
    right: str
    fields: Mapping[str, str]

    @property
    def letters(self) -> str:
        """The letter of each option."""
        return _LETTERS[: len(self.options)]

    @property
    def key_answer(self) -> str:
        """The right answer as it would be typed."""
        return self.letters[self.options.index(self.right)]


@dataclass(frozen=True)
class Number:
    """A question whose answer is a quantity in SI. `slips` are the numbers a known mistake leads to."""

    key: str
    concept: Concept
    taught: Taught
    answer: float
    dimension: Dimension
    slips: Mapping[str, float]
    tolerance: float
    fields: Mapping[str, str]

    @property
    def key_answer(self) -> str:
        """The right answer as it would be typed."""
        return self.fields["answer"]


Question: TypeAlias = "Choice | Number"


@dataclass(frozen=True)
class Judged:
    """An answer judged. `block` is the prose that replies to it; `read` is False where nothing could be judged."""

    right: bool
    reply: Reply
    block: str
    read: bool = True


def judge(question: Question, said: str) -> Judged:
    """An answer as it was typed or chosen: a letter for a choice, a number with its unit for a number."""
    return _judge_choice(question, said) if isinstance(question, Choice) else _judge_number(question, said)


def _judge_choice(question: Choice, said: str) -> Judged:
    letter = said.strip().lower()
    if len(letter) != 1 or letter not in question.letters:
        return Judged(False, "no_letter", "judge.no_letter", read=False)
    option = question.options[question.letters.index(letter)]
    right = option == question.right
    return Judged(right, "right" if right else "option", f"{question.key}.why_{option}")


def _judge_number(question: Number, said: str) -> Judged:
    quantity = read_quantity(said)
    if quantity is None:
        return Judged(False, "no_number", "judge.no_number", read=False)
    if not _is_of(question, quantity):
        reply: Reply = "other_unit" if quantity.unit else "no_unit"
        return Judged(False, reply, f"judge.{reply}_{question.dimension}", read=bool(quantity.unit))
    if _close(quantity.value, question.answer, question.tolerance):
        return Judged(True, "right", f"{question.key}.why")
    for name, value in question.slips.items():
        if _close(quantity.value, value, question.tolerance):
            return Judged(False, "slip", f"{question.key}.slip_{name}")
    return Judged(False, "wrong", f"{question.key}.why")


def _is_of(question: Number, quantity: Quantity) -> bool:
    """Whether a quantity has the unit that is asked for: a count has none."""
    wanted = None if question.dimension == "count" else question.dimension
    return quantity.dimension == wanted and not (wanted is None and quantity.unit)


def _close(value: float, wanted: float, tolerance: float) -> bool:
    return abs(value - wanted) <= tolerance * abs(wanted) + 1e-12


def choice(
    key: str, concept: Concept, taught: Taught, right: str, wrong: Sequence[str], rng: Draw, **fields: object
) -> Choice:
    """A choice, its options in a drawn order."""
    options = (right, *wrong)
    order = rng.permutation(len(options))
    return Choice(key, concept, taught, tuple(options[place] for place in order), right, _as_text(fields))


def number(
    key: str,
    concept: Concept,
    taught: Taught,
    answer: float,
    dimension: Dimension,
    slips: Mapping[str, float],
    tolerance: float | None = None,
    **fields: object,
) -> Number:
    """A number to be worked out; a count is exact unless a tolerance is given.

    A slip that equals the answer is left out. The prose has the answer as `{{answer}}`, with its unit.
    """
    allowed = tolerance if tolerance is not None else 0.0 if dimension == "count" else TOLERANCE
    kept = {name: value for name, value in slips.items() if not _close(value, answer, allowed)}
    words = {"answer": shown(answer, dimension), **fields}
    return Number(key, concept, taught, answer, dimension, MappingProxyType(kept), allowed, _as_text(words))


def shown(value: float, dimension: Dimension) -> str:
    """A quantity as an answer is given."""
    match dimension:
        case "bytes":
            return binary_bytes(value) if value < 1e9 and value % 1024 == 0 else decimal_bytes(value)
        case "time":
            return seconds(value)
        case "bandwidth":
            return bandwidth(value)
        case "share":
            return percent(value)
        case "usd":
            return f"${value:.2f}"
        case "count":
            return grouped(round(value)) if value == round(value) else plain(value)


def pick(rng: Draw, *options: T) -> T:
    """One of a few, drawn."""
    return options[int(rng.integers(len(options)))]


def _as_text(fields: Mapping[str, object]) -> Mapping[str, str]:
    return MappingProxyType({name: str(value) for name, value in fields.items()})
