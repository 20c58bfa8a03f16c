"""The bill on the learner's own cluster: priced by their table, explained by the numbers fitted to it.

Interpolating the table is good to some percent wherever it has rows; α and β say why it costs what it costs, and
are all there is for another number of ranks. Which of the two a time is from, is part of the answer.
"""

from dataclasses import dataclass
from typing import Literal

from core.collectives.cost import CollectiveCost
from core.comm_cost.bill import Bill, Step
from core.links.fit import LinkFit, interpolated_us, ring_steps
from core.links.nccl_tests import Table
from core.links.nccl_tests.figures import bus_factor

RemarkKey = Literal["not_all_reduce", "other_ranks", "outside", "launch_untold"]
"""A step away from what was measured: another collective, other ranks, no such size, a launch not told apart."""


@dataclass(frozen=True)
class TableBill:
    """One step on a measured machine: its price, and the bill that α and β make of it.

    `by` is "table" where the price is interpolated from rows at this number of ranks, "fit" where it is that of
    α and β.
    """

    op: str | None
    ranks_measured: int
    priced: Bill
    fitted: Bill
    by: Literal["table", "fit"]
    remarks: tuple[RemarkKey, ...]

    @property
    def step(self) -> Step:
        return self.priced.step

    @property
    def ratio(self) -> float:
        """fitted / priced: below 1, two numbers are too optimistic at this payload. 1 where nothing is sent."""
        return self.fitted.comm_s / self.priced.comm_s if self.priced.comm_s else 1.0


def table_bill(table: Table, fit: LinkFit, step: Step) -> TableBill | None:
    """The bill of a step at a table's times, where it has them; by its fit, said so, where it has not.

    None where neither can tell: the table's ranks are unknown, or no row is large enough for a bandwidth.
    """
    if table.ranks is None or fit.alpha_us is None or fit.bandwidth_bytes_per_s is None:
        return None
    hops, traffic = ring_steps("all_reduce", step.tp_size), bus_factor("all_reduce", step.tp_size)
    one = CollectiveCost(
        steps=hops,
        traffic_bytes=traffic * step.payload_bytes,
        latency_s=((fit.base_us or 0.0) + hops * fit.alpha_us) * 1e-6,
        bandwidth_s=traffic * step.payload_bytes / fit.bandwidth_bytes_per_s,
    )
    fitted = Bill(step, one.times(step.all_reduces))
    remark = _away(table, step)
    measured_us = interpolated_us(table, step.payload_bytes) if remark is None else None
    unsure = step.tp_size not in (1, table.ranks) and fit.base_us is None
    return TableBill(
        op=table.op,
        ranks_measured=table.ranks,
        priced=fitted
        if measured_us is None
        else Bill(step, one.times(0), step.all_reduces * measured_us * 1e-6, "measured"),
        fitted=fitted,
        by="fit" if measured_us is None else "table",
        remarks=(*((remark,) if remark else ()), *(("launch_untold",) if unsure else ())),
    )


def _away(table: Table, step: Step) -> RemarkKey | None:
    """Why the table has no time for an all-reduce of this step; None where it has one."""
    if table.op != "all_reduce":
        return "not_all_reduce"
    if step.tp_size != table.ranks:
        return "other_ranks"
    return "outside" if interpolated_us(table, step.payload_bytes) is None else None
