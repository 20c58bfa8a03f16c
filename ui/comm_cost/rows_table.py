"""Lab 03's own table: what a paste says of its link, and the scenario's bill at its times."""

from core.comm_cost.table_bill import TableBill, table_bill
from core.errors import OutOfRangeError
from core.links.fit import link_of, size_errors
from core.links.fitted_tables import FittedTable
from core.scenario import Scenario
from core.specs import LinkSpec
from core.steps.view import Phase, View
from core.units import MIB
from runtime.prose import named, said
from runtime.quantities import binary_bytes
from runtime.rows import Row, table
from ui.comm_cost.rows import BillRow, bar, beside, sum_in_ms

TWO_NUMBERS, HANDOVER = "two numbers", "with √S"
BULGE_BYTES = (16 * 2**10, 64 * MIB)
"""Where two numbers are known to be too optimistic: libraries change protocol and pipeline chunks."""

MOST_SAID = 60
"""Lines named one by one; a log of thousands is counted."""


def title(number: int, own: FittedTable) -> str:
    """What a table is called among several: `1: all_reduce, 8 ranks, 18 rows`."""
    table = own.table
    ranks = said("comm_cost", "says.ranks_2" if table.ranks else "says.ranks_unknown", table)
    name = table.op or said("comm_cost", "says.unnamed")
    return said("comm_cost", "says.rows", number=number, value=name, ranks=ranks, rows=len(table.rows))


def error_points(own: FittedTable, handover: bool) -> list[Row]:
    """Both models beside every row of size, or the two numbers alone."""
    models = [(TWO_NUMBERS, own.fit), *([(HANDOVER, own.handover)] if handover else [])]
    errors = (
        (named("comm_cost", model), one.size_bytes, one.measured_us, one.modelled_us, 100 * (one.ratio - 1))
        for model, fit in models
        if fit is not None
        for one in size_errors(own.table, fit)
    )
    return table("model size_bytes measured_us modelled_us error_percent", errors)


def fitted_link(own: FittedTable) -> LinkSpec | None:
    """The table as a link of the scenario; None where it cannot be one."""
    try:
        return link_of(own.fit) if own.fit is not None else None
    except OutOfRangeError:
        return None


def priced(scenario: Scenario, phase: Phase, own: FittedTable) -> TableBill | None:
    """The scenario's step at the table's times; None where there is no fit to explain it."""
    if own.fit is None:
        return None
    return table_bill(own.table, own.fit, View(scenario, phase).step)


def bill_row(bill: TableBill) -> BillRow:
    """The bill by α and β as a bar, the table's own price as the tick over it."""
    step, fitted, by_table = bill.step, bill.fitted, bill.by == "table"
    row = bar(
        said("comm_cost", "says.your_table" if by_table else "says.your_table_s_fit"),
        f"TP={step.tp_size}, {binary_bytes(step.payload_bytes)} × {step.all_reduces}",
        fitted.waiting_s,
        fitted.bandwidth_s,
        said("comm_cost", "says.by_and", sum_in_ms=sum_in_ms(fitted.waiting_s, fitted.bandwidth_s)),
        step.rank_compute_s,
    )
    if not (by_table and fitted.comm_s):
        return row
    return beside(row, bill.priced.total_s, "says.ms_table", comm_s=bill.priced.comm_s)
