"""A question: its numbers, what may be answered, which wrong answers are known, how an answer is judged.

One engine for the quiz, for a student's own questions to a lab and for what a room predicts. A choice names its
options, of which one is right; a number has an answer in SI, a tolerance, and the slips by which it is known to be
got wrong. Words are in content/: every option, slip and right answer has a block of its own.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal, TypeAlias, TypeVar

import numpy as np

from core.text.quantity import Dimension, Quantity, read_quantity, readings
from core.units import bandwidth, binary_bytes, decimal_bytes, grouped, percent, plain, seconds

TOLERANCE = 0.02
"""Relative: room for rounding in the working, for no other formula."""

Concept = Literal[
    "",
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
"""What a question of the quiz counts for; "" for one of a lab's."""

Reply = Literal["right", "option", "slip", "wrong", "no_letter", "no_number", "no_unit", "other_unit"]
Draw = np.random.Generator
T = TypeVar("T")

_LETTERS = "abcdefgh"


@dataclass(frozen=True)
class Taught:
    """The scene that teaches it: a page's stem and the scene's name in code."""

    stem: str
    scene: str


NOWHERE = Taught("", "")


@dataclass(frozen=True)
class Choice:
    """A question with options by name, in the order they are shown."""

    options: tuple[str, ...]
    right: str
    fields: Mapping[str, str]
    key: str = ""
    concept: Concept = ""
    taught: Taught = NOWHERE

    @property
    def letters(self) -> str:
        """The letter of each option."""
        return _LETTERS[: len(self.options)]

    @property
    def key_answer(self) -> str:
        """The right answer as it would be typed."""
        return self.letters[self.options.index(self.right)]


@dataclass(frozen=True)
class Accepted:
    """The right number and the wrong ones that are known; `share` of a number, and `room` beside, is near it."""

    answer: float
    slips: Mapping[str, float]
    share: float = 0.0
    room: float = 1e-12

    def meant(self, value: float) -> str | None:
        """The slip that a value is nearest to, "" for the answer; None where it is near none of them.

        Of two as near it is the answer, so that nobody who is right is told of a slip.
        """
        known = {"": self.answer, **self.slips}
        near = [
            name for name, wanted in known.items() if abs(value - wanted) <= self.share * abs(wanted) + self.room
        ]
        return min(near, key=lambda name: abs(value - known[name]), default=None)


@dataclass(frozen=True)
class Heap:
    """How many said about the number that a slip leads to."""

    slip: str
    value: float
    count: int


def heaps(
    counts: Iterable[tuple[float, int]], truth: float, slips: Mapping[str, float], reach: float
) -> list[Heap]:
    """The slips that somebody made, the most frequent first.

    Each number belongs to the nearest of the truth and the slips, if it is within `reach` of it; of two as near, to
    the truth. So no voter is counted twice, and who is right is in no heap.
    """
    accepted = Accepted(truth, slips, room=reach)
    made: Counter[str] = Counter()
    for answer, count in counts:
        if slip := accepted.meant(answer):
            made[slip] += count
    return [Heap(slip, slips[slip], count) for slip, count in made.most_common()]


@dataclass(frozen=True)
class Number:
    """A question whose answer is a quantity in SI. `slips` are the numbers a known mistake leads to.

    With a `unit` a bare number is taken in it, and a count may be followed by it; without one a unit is asked for.
    """

    answer: float
    dimension: Dimension
    slips: Mapping[str, float]
    tolerance: float
    fields: Mapping[str, str]
    unit: str = ""
    key: str = ""
    concept: Concept = ""
    taught: Taught = NOWHERE

    @property
    def in_unit(self) -> float:
        """The answer in its unit."""
        return self.answer / self.unit_size

    @property
    def unit_size(self) -> float:
        """The unit in SI; 1 for a count, whatever is counted, and where no unit is named."""
        unit = read_quantity(f"1 {self.unit}")
        return unit.value if unit else 1.0

    @property
    def key_answer(self) -> str:
        """The right answer as it would be typed."""
        return self.fields["answer"]


