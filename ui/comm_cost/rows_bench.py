"""Lab 03's bench on the scenario's own bill: kernels, other GPUs, slipped units, what to buy, the two ends."""

from collections.abc import Sequence
from dataclasses import replace

from core.catalog import LINKS, gpu
from core.comm_cost.bill import Bill, bill, priced_ends
from core.comm_cost.kernels import in_switch_cost, picked_bill
from core.comm_cost.measured import MeasuredPoint
from core.comm_cost.readings import Reading
from core.comm_cost.remedies import PurchaseAdvice, exposed_s
from core.specs import LinkSpec
from core.steps.view import View, ring_series
from runtime.catalog_words import short_name, told
from runtime.kept import kept
from runtime.prose import named, said
from runtime.quantities import binary_bytes, percent, plain, seconds
from runtime.rows import Row
from ui.comm_cost.rows import BillRow, bar, bill_row, cost_bar, one_gpu_row, terms, with_timed

_GPUS = ("b200-sxm", "h200-sxm", "h100-sxm", "mi300x", "a100-80gb-sxm", "l40s", "rtx-3090", "rtx-4090", "a10g")


@kept
def kernel_rows(view: View, points: Sequence[MeasuredPoint]) -> list[BillRow]:
    """One GPU, then both of the page's links by NCCL's ring and by what an engine picks, with what was timed."""
    rows = [one_gpu_row(view.step)]
    for link in view.links:
        ring, picked = bill(view.step, view.timed(link)), picked_bill(view.step, link)
        name = "ring" if picked.kernel == "NCCL" else picked.kernel
        row = bill_row(ring, said("comm_cost", "says.nccl", short_name=short_name(link)), terms(link))
        rows.append(with_timed(view, row, ring_series(view, link), points))
        if name != "ring":
            said_of = f"{short_name(link)}, {named('comm_cost', name)}"
            row = bill_row(picked.bill, said_of, terms(link, name, picked.bill))
            rows.append(with_timed(view, row, view.series(link), points))
        switch = in_switch_cost(view.step.payload_bytes, view.step.tp_size, link)
        if switch is not None:
            added = Bill(view.step, switch.times(view.step.all_reduces))
            detail = said("comm_cost", "kernels.switch", switch)
            rows.append(bill_row(added, said("comm_cost", "bar.switch", over=short_name(link)), detail))
    return rows


@kept
def share_dots(view: View) -> list[Row]:
    """Both of the page's links on a row of GPUs, the fastest step first."""
    keys = dict.fromkeys((view.scenario.gpu, *_GPUS))
    elsewhere = [replace(view, scenario=replace(view.scenario, gpu=key)) for key in keys]
    elsewhere.sort(key=lambda other: other.step.compute_s)
    return [
        _dot(view, other, role, link)
        for other in elsewhere
        for role, link in zip(("link", "network"), view.links, strict=True)
    ]


def _dot(view: View, other: View, role: str, link: LinkSpec) -> Row:
    here, there = view.price(link), view.price(link, other.step)
    return Row(
        gpu=gpu(other.scenario.gpu).name,
        step=f"{plain(1e3 * there.step.rank_compute_s)} ms",
        step_ms=1e3 * there.step.rank_compute_s,
        role=role,
        link=short_name(link),
        share_percent=100 * there.comm_fraction,
        share=percent(there.comm_fraction),
        verdict=named("comm_cost", there.verdict),
        flips=there.verdict != here.verdict,
    )


def flips_in_words(dots: Sequence[Row]) -> list[str]:
    """A line for each verdict that differs on another GPU, with the step that makes it so."""
    return [said("comm_cost", "gpus.flip", dot) for dot in dots if dot.flips]


def slip_row(slip: Reading) -> BillRow:
    """A slip as a bar; what it multiplies is said under it, a flipped verdict beside its sum."""
    factors = [
        f"{named('shell', what)} × {plain(factor)}"
        for what, factor in (("bandwidth", slip.bandwidth_factor), ("latency", slip.latency_factor))
        if factor != 1
    ]
    name, verdict = said("comm_cost", f"reading.{slip.key}"), named("comm_cost", slip.bill.verdict)
    row = bill_row(
        slip.bill, name, ", ".join(factors) or said("comm_cost", "says.verdict", verdict=verdict), share=True
    )
    return replace(row, in_words=f"{row.in_words}, {verdict}") if slip.flips else row


def remedy_rows(advice: PurchaseAdvice, overlap_fraction: float, link: LinkSpec) -> list[BillRow]:
    """The bill as it is, with each purchase, and with a share of it hidden behind compute."""
    now = advice.now
    still_s = exposed_s(now.comm_s, now.step.rank_compute_s, overlap_fraction)
    return [
        bill_row(now, said("comm_cost", "reading.right"), terms(link)),
        *(
            bill_row(one.bill, said("comm_cost", f"bar.{one.key}"), said("comm_cost", "says.saves", one))
            for one in advice.purchases
        ),
        bill_row(
            _shortened(now, still_s / now.comm_s if now.comm_s else 0.0),
            said("comm_cost", "says.hidden", overlap_fraction=percent(overlap_fraction, 0)),
            said("comm_cost", "says.run_behind_compute", comm_s=seconds(now.comm_s - still_s)),
        ),
    ]


def _shortened(now: Bill, share: float) -> Bill:
    """What still stands in the way, all terms shortened alike."""
    terms_s = {name: share * getattr(now.cost, name) for name in ("latency_s", "bandwidth_s", "base_s")}
    return replace(now, cost=replace(now.cost, **terms_s))


@kept
def end_rows(view: View, link: LinkSpec) -> list[BillRow]:
    """The layers' all-reduces, and apart from them what both ends of the model send."""
    step, layers = view.step, view.price(link)
    total = seconds(layers.comm_s, least="ms")
    detail = f"{step.all_reduces} × {binary_bytes(step.payload_bytes)}"
    rows = [bar(said("comm_cost", "bar.layers"), detail, layers.waiting_s, layers.bandwidth_s, total)]
    for end in priced_ends(step, view.timed(link)):
        name, detail = (said("comm_cost", f"{what}.{end.layer}") for what in ("bar", "end"))
        rows.append(cost_bar(name, f"{detail}, {binary_bytes(end.payload_bytes)}", end.cost))
    return rows


def constant_rows() -> list[Row]:
    """Every link of the catalog, one direction, the widest first."""
    rows = (
        Row(
            key=link.key,
            name=told(link.name.split(", NCCL")[0]),
            latency_us=1e6 * link.latency_s,
            base_us=1e6 * link.base_s,
            nominal_gb_s=1e-9 * link.bandwidth_bytes_per_s,
            measured_gb_s=None if link.measured_bytes_per_s is None else 1e-9 * link.measured_bytes_per_s,
            shared_by=link.scope,
            note=told(link.measured_note),
            source=told(link.source),
        )
        for link in LINKS.values()
    )
    return sorted(rows, key=lambda row: -row.nominal_gb_s)
