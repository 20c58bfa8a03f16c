"""Lab 03's bench on the scenario's own bill: other GPUs, slipped units, what to buy or hide, and the two ends."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.catalog import LINKS, gpu
from core.comm_cost.bill import Bill, PricedCollective, Verdict, bill, priced_ends
from core.comm_cost.readings import Reading, unit_slips
from core.comm_cost.remedies import PurchaseAdvice, exposed_s, what_to_buy
from core.scenario import Scenario
from core.specs import LinkSpec
from core.units import binary_bytes, percent, plain, seconds, significant
from ui.comm_cost.rows import BillRow, Phase, bill_row, compute_s, short_name, step_of, terms

_GPUS = ("b200-sxm", "h200-sxm", "h100-sxm", "mi300x", "a100-80gb-sxm", "l40s", "rtx-3090", "rtx-4090", "a10g")

SLIPS = {
    "right": "As it is",
    "bits_for_bytes": "Gb/s taken for GB/s",
    "both_ways_for_one": "Both directions taken for one",
    "binary_for_decimal": "GB taken for GiB",
    "round_trip_for_hop": "A round trip taken for a hop",
    "hop_for_round_trip": "A hop taken for a round trip",
}


@dataclass(frozen=True)
class ShareDot:
    """The bill's share of the step on one GPU over one link; `flips` where its verdict is not the scenario's."""

    gpu: str
    step: str
    step_ms: float
    role: str
    link: str
    share_percent: float
    share: str
    verdict: Verdict
    flips: bool


def share_dots(scenario: Scenario, phase: Phase) -> list[ShareDot]:
    """Both of the scenario's links on a row of GPUs, the fastest step first."""
    keys = dict.fromkeys((scenario.gpu, *_GPUS))
    there = sorted((replace(scenario, gpu=key) for key in keys), key=lambda s: compute_s(s, phase))
    return [_dot(scenario, elsewhere, phase, role) for elsewhere in there for role in ("link", "network")]


def _dot(scenario: Scenario, elsewhere: Scenario, phase: Phase, role: str) -> ShareDot:
    link = scenario.link_spec if role == "link" else scenario.network_spec
    here, there = (bill(step_of(one, phase), link) for one in (scenario, elsewhere))
    return ShareDot(
        gpu=gpu(elsewhere.gpu).name,
        step=f"{plain(1e3 * there.step.rank_compute_s)} ms",
        step_ms=1e3 * there.step.rank_compute_s,
        role=role,
        link=short_name(link),
        share_percent=100 * there.comm_fraction,
        share=percent(there.comm_fraction),
        verdict=there.verdict,
        flips=there.verdict != here.verdict,
    )


def flips_in_words(dots: Sequence[ShareDot]) -> list[str]:
    """A line for each verdict that is another on another GPU, with the step that makes it so."""
    return [
        f"{dot.gpu}, a step of {dot.step}: {dot.link} becomes {dot.verdict}, {dot.share}."
        for dot in dots
        if dot.flips
    ]


def slips(scenario: Scenario, phase: Phase, link: LinkSpec) -> tuple[Reading, ...]:
    """The bill over a link, right and with each unit slipped."""
    return unit_slips(step_of(scenario, phase), link)


def slip_rows(found: Sequence[Reading]) -> list[BillRow]:
    """One bar a slip; what it multiplies is said under it, a flipped verdict beside its sum."""
    return [_slip_row(slip) for slip in found]


def _slip_row(slip: Reading) -> BillRow:
    factors = [
        f"{what} × {plain(factor)}"
        for what, factor in (("bandwidth", slip.bandwidth_factor), ("latency", slip.latency_factor))
        if factor != 1
    ]
    row = bill_row(slip.bill, SLIPS[slip.key], ", ".join(factors) or f"verdict: {slip.bill.verdict}")
    return replace(row, in_words=f"{row.in_words}, {slip.bill.verdict}") if slip.flips else row


