"""The bill on the learner's own cluster: priced by their table, explained by the numbers fitted to it.

Interpolating the table is good to some percent wherever it has rows; α and β say why it costs what it costs, and
are all there is for another number of ranks. Which of the two a time is from, is part of the answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from core.comm_cost.bill import LAB_STEP_S, all_reduces_per_step, allreduce_payload_bytes, comm_fraction
from core.links.fit import LinkFit, interpolated_us, ring_steps
from core.links.nccl_tests import Table
from core.links.nccl_tests.figures import bus_factor
from core.specs import ModelSpec
from core.units import binary_bytes


@dataclass(frozen=True)
class OwnBill:
    """One step on a measured machine. `latency_s` and `bandwidth_s` are the fit's two terms, `priced_s` the price.

    `by` is "table" where the price is interpolated from rows at this number of ranks, "fit" where it is
    extrapolated by α and β; `says` has a sentence for every step away from what was measured.
    """

    ranks_measured: int
    tp_size: int
    payload_bytes: float
    all_reduces: int
    step_s: float
    priced_s: float
    latency_s: float
    bandwidth_s: float
    by: Literal["table", "fit"]
    says: tuple[str, ...]

    @property
    def comm_fraction(self) -> float:
        """comm / (step + comm)."""
        return comm_fraction(self.priced_s, self.step_s)

    @property
    def ratio(self) -> float:
        """modelled / priced: below 1, two numbers are too optimistic at this payload. 1 where nothing is sent."""
        return (self.latency_s + self.bandwidth_s) / self.priced_s if self.priced_s else 1.0


def own_bill(
    table: Table, fit: LinkFit, model: ModelSpec, tp_size: int, tokens: int, step_s: float = LAB_STEP_S
) -> OwnBill | None:
    """The bill of a step at a table's times, where it has them; by its fit, said so, where it has not.

    None where neither can tell: the table's ranks are unknown, or no row is large enough for a bandwidth.
    """
    payload_bytes = allreduce_payload_bytes(tokens, model.hidden_size)
    count = all_reduces_per_step(model, tp_size)
    if table.ranks is None or fit.alpha_us is None or fit.bandwidth_bytes_per_s is None:
        return None
    latency_us = (fit.base_us or 0.0) + ring_steps("all_reduce", tp_size) * fit.alpha_us
    bytes_us = bus_factor("all_reduce", tp_size) * payload_bytes / fit.bandwidth_bytes_per_s * 1e6
    measured_us, says = _measured_us(table, payload_bytes, tp_size)
    priced_us = latency_us + bytes_us if measured_us is None else measured_us
    return OwnBill(
        ranks_measured=table.ranks,
        tp_size=tp_size,
        payload_bytes=payload_bytes,
        all_reduces=count,
        step_s=step_s,
        priced_s=count * priced_us * 1e-6,
        latency_s=count * latency_us * 1e-6,
        bandwidth_s=count * bytes_us * 1e-6,
        by="fit" if measured_us is None else "table",
        says=(*says, *_unsure(fit, table.ranks, tp_size)),
    )


def _measured_us(table: Table, payload_bytes: float, tp_size: int) -> tuple[float | None, list[str]]:
    """The table's time for an all-reduce of this payload, or why it has none."""
    if table.op != "all_reduce":
        return None, [f"the table is of {table.op}: an all-reduce is priced by its α and β"]
    if tp_size != table.ranks:
        return None, [f"the table is of {table.ranks} ranks: {tp_size} are an extrapolation by α and β"]
    measured_us = interpolated_us(table, payload_bytes)
    if measured_us is None:
        return None, [f"{binary_bytes(payload_bytes)} lies outside of the table: priced by α and β"]
    return measured_us, []


def _unsure(fit: LinkFit, ranks: int, tp_size: int) -> list[str]:
    """What an extrapolation over ranks leans on."""
    if tp_size in (1, ranks) or fit.base_us is not None:
        return []
    return ["without a second number of ranks the launch is not told from the hops: all of fixed is taken for hops"]


@dataclass(frozen=True)
class Misreading:
    """A table's largest row told by one reading of its bandwidths. `ratio` is told / measured."""

    key: Literal["busbw", "busbw_as_algbw", "average_busbw"]
    bandwidth_bytes_per_s: float
    told_s: float
    measured_s: float

    @property
    def ratio(self) -> float:
        """1 where the reading is right."""
        return self.told_s / self.measured_s


def misreadings(table: Table) -> tuple[Misreading, ...]:
    """Three readings of one bandwidth column, at the largest row: the right one, and two that are in print.

    The time of n bytes is k·n/busbw. Take busbw for algbw and it is n/busbw; take the footer's average over all
    sizes for the wire, and small messages, which are latency, make it slow. Empty without ranks or rows.
    """
    if table.ranks is None or table.ranks < 2 or not table.rows:
        return ()
    largest = max(table.rows, key=lambda row: row.size_bytes)
    factor, measured_s = bus_factor(table.op, table.ranks), largest.time_us * 1e-6
    busbw = factor * largest.size_bytes / measured_s
    average = _mean([factor * row.size_bytes / (row.time_us * 1e-6) for row in table.rows])
    return (
        Misreading("busbw", busbw, factor * largest.size_bytes / busbw, measured_s),
        Misreading("busbw_as_algbw", busbw, largest.size_bytes / busbw, measured_s),
        Misreading("average_busbw", average, factor * largest.size_bytes / average, measured_s),
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
