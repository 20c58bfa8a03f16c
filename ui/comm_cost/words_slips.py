"""Lab 03's slips in numbers."""

from collections.abc import Mapping

from core.catalog import link
from core.comm_cost.readings import misreadings
from core.links.nccl_tests import Table
from core.links.nccl_tests.figures import bus_factor
from core.units import bandwidth, binary_bytes, percent, plain, seconds
from ui.comm_cost.rows_slips import TwoWay, largest


def two_way(found: TwoWay) -> Mapping[str, str]:
    """What a vendor prints for NVLink 4, and what it does to one all-reduce."""
    one_way = link("nvlink-4").bandwidth_bytes_per_s
    measured = (
        "nobody measured this one here" if found.measured_s is None else f"measured, {seconds(found.measured_s)}"
    )
    return {
        "slip_payload": binary_bytes(found.payload_bytes),
        "slip_ranks": str(found.ranks),
        "slip_link": "NVLink 4",
        "slip_one_way": bandwidth(one_way),
        "slip_two_way": bandwidth(2 * one_way),
        "slip_right": seconds(found.right.total_s),
        "slip_wrong": seconds(found.wrong.total_s),
        "slip_measured": measured,
    }


def table(found: Table) -> Mapping[str, str]:
    """A shipped table's largest row by three readings of its bandwidth column."""
    told = {reading.key: reading for reading in misreadings(found)}
    ranks = found.ranks or 2
    return {
        "slip_table_ranks": str(ranks),
        "slip_largest": largest(found),
        "slip_factor": plain(bus_factor(found.op, ranks)),
        "slip_busbw": bandwidth(told["busbw"].bandwidth_bytes_per_s),
        "slip_average": bandwidth(told["average_busbw"].bandwidth_bytes_per_s),
        "slip_algbw_share": percent(told["busbw_as_algbw"].ratio, 0),
        "slip_average_times": f"{plain(told['average_busbw'].ratio)} times",
        "slip_time": seconds(told["busbw"].measured_s),
    }
