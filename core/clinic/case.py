"""A case of the clinic: what is seen, what it could be, the model that explains it, and what the remedy does.

All of it is computed from the field's formulas and measured points; the words are in content/. Amounts are SI.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from core.errors import UnknownNameError
from core.units import bandwidth, binary_bytes, grouped, percent, plain, seconds, significant

Unit = Literal["s", "fraction", "bytes", "bytes_per_s", "per_s", "count", "times", "plain"]
Term = Literal["compute", "waiting", "latency", "bandwidth", "whole", "weights", "activations", "outside", "kv"]


@dataclass(frozen=True)
class Figure:
    """One number of a case: its name in the prose and in JSON, its value in SI, and what it is counted in."""

    name: str
    value: float
    unit: Unit = "s"

    @property
    def text(self) -> str:
        match self.unit:
            case "s":
                return seconds(self.value)
            case "fraction":
                return percent(self.value)
            case "bytes":
                return binary_bytes(self.value)
            case "bytes_per_s":
                return bandwidth(self.value)
            case "count":
                return grouped(round(self.value))
            case "times":
                return significant(self.value, 2)
            case "per_s" | "plain":
                return plain(self.value)


@dataclass(frozen=True)
class Name:
    """What a thing of the case is called, for a field of the prose that is no number."""

    name: str
    text: str


@dataclass(frozen=True)
class Segment:
    """One term of one bar, which has a code or a name that needs no words, as `TP=8` and `rank 0`."""

    bar: str
    term: Term
    amount: float


@dataclass(frozen=True)
class Bars:
    """Bars of terms from zero, on one axis of seconds, bytes, or shares."""

    unit: Literal["s", "bytes", "fraction"]
    segments: tuple[Segment, ...]

    def renamed(self, name_of: Callable[[str], str]) -> "Bars":
        """The same with its bars' codes put into words."""
        return replace(self, segments=tuple(replace(one, bar=name_of(one.bar)) for one in self.segments))

    def total(self, bar: str) -> float:
        """A bar's whole length. Raises UnknownNameError for a bar that is not there."""
        amounts = [segment.amount for segment in self.segments if segment.bar == bar]
        if not amounts:
            raise UnknownNameError("bar", bar, dict.fromkeys(segment.bar for segment in self.segments))
        return sum(amounts)


def bars(unit: Literal["s", "bytes", "fraction"], terms: Mapping[str, Mapping[Term, float]]) -> Bars:
    """Bars by their codes, each of its terms in order; what takes nothing, or is rounding, is left out."""
    segments = (
        Segment(bar, term, amount)
        for bar, parts in terms.items()
        for term, amount in parts.items()
        if amount > 1e-12
    )
    return Bars(unit, tuple(segments))


def step_parts(compute_s: float, latency_s: float, comm_s: float) -> dict[Term, float]:
    """A step as a bar: its arithmetic, what of its communication is waiting, and the rest of that."""
    return {"compute": compute_s, "latency": latency_s, "bandwidth": comm_s - latency_s}


@dataclass(frozen=True)
class Point:
    series: str
    x: float
    y: float


@dataclass(frozen=True)
class Lines:
    """Lines of seconds over something counted."""

    x: str
    y: str
    points: tuple[Point, ...]

    def renamed(self, name_of: Callable[[str], str]) -> "Lines":
        return replace(self, x=name_of(self.x), y=name_of(self.y))


@dataclass(frozen=True)
class Bin:
    """The share of a series that lies between two times."""

    series: str
    low_s: float
    high_s: float
    share: float


@dataclass(frozen=True)
class Histogram:
    """Times, sorted into bins that widen with them."""

    bins: tuple[Bin, ...]

    def renamed(self, name_of: Callable[[str], str]) -> "Histogram":
        return replace(self, bins=tuple(replace(one, series=name_of(one.series)) for one in self.bins))


Picture = Bars | Lines | Histogram


@dataclass(frozen=True)
class Case:
    """One patient. `candidates` are the diagnoses to choose from, `truth` the one that explains all of it."""

    key: str
    truth: str
    candidates: tuple[str, ...]
    figures: tuple[Figure, ...]
    model: Picture
    fix: Picture | None = None
    symptom: Picture | None = None
    log: tuple[str, ...] = ()
    names: tuple[Name, ...] = ()

    def fields(self) -> Mapping[str, str]:
        """The fields that the case's prose is filled with, each under the case's key."""
        figures = {f"{self.key}_{figure.name}": figure.text for figure in self.figures}
        return {**figures, **{f"{self.key}_{name.name}": name.text for name in self.names}}

    def figure(self, name: str) -> Figure:
        """The number of that name. Raises UnknownNameError for one the case has not."""
        for figure in self.figures:
            if figure.name == name:
                return figure
        raise UnknownNameError("figure", name, [figure.name for figure in self.figures])
