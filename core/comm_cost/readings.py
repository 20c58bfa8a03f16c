"""One bill read otherwise: an assumption changed, a unit slipped, a table's bandwidth taken for another.

Vendors print bits and both directions, operating systems powers of two, ping a round trip. Each is a factor.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from core.catalog import link as find_link
from core.collectives.cost import CollectiveCost, ring_all_reduce
from core.comm_cost.bill import Bill, Step, bill
from core.comm_cost.measured import MeasuredPoint, measured_time_s, series_of
from core.errors import OutOfRangeError
from core.links.nccl_tests import Table
from core.links.nccl_tests.figures import bus_factor
from core.specs import LinkSpec
from core.units import GB, GIB


@dataclass(frozen=True)
class Reading:
    """A step's bill with its link's numbers multiplied. `flips`: its verdict is not that of the first reading."""

    key: str
    bandwidth_factor: float
    latency_factor: float
    bill: Bill
    flips: bool


Assumptions = tuple[tuple[str, float, float, bool], ...]
"""Key, factor of the bandwidth, factor of the latency, whether the step is divided by its ranks."""

_ASSUMED: Assumptions = (
    ("labs", 1, 1, False),
    ("divided_step", 1, 1, True),
    ("hop_from_round_trip", 1, 0.5, False),
    ("divided_step_and_round_trip", 1, 0.5, True),
    ("two_way_bandwidth", 2, 1, False),
)
_SLIPPED: Assumptions = (
    ("right", 1, 1, False),
    ("bits_for_bytes", 8, 1, False),
    ("both_ways_for_one", 2, 1, False),
    ("binary_for_decimal", GIB / GB, 1, False),
    ("round_trip_for_hop", 1, 2, False),
    ("hop_for_round_trip", 1, 0.5, False),
)


def altered(link: LinkSpec, bandwidth_factor: float = 1.0, latency_factor: float = 1.0) -> LinkSpec:
    """A link with its bandwidth and the latency of its hops multiplied; its launch stays."""
    return link.scaled(bandwidth_factor, latency_factor)


def readings(step: Step, link: LinkSpec) -> tuple[Reading, ...]:
    """The bill as the labs read it, and as it reads when one assumption is another: the first is the labs'.

    The step may shrink with the ranks; a quoted latency may have been a round trip; a quoted bandwidth may have
    counted both directions.
    """
    return _read(step, link, _ASSUMED)


def unit_slips(step: Step, link: LinkSpec) -> tuple[Reading, ...]:
    """The bill read rightly, then with each unit slipped.

    10 Gb/s read as 10 GB/s is 8 times too fast; 600 GB/s both ways read as one is 2 times; GB read as GiB is 7 %;
    a round trip read as a hop is 2 times too slow, a hop halved as if it were a round trip 2 times too fast.
    """
    return _read(step, link, _SLIPPED)


def _read(step: Step, link: LinkSpec, table: Assumptions) -> tuple[Reading, ...]:
    bills = [
        bill(replace(step, divided=divided or step.divided), altered(link, bandwidth, latency))
        for _, bandwidth, latency, divided in table
    ]
    return tuple(
        Reading(key, bandwidth, latency, read, read.verdict != bills[0].verdict)
        for (key, bandwidth, latency, _), read in zip(table, bills, strict=True)
    )


@dataclass(frozen=True)
class Misreading:
    """A table's largest row told by one reading of its bandwidths. `ratio` is told / measured."""

    key: Literal["busbw", "busbw_as_algbw", "average_busbw"]
    bandwidth_bytes_per_s: float
    told_s: float
    measured_s: float

    @property
    def ratio(self) -> float:
        return self.told_s / self.measured_s


def misreadings(table: Table) -> tuple[Misreading, ...]:
    """Three readings of one bandwidth column, at the largest row: the right one, and two that are in print.

    The time of n bytes is k·n/busbw. Take busbw for algbw and it is n/busbw; take the footer's average over all
    sizes for the link, and small messages, which are latency, make it slow. Empty without ranks or rows.
    """
    if table.ranks is None or table.ranks < 2 or not table.rows:
        return ()
    largest = max(table.rows, key=lambda row: row.size_bytes)
    factor, measured_s = bus_factor(table.op, table.ranks), largest.time_us * 1e-6
    busbw = factor * largest.size_bytes / measured_s
    average = sum(factor * row.size_bytes / (row.time_us * 1e-6) for row in table.rows) / len(table.rows)
    return (
        Misreading("busbw", busbw, factor * largest.size_bytes / busbw, measured_s),
        Misreading("busbw_as_algbw", busbw, largest.size_bytes / busbw, measured_s),
        Misreading("average_busbw", average, factor * largest.size_bytes / average, measured_s),
    )


@dataclass(frozen=True)
class TwoWay:
    """NVLink 4 read rightly, 450 GB/s one way, and with both directions taken for one."""

    payload_bytes: float
    ranks: int
    right: CollectiveCost
    wrong: CollectiveCost
    measured_s: float | None


def two_way(payload_bytes: float, ranks: int, points: Sequence[MeasuredPoint]) -> TwoWay:
    """One all-reduce on NVLink 4 by both readings, and as an H100 node measured it where it did."""
    right = find_link("nvlink-4")
    wrong = altered(right, bandwidth_factor=2)
    rightly, wrongly = (ring_all_reduce(payload_bytes, ranks, one) for one in (right, wrong))
    try:
        measured_s = measured_time_s(series_of(points, "h100-nccl", ranks), payload_bytes)
    except OutOfRangeError:
        measured_s = None
    return TwoWay(payload_bytes, ranks, rightly, wrongly, measured_s)
