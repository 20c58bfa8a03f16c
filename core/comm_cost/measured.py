"""Measured all-reduces: reading between the points, and holding a model against them."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp, log

from core.collectives.cost import CollectiveCost, ring_all_reduce
from core.comm_cost.bill import Bill, Step
from core.errors import OutOfRangeError, remark
from core.specs import LinkSpec


@dataclass(frozen=True)
class MeasuredPoint:
    """One all-reduce that somebody timed. `link` is the catalog row of what it went over."""

    series: str
    machine: str
    link: str
    software: str
    ranks: int
    payload_bytes: int
    time_s: float
    source: str


@dataclass(frozen=True)
class Residual:
    """A model's time beside a measured one: a `ratio` below 1 is a model too optimistic."""

    series: str
    ranks: int
    payload_bytes: int
    modelled_s: float
    measured_s: float

    @property
    def ratio(self) -> float:
        return self.modelled_s / self.measured_s


def series_of(points: Iterable[MeasuredPoint], series: str, ranks: int) -> tuple[MeasuredPoint, ...]:
    """One machine's points at one number of ranks, by payload; empty where it was not measured."""
    chosen = (point for point in points if (point.series, point.ranks) == (series, ranks))
    return tuple(sorted(chosen, key=lambda point: point.payload_bytes))


def measured_time_s(points: Sequence[MeasuredPoint], payload_bytes: float) -> float:
    """The time at a payload between measured ones: a straight line in log time over log bytes.

    `points` are one series at one number of ranks, by payload. Raises OutOfRangeError outside of what was measured.
    """
    sizes = [point.payload_bytes for point in points]
    if not sizes or not sizes[0] <= payload_bytes <= sizes[-1]:
        nothing = remark("errors.nothing")
        measured = remark("errors.range_bytes", least=sizes[0], most=sizes[-1]) if sizes else nothing
        raise OutOfRangeError("payload_bytes", payload_bytes, "outside_measured", measured=measured)
    right = bisect_left(sizes, payload_bytes)
    if sizes[right] == payload_bytes:
        return points[right].time_s
    low, high = points[right - 1], points[right]
    along = log(payload_bytes / low.payload_bytes) / log(high.payload_bytes / low.payload_bytes)
    return exp((1 - along) * log(low.time_s) + along * log(high.time_s))


def measured_bill(points: Iterable[MeasuredPoint], series: str, step: Step) -> Bill:
    """The bill of a step at a machine's measured times, which nobody told apart into terms.

    Raises OutOfRangeError where the machine was not measured at this payload and number of ranks.
    """
    one_s = measured_time_s(series_of(points, series, step.tp_size), step.payload_bytes)
    return Bill(step, CollectiveCost(0, 0.0, 0.0, 0.0), step.all_reduces * one_s, "measured")


def residuals(points: Iterable[MeasuredPoint], link: LinkSpec) -> tuple[Residual, ...]:
    """A link's model, a ring, held against each measured point."""
    return tuple(
        Residual(
            series=point.series,
            ranks=point.ranks,
            payload_bytes=point.payload_bytes,
            modelled_s=ring_all_reduce(point.payload_bytes, point.ranks, link).total_s,
            measured_s=point.time_s,
        )
        for point in points
    )
