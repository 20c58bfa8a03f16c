"""Lab 03's own table: the numbers its sentences are filled with."""

from collections.abc import Mapping
from statistics import median

from core.catalog.measured_link import extrapolation
from core.comm_cost.table_bill import TableBill
from core.links.fit import LinkFit, interpolated_us
from core.links.fitted_tables import FittedTable
from core.scenario import Scenario
from core.steps.view import Phase
from core.units import GB
from runtime.prose import said, worded
from runtime.quantities import binary_bytes, percent, plain, seconds
from ui.comm_cost.rows_table import BULGE_BYTES, error_points, fitted_link, microseconds, priced


def fields(scenario: Scenario, phase: Phase, own: FittedTable, handover: bool) -> Mapping[str, str]:
    """What was read, what was fitted, and what the scenario's step costs by it."""
    table, link = own.table, fitted_link(own)
    return {
        "table_op": table.op or said("comm_cost", "says.test_that_nothing_names"),
        "table_ranks": said("comm_cost", "says.ranks_2", ranks=table.ranks)
        if table.ranks
        else said("comm_cost", "says.number_ranks_that_nothing"),
        "table_rows": str(len(table.rows)),
        "table_dropped": str(len(table.dropped)),
        "bulge_low": binary_bytes(BULGE_BYTES[0]),
        "bulge_high": binary_bytes(BULGE_BYTES[1]),
        "tp": str(scenario.tp),
        "own_key": link.key if link else "",
        "own_extrapolates": said("comm_cost", "says.it_is", worded=worded(away))
        if link and (away := extrapolation(link, scenario.tp))
        else "",
        **_fit_fields(own.fit, own),
        "handover_error": percent(own.handover.median_relative_error) if own.handover else _untold(),
        **_price_fields(own, priced(scenario, phase, own)),
    }


def _fit_fields(fit: LinkFit | None, own: FittedTable) -> dict[str, str]:
    if fit is None:
        return {}
    bandwidth, steps = fit.bandwidth_bytes_per_s, fit.steps
    return {
        "own_fixed": microseconds(fit.fixed_us),
        "own_alpha": _untold() if fit.alpha_us is None else microseconds(fit.alpha_us),
        "own_steps": str(steps) if steps else said("comm_cost", "says.an_unknown_number"),
        "own_beta": _untold() if bandwidth is None else f"{plain(bandwidth / GB)} GB/s",
        "own_base": said("comm_cost", "says.not_told_apart") if fit.base_us is None else microseconds(fit.base_us),
        "own_base_why": (
            said("comm_cost", "says.one_number_ranks_cannot")
            if fit.base_us is None
            else said("comm_cost", "says.told_from_tables_several")
        ),
        "fit_error": percent(fit.median_relative_error),
        "bulge_said": _bulge(own),
    }


def _bulge(own: FittedTable) -> str:
    """How far off two numbers are inside the bulge, in words."""
    inside = [
        point.error_percent
        for point in error_points(own, handover=False)
        if BULGE_BYTES[0] <= point.size_bytes <= BULGE_BYTES[1]
    ]
    if not inside:
        return said("comm_cost", "says.your_table_has_no")
    middle = median(inside)
    more_or_less = "more" if middle < 0 else "less"
    return said("comm_cost", f"says.take_{more_or_less}", share=percent(abs(middle) / 100, 0))


def _untold() -> str:
    return said("comm_cost", "says.untold")


def _price_fields(own: FittedTable, bill: TableBill | None) -> dict[str, str]:
    if bill is None:
        return {}
    one_us = interpolated_us(own.table, bill.step.payload_bytes) if bill.by == "table" else None
    return {
        "own_payload_bytes": binary_bytes(bill.step.payload_bytes),
        "own_count": str(bill.step.all_reduces),
        "own_one": microseconds(one_us) if one_us else "",
        "own_price": seconds(bill.priced.comm_s, least="ms"),
        "own_price_share": percent(bill.priced.comm_fraction),
        "own_explained": percent(bill.ratio, 0),
        "own_says": "; ".join(said("comm_cost", f"remark.{remark}", bill) for remark in bill.remarks),
    }
