"""The clinic: what its figures draw, and the answers a visitor has given, as they stand in the URL."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from string import ascii_lowercase
from typing import TypeVar

from core.clinic import CASES, Case
from core.clinic.case import Bars, Histogram, Lines, Term
from core.clinic.three_waits import Response
from core.units import GIB
from runtime.prose import named, said
from runtime.quantities import binary_bytes, percent, seconds
from runtime.rows import Row

T = TypeVar("T")


_NUMBERED = re.compile(r"(rank|stage|hop) (\d.*)")


def bar_name(bar: str) -> str:
    """What a bar or a line is called: core's short name for it, or a kind and its number, in words."""
    numbered = _NUMBERED.fullmatch(bar)
    return said("clinic", f"bar.{numbered[1]}", n=numbered[2]) if numbered else named("clinic", bar)


def named_responses(responses: Iterable[Response]) -> list[Response]:
    """Each kind of work in words."""
    return [replace(row, kind=bar_name(row.kind)) for row in responses]


def unit_of(bars: Bars) -> str:
    """What the axis of these bars counts."""
    return _scale(bars)[1]


def _scale(bars: Bars) -> tuple[float, str]:
    """What an amount is multiplied by, and the unit that gives."""
    if bars.unit == "s":
        longest = max(bars.total(bar) for bar in _places(bars))
        return (1e6, "µs") if longest < 1e-3 else (1e3, "ms")
    return (1 / GIB, "GiB") if bars.unit == "bytes" else (100.0, "%")


def bar_parts(bars: Bars) -> list[Row]:
    """The terms of each bar, one after another from zero."""
    scale, _ = _scale(bars)
    places, ends, parts = _places(bars), dict.fromkeys(_places(bars), 0.0), []
    for segment in bars.segments:
        start = ends[segment.bar]
        ends[segment.bar] = start + scale * segment.amount
        word = _TERM_WORDS[segment.term] and named("clinic", _TERM_WORDS[segment.term])
        text = f"{word} {_amount(bars, segment.amount)}" if word else ""
        parts.append(
            Row(
                bar=bar_name(segment.bar),
                position=places[segment.bar],
                term=segment.term,
                start=start,
                end=ends[segment.bar],
                in_words=text,
            )
        )
    return parts


def bar_ends(bars: Bars) -> list[Row]:
    """The length of each bar."""
    scale, _ = _scale(bars)
    return [
        Row(bar=bar_name(bar), position=index, end=scale * bars.total(bar), in_words=_amount(bars, bars.total(bar)))
        for bar, index in _places(bars).items()
    ]


_TERM_WORDS: dict[Term, str] = {
    "compute": "compute",
    "waiting": "waits",
    "latency": "latency",
    "bandwidth": "",
    "whole": "",
    "weights": "weights",
    "activations": "peak",
    "outside": "context",
    "kv": "KV cache",
}


def _places(bars: Bars) -> dict[str, int]:
    return {bar: index for index, bar in enumerate(dict.fromkeys(segment.bar for segment in bars.segments))}


def _amount(bars: Bars, amount: float) -> str:
    if bars.unit == "s":
        return seconds(amount)
    return binary_bytes(amount) if bars.unit == "bytes" else percent(amount)


def line_points(lines: Lines) -> list[Row]:
    """The points of every line."""
    return [Row(series=bar_name(point.series), x=point.x, y_ms=1e3 * point.y) for point in lines.points]


def histogram_steps(histogram: Histogram) -> list[Row]:
    """The bins of every series."""
    return [
        Row(series=bar_name(cut.series), low_ms=1e3 * cut.low_s, high_ms=1e3 * cut.high_s, percent=100 * cut.share)
        for cut in histogram.bins
    ]


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
        """The answers as they stand in the URL."""
        return "".join(map(_letter, self.said, self.revealed))

    def with_said(self, case: str, index: int) -> "Answers":
        """The same with one diagnosis committed; once revealed it stays."""
        at = list(CASES).index(case)
        if self.revealed[at]:
            return self
        return Answers(_put(self.said, at, index), self.revealed)

    def with_revealed(self, case: str) -> "Answers":
        """The same with one truth shown."""
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