def advice(scenario: Scenario, phase: Phase, link: LinkSpec) -> PurchaseAdvice:
    """Half the latency or twice the bandwidth, for the scenario's step."""
    return what_to_buy(step_of(scenario, phase), link)


def remedy_rows(found: PurchaseAdvice, overlap_fraction: float, link: LinkSpec) -> list[BillRow]:
    """The bill as it is, with each purchase, and with a share of it hidden behind compute."""
    latency, bandwidth = found.purchases
    return [
        bill_row(found.now, "As it is", terms(link)),
        bill_row(latency.bill, "Half the latency", f"saves {seconds(latency.saved_s)}"),
        bill_row(bandwidth.bill, "Twice the bandwidth", f"saves {seconds(bandwidth.saved_s)}"),
        _hidden_row(found.now, overlap_fraction),
    ]


def _hidden_row(now: Bill, overlap_fraction: float) -> BillRow:
    """What still stands in the way, both terms shortened alike."""
    still_s = exposed_s(now.comm_s, now.step.rank_compute_s, overlap_fraction)
    share = still_s / now.comm_s if now.comm_s else 0.0
    cost = now.cost
    shortened = replace(
        cost,
        latency_s=cost.latency_s * share,
        bandwidth_s=cost.bandwidth_s * share,
        base_s=cost.base_s * share,
    )
    hidden = f"{seconds(now.comm_s - still_s)} run behind compute"
    return bill_row(replace(now, cost=shortened), f"{percent(overlap_fraction, 0)} hidden", hidden)


def end_rows(scenario: Scenario, phase: Phase, link: LinkSpec) -> list[BillRow]:
    """The layers' all-reduces, and apart from them what both ends of the model send."""
    step = step_of(scenario, phase)
    layers, found = f"{step.all_reduces} × {binary_bytes(step.payload_bytes)}", bill(step, link)
    body = _end_row("Layers", layers, found.waiting_s, found.bandwidth_s)
    return [body, *(_extra_row(extra) for extra in priced_ends(step, link))]


def _extra_row(extra: PricedCollective) -> BillRow:
    name = {"embed_tokens": "Embedding", "lm_head": "Head"}[extra.layer]
    what = {"all_reduce": "one more all-reduce", "all_gather": "a gather of logits"}[extra.op]
    cost = extra.cost
    return _end_row(
        name, f"{what}, {binary_bytes(extra.payload_bytes)}", cost.base_s + cost.latency_s, cost.bandwidth_s
    )


def _end_row(name: str, detail: str, waiting_s: float, bandwidth_s: float) -> BillRow:
    return BillRow(
        name=name,
        detail=detail,
        compute_ms=0.0,
        latency_ms=1e3 * waiting_s,
        bandwidth_ms=1e3 * bandwidth_s,
        compute="",
        waiting=f"latency, {seconds(waiting_s)}",
        in_words=f"{significant(1e3 * (waiting_s + bandwidth_s))} ms",
    )


@dataclass(frozen=True)
class ConstantRow:
    """One link's constants: what is sold, what was measured, and where both are from."""

    key: str
    name: str
    latency_us: float
    base_us: float
    nominal_gb_s: float
    measured_gb_s: float | None
    shared_by: str
    note: str
    source: str


def constant_rows() -> list[ConstantRow]:
    """Every link of the catalog, one direction, the widest first."""
    rows = (
        ConstantRow(
            key=link.key,
            name=link.name.split(", NCCL")[0],
            latency_us=1e6 * link.latency_s,
            base_us=1e6 * link.base_s,
            nominal_gb_s=1e-9 * link.bandwidth_bytes_per_s,
            measured_gb_s=None if link.measured_bytes_per_s is None else 1e-9 * link.measured_bytes_per_s,
            shared_by=link.scope,
            note=link.measured_note,
            source=link.source,
        )
        for link in LINKS.values()
    )
    return sorted(rows, key=lambda row: -row.nominal_gb_s)
