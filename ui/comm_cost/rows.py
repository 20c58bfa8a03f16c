"""Lab 03: the bars of its bills, and the bill of a link of one's own."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import nan

from core import units
from core.collectives.cost import CollectiveCost
from core.comm_cost.asked import AskedBill
from core.comm_cost.bill import Bill, Step
from core.comm_cost.kernels import large_bytes_per_s
from core.comm_cost.measured import MeasuredPoint, measured_bill
from core.comm_cost.readings import Reading
from core.comm_cost.submission import OwnBill
from core.errors import OutOfRangeError
from core.specs import LinkSpec
from core.steps.view import View
from runtime.catalog_words import short_name
from runtime.kept import kept
from runtime.prose import named, said
from runtime.quantities import bandwidth, local, percent, plain, seconds, significant, step_time


@dataclass(frozen=True)
class BillRow:
    """One bar of the figure, in milliseconds and in words."""

    name: str
    detail: str
    compute_ms: float
    latency_ms: float
    bandwidth_ms: float
    compute: str
    waiting: str
    in_words: str
    measured_ms: float = nan
    measured: str = ""


def bar(
    name: str, detail: str, waiting_s: float, bandwidth_s: float, in_words: str, compute_s: float = 0.0
) -> BillRow:
    """A bar of these terms. The launch of each collective is waiting too, and is drawn with the latency."""
    return BillRow(
        name=name,
        detail=detail,
        compute_ms=1e3 * compute_s,
        latency_ms=1e3 * waiting_s,
        bandwidth_ms=1e3 * bandwidth_s,
        compute=f"{named('shell', 'compute')}, {step_time(compute_s)}" if compute_s else "",
        waiting=f"{named('shell', 'latency')}, {seconds(waiting_s)}" if waiting_s else "",
        in_words=in_words,
    )


def cost_bar(name: str, detail: str, cost: CollectiveCost, in_words: str = "", compute_s: float = 0.0) -> BillRow:
    """A bar of collectives alone, or beside compute; its sum in words unless they say more."""
    total = in_words or seconds(cost.total_s, least="ms")
    return bar(name, detail, cost.waiting_s, cost.bandwidth_s, total, compute_s)


def bill_row(priced: Bill, name: str, detail: str, share: bool = False) -> BillRow:
    """A bill as a bar: of a divided step with its speed-up, of a whole one or asked for with its share."""
    compute_s = priced.step.rank_compute_s
    if priced.step.divided and not share:
        in_words = f"{sum_in_ms(compute_s, priced.comm_s)}, {significant(priced.speedup)} ×"
    else:
        in_words = f"{sum_in_ms(priced.waiting_s, priced.bandwidth_s)}, {percent(priced.comm_fraction)}"
    return bar(name, detail, priced.waiting_s, priced.bandwidth_s, in_words, compute_s)


def one_gpu_row(step: Step) -> BillRow:
    """The whole step on one GPU, which sends nothing."""
    return bar(said("comm_cost", "bar.one_gpu"), "", 0.0, 0.0, step_time(step.compute_s), step.compute_s)


def link_row(view: View, link: LinkSpec, points: Sequence[MeasuredPoint]) -> BillRow:
    """The bar of one link, with the measured bill beside it where there is one."""
    priced = view.price(link)
    row = bill_row(priced, short_name(link), terms(link, view.kernel(link), priced))
    return with_timed(view, row, view.series(link), points)


def with_timed(view: View, row: BillRow, series: str, points: Sequence[MeasuredPoint]) -> BillRow:
    """A bar with the same bill as a machine was timed at, if any was at this size and number of ranks."""
    try:
        total_s = measured_bill(points, series, view.step).total_s
    except OutOfRangeError:
        return row
    return beside(row, total_s, "says.measured_ms", software=software(series, points))


def beside(row: BillRow, measured_s: float, words: str, **told: object) -> BillRow:
    """A bar with a measured time, as a tick and in the words of a block."""
    return replace(
        row, measured_ms=1e3 * measured_s, measured=said("comm_cost", words, measured_s=measured_s, **told)
    )


@kept
def link_rows(view: View, links: Sequence[LinkSpec], points: Sequence[MeasuredPoint]) -> list[BillRow]:
    """One GPU, then one bar a link; the napkin, whose step is whole, has no need of the first."""
    first = [] if view.napkin else [one_gpu_row(view.step)]
    return [*first, *(link_row(view, link, points) for link in links)]


def reading_rows(readings: Sequence[Reading]) -> list[BillRow]:
    return [
        bill_row(reading.bill, said("comm_cost", f"reading.{reading.key}"), "", share=True) for reading in readings
    ]


def terms(link: LinkSpec, kernel: str = "ring", priced: Bill | None = None) -> str:
    """What a link's price is made of, in words; the launch only where it is not zero.

    A kernel's stage takes longer with every rank that it reads, so its latency is that of the bill.
    """
    speed = bandwidth(large_bytes_per_s(priced.step.tp_size if priced is not None else 2, link))
    if kernel != "ring" and priced is not None:
        return said(
            "comm_cost",
            "says.s_each",
            kernel=named("comm_cost", kernel),
            kernel_s=significant(1e6 * priced.waiting_s / priced.step.all_reduces),
            speed=speed,
        )
    launch = f" {said('comm_cost', 'says.and_launch', base_s=seconds(link.base_s))}" if link.base_s else ""
    fitted = said("comm_cost", "says.fitted_n", measured_ranks=link.measured_ranks) if link.measured_ranks else ""
    return said(
        "comm_cost", "says.s_hop", latency_s=plain(1e6 * link.latency_s), launch=launch, speed=speed, fitted=fitted
    )


def software(series: str, points: Sequence[MeasuredPoint]) -> str:
    """What was measured, in words: the software and the machine."""
    point = next(point for point in points if point.series == series)
    name = point.software.split(";")[0]
    for what, block in ((" custom all-reduce", "says.own_kernel"), (" over TCP", "says.over_tcp")):
        name = said("comm_cost", block, software=name.removesuffix(what)) if name.endswith(what) else name
    return f"{name}, {named('comm_cost', point.machine)}"


def sum_in_ms(first_s: float, second_s: float) -> str:
    """Two terms and their sum to its third figure, in ms or from a second on in s."""
    total_s = first_s + second_s
    unit, size = ("s", 1.0) if total_s >= 1 else ("ms", 1e-3)
    first, second = units.addends((first_s, second_s), size)
    return local(f"{first} + {second} = {units.significant(total_s / size)} {unit}")


def result_terms(priced: Bill) -> tuple[tuple[str, str] | str, ...]:
    """The speed-up as it is worked by hand, in ms; the napkin's share, where the step is whole."""
    comm, whole = significant(1e3 * priced.comm_s), plain(1e3 * priced.step.compute_s)
    if not priced.step.divided:
        return (
            (said("comm_cost", "says.bill"), said("comm_cost", "says.step_bill")),
            (comm, f"{whole} + {comm}"),
            percent(priced.comm_fraction),
        )
    mine = plain(1e3 * priced.step.rank_compute_s)
    letters = (said("comm_cost", "says.one_gpu_s_step"), said("comm_cost", "says.compute_n_communication"))
    return letters, (whole, f"{mine} + {comm}"), f"{significant(priced.speedup)} ×"


def own_row(own: AskedBill, name: str, divided: bool = True) -> BillRow:
    rows = said("comm_cost", "says.tokens", tokens=own.tokens)
    return bill_row(own.bill(divided), name, f"{terms(own.link())}, TP={own.tp}, {rows}, {own.model}")


def learner_rows(bills: Sequence[OwnBill]) -> list[BillRow]:
    """Each link's bar by the reference, and under it by the learner's own code."""
    rows = []
    for own in bills:
        name, compute_s = short_name(own.link), own.due.step.compute_s
        share = "" if own.fraction is None else f", {percent(own.fraction)}"
        words = f"{sum_in_ms(own.latency_s, own.bandwidth_s)}{share}"
        rows.append(bill_row(own.due, said("comm_cost", "bar.reference", link=name), ""))
        yours = said("comm_cost", "bar.yours", link=name)
        rows.append(bar(yours, "", own.latency_s, own.bandwidth_s, words, compute_s))
    return rows
