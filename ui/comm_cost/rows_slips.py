"""Lab 03's slips: a bandwidth read one way or both, busbw or algbw, at one size or over all of them."""

from core.catalog import link
from core.collectives.cost import CollectiveCost
from core.comm_cost.readings import Misreading, TwoWay, misreadings
from core.links.nccl_tests import Table
from core.links.nccl_tests.figures import bus_factor
from core.units import GB
from runtime import rows
from runtime.prose import said
from runtime.quantities import bandwidth, binary_bytes, seconds
from runtime.rows import Row
from ui.comm_cost.rows import BillRow, bar, beside, cost_bar

HOP, TWO_WAY, BUSBW, AVERAGE = "a hop's latency", "900 GB/s one way", "busbw for algbw", "averages over sizes"
CHOICES = [HOP, TWO_WAY, BUSBW, AVERAGE]
OF_THE_SCENARIO = (HOP, TWO_WAY)
"""Slips in the scenario's own step; the others are in a table of measurements."""
PHASED = (HOP, TWO_WAY)
"""Those of a step that may be a decode or a prefill."""


def two_way_rows(two_way: TwoWay) -> list[BillRow]:
    one_way = link("nvlink-4").bandwidth_bytes_per_s
    return [
        _row("one_way", bandwidth(one_way), two_way.right, two_way.measured_s),
        _row("two_ways", bandwidth(2 * one_way), two_way.wrong, two_way.measured_s),
    ]


def _row(name: str, detail: str, cost: CollectiveCost, measured_s: float | None) -> BillRow:
    row = cost_bar(said("comm_cost", f"bar.{name}"), detail, cost, seconds(cost.total_s))
    return row if measured_s is None else beside(row, measured_s, "says.measured_nccl_h")


def misread_rows(table: Table) -> list[BillRow]:
    """A table's largest row, told rightly and by busbw taken for algbw, beside what was measured."""
    return [_told(misreading) for misreading in misreadings(table) if misreading.key != "average_busbw"]


def _told(misreading: Misreading) -> BillRow:
    name, detail = said("comm_cost", f"bar.{misreading.key}"), said("comm_cost", "says.busbw", misreading)
    told = bar(name, detail, 0.0, misreading.told_s, seconds(misreading.told_s, least="ms"))
    return beside(told, misreading.measured_s, "says.measured_ms_2")


def bus_rows(table: Table) -> list[Row]:
    factor = bus_factor(table.op, table.ranks or 2)
    rates = ((row.size_bytes, row.time_us, factor * row.size_bytes / row.time_us * 1e6 / GB) for row in table.rows)
    return rows.table("size_bytes time_us busbw_gb_s", rates)


def largest(table: Table) -> str:
    return binary_bytes(max(row.size_bytes for row in table.rows))
