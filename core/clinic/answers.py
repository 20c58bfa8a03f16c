"""What a visitor has said of the clinic's cases, as it stands in an address."""

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_lowercase
from typing import TypeVar

from core.clinic import CASES, Case

T = TypeVar("T")


@dataclass(frozen=True)
class Answers:
    """What was said of each case and which were revealed. As text: a letter a case, a capital once revealed."""

    said: tuple[int | None, ...] = (None,) * len(CASES)
    revealed: tuple[bool, ...] = (False,) * len(CASES)

    @classmethod
    def from_text(cls, text: str) -> "Answers":
        """The answers a URL holds; anything unreadable is not answered. `!` is revealed without an answer."""
        letters = text.ljust(len(CASES), "-")[: len(CASES)]
        answers = tuple(_index(letter) for letter in letters)
        return cls(answers, tuple(letter == "!" or letter.isupper() for letter in letters))

    def text(self) -> str:
        return "".join(map(_letter, self.said, self.revealed))

    def with_said(self, case: str, index: int) -> "Answers":
        """The same with one diagnosis committed; once revealed it stays."""
        at = list(CASES).index(case)
        if self.revealed[at]:
            return self
        return Answers(_put(self.said, at, index), self.revealed)

    def with_revealed(self, case: str) -> "Answers":
        return Answers(self.said, _put(self.revealed, list(CASES).index(case), True))

    def of(self, case: Case) -> tuple[str | None, bool]:
        """The diagnosis said of a case, if any of its candidates, and whether the truth is shown."""
        at = list(CASES).index(case.key)
        index = self.said[at]
        known = index is not None and index < len(case.candidates)
        return case.candidates[index] if known and index is not None else None, self.revealed[at]

    def right(self, cases: Sequence[Case]) -> tuple[int, int]:
        """How many revealed diagnoses were right, and how many were revealed after one was said."""
        graded = [(case, answer) for case in cases for answer, shown in [self.of(case)] if answer and shown]
        return sum(answer == case.truth for case, answer in graded), len(graded)


def _put(values: tuple[T, ...], index: int, value: T) -> tuple[T, ...]:
    return (*values[:index], value, *values[index + 1 :])


def _index(letter: str) -> int | None:
    index = ascii_lowercase.find(letter.lower())
    return index if letter and index >= 0 else None


def _letter(index: int | None, revealed: bool) -> str:
    if index is None:
        return "!" if revealed else "-"
    return ascii_lowercase[index].upper() if revealed else ascii_lowercase[index]
