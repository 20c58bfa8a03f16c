"""Lab 03's own table: the numbers its sentences are filled with."""

from collections.abc import Mapping
from statistics import median

from core.catalog.measured_link import extrapolation
from core.links.fit import interpolated_us
from core.links.fitted_tables import FittedTable
from core.scenario import Scenario
from core.steps.view import Phase
from runtime.prose import said, worded
from runtime.quantities import percent
from ui.comm_cost.rows_table import BULGE_BYTES, error_points, fitted_link, priced


def fields(scenario: Scenario, phase: Phase, own: FittedTable) -> Mapping[str, object]:
    """What was read, what was fitted, and what the scenario's step costs by it."""
    table, link, fit, bill = own.table, fitted_link(own), own.fit, priced(scenario, phase, own)
    base = "untold" if fit is None or fit.base_us is None else "told"
    away = extrapolation(link, scenario.tp) if link else None
    return {
        "table_op": table.op or said("comm_cost", "says.test_that_nothing_names"),
        "table_ranks": said(
            "comm_cost", "says.ranks_2" if table.ranks else "says.number_ranks_that_nothing", table
        ),
        "table_rows": len(table.rows),
        "table_dropped": len(table.dropped),
        "own_link": link,
        "own_extrapolates": said("comm_cost", "says.it_is", worded=worded(away)) if away else "",
        "fit": fit,
        "handover": own.handover,
        "fit_steps": (fit and fit.steps) or said("comm_cost", "says.an_unknown_number"),
        "fit_base": said("comm_cost", f"says.base_{base}", fit),
        "fit_base_why": said("comm_cost", f"says.base_why_{base}"),
        "fit_bulge": _bulge(own),
        "own_bill": bill,
        "own_one_us": bill and interpolated_us(table, bill.step.payload_bytes),
        "own_says": "; ".join(said("comm_cost", f"remark.{remark}", bill) for remark in bill.remarks)
        if bill
        else "",
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