Question: TypeAlias = "Choice | Number"
Q = TypeVar("Q", bound=Choice | Number)


@dataclass(frozen=True)
class Judged:
    """An answer judged. `block` is the prose that replies to it; `read` is False where nothing could be judged."""

    right: bool
    reply: Reply
    block: str
    read: bool = True


def judge(question: Question, answer: str) -> Judged:
    """An answer as it was typed or chosen: a letter for a choice, a number with its unit for a number."""
    return _judge_choice(question, answer) if isinstance(question, Choice) else _judge_number(question, answer)


def _judge_choice(question: Choice, answer: str) -> Judged:
    letter = answer.strip().lower()
    if len(letter) != 1 or letter not in question.letters:
        return Judged(False, "no_letter", "judge.no_letter", read=False)
    option = question.options[question.letters.index(letter)]
    right = option == question.right
    return Judged(right, "right" if right else "option", f"{question.key}.why_{option}")


def _judge_number(question: Number, answer: str) -> Judged:
    """By the meaning that is right, where a mark may be a decimal one or not; by the first where none is."""
    meant = readings(answer, ",." if question.dimension == "count" else ",")
    judged = [_judge_quantity(question, quantity) for quantity in meant]
    unread = Judged(False, "no_number", "judge.no_number", read=False)
    return next((one for one in judged if one.right), judged[0] if judged else unread)


def _judge_quantity(question: Number, quantity: Quantity) -> Judged:
    value = _in_si(question, quantity)
    if value is None:
        reply: Reply = "other_unit" if quantity.unit else "no_unit"
        return Judged(False, reply, f"judge.{reply}_{question.dimension}", read=bool(quantity.unit))
    meant = Accepted(question.answer, question.slips, question.tolerance).meant(value)
    if meant:
        return Judged(False, "slip", f"{question.key}.slip_{meant}")
    return Judged(meant == "", "wrong" if meant is None else "right", f"{question.key}.why")


def _in_si(question: Number, quantity: Quantity) -> float | None:
    """What was said, in SI; None where it has another unit than is asked for, or lacks one."""
    if question.dimension == "count":
        return quantity.value if quantity.unit in ("", question.unit) else None
    if quantity.unit or not question.unit:
        return quantity.value if quantity.dimension == question.dimension else None
    return quantity.value * question.unit_size


@dataclass(frozen=True)
class Bank:
    """Questions by key, in the order in which they are written: each a function that draws its numbers."""

    drawn: dict[str, Callable[[Draw], Question]] = field(default_factory=dict)

    def asks(self, concept: Concept, taught: Taught) -> Callable[[Callable[[Draw], Q]], Callable[[Draw], Q]]:
        """Put a question into the bank: its function's name is its key."""

        def named(draw: Callable[[Draw], Q]) -> Callable[[Draw], Q]:
            def question(rng: Draw) -> Q:
                return replace(draw(rng), key=draw.__name__, concept=concept, taught=taught)

            self.drawn[draw.__name__] = question
            return question

        return named


def choice(right: str, wrong: Sequence[str], rng: Draw, **fields: object) -> Choice:
    """A choice, its options in a drawn order."""
    options = (right, *wrong)
    order = rng.permutation(len(options))
    return Choice(tuple(options[index] for index in order), right, _as_text(fields))


def number(
    answer: float,
    dimension: Dimension,
    slips: Mapping[str, float],
    tolerance: float | None = None,
    unit: str = "",
    **fields: object,
) -> Number:
    """A number to be worked out; a count is exact unless a tolerance is given.

    A slip that equals the answer is left out. The prose has the answer as `{{answer}}`, with its unit.
    """
    allowed = tolerance if tolerance is not None else 0.0 if dimension == "count" else TOLERANCE
    right = Accepted(answer, {}, allowed)
    kept = {name: value for name, value in slips.items() if right.meant(value) is None}
    words = {"answer": shown(answer, dimension), **fields}
    return Number(answer, dimension, MappingProxyType(kept), allowed, _as_text(words), unit)


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
