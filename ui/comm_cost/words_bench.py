"""Lab 03's bench: the numbers each figure's prose is filled with, asked for by the figure that is open."""

from collections.abc import Mapping, Sequence

from core.catalog import LINKS
from core.comm_cost.bill import NOISE_BELOW_FRACTION, bill, priced_ends
from core.comm_cost.node_boundary import NodeBill
from core.comm_cost.readings import Reading
from core.comm_cost.remedies import PurchaseAdvice, overlap_break_even, overlap_for_fraction
from core.scenario import Scenario
from core.specs import LinkSpec
from core.steps.batch_sweep import ridge_batch
from core.units import (
    GB,
    GIB,
    bandwidth,
    binary_bytes,
    decimal_bytes,
    grouped,
    percent,
    plain,
    seconds,
    significant,
)
from ui.comm_cost.rows import Phase, short_name, step_of, terms
from ui.comm_cost.rows_bench import SLIPS, ShareDot, flips_in_words
from ui.comm_cost.rows_residuals import Miss, small
from ui.comm_cost.rows_scale import (
    DIVIDED,
    TP_SIZES,
    WHOLE,
    Experts,
    SharePoint,
    expert_bills,
    node_shares,
    share_of,
)

Fields = Mapping[str, str]


def constants(scenario: Scenario) -> Fields:
    """Where the scenario's two links have their numbers from."""
    found: dict[str, str] = {}
    for role, wire in _links(scenario):
        found |= {
            f"{role}_name": short_name(wire),
            f"{role}_terms": terms(wire),
            f"{role}_source": wire.source,
            f"{role}_measured_note": f"Measured: {wire.measured_note}." if wire.measured_note else "",
        }
    return found


def units(link: LinkSpec, slips: Sequence[Reading]) -> Fields:
    """One link's numbers in every unit they are printed in, and what each slip makes of the verdict."""
    beta, right = link.bandwidth_bytes_per_s, slips[0].bill
    flipped = [
        f"{SLIPS[slip.key].lower()}, {slip.bill.verdict} at {percent(slip.bill.comm_fraction)}"
        for slip in slips
        if slip.flips
    ]
    return {
        "over_name": short_name(link),
        "unit_one_way": bandwidth(beta),
        "unit_gib": f"{plain(beta / GIB)} GiB/s",
        "unit_bits": f"{plain(8 * beta / GB)} Gb/s",
        "unit_two_way": bandwidth(2 * beta),
        "unit_hop": seconds(link.latency_s),
        "unit_round_trip": seconds(2 * link.latency_s),
        "unit_payload": binary_bytes(right.step.payload_bytes),
        "unit_payload_decimal": decimal_bytes(right.step.payload_bytes, 4),
        "unit_share": percent(right.comm_fraction),
        "unit_verdict": right.verdict,
        "unit_flips": "; ".join(flipped),
    }


def gpus(scenario: Scenario, phase: Phase, dots: Sequence[ShareDot]) -> Fields:
    """Which verdicts are another on another GPU."""
    here = {role: bill(step_of(scenario, phase), link) for role, link in _links(scenario)}
    return {
        "gpu_name": scenario.gpu_spec.name,
        "gpu_step": f"{plain(1e3 * here['link'].step.rank_compute_s)} ms",
        **{
            f"gpu_{role}": f"{short_name(link)} is {here[role].verdict}, {percent(here[role].comm_fraction)}"
            for role, link in _links(scenario)
        },
        "gpu_flips": _listed(flips_in_words(dots)) or "On none of these GPUs is a verdict another.",
        "gpu_flip_count": str(sum(dot.flips for dot in dots)),
        "gpu_count": str(len(dots) // 2),
    }


def _listed(lines: Sequence[str]) -> str:
    """Lines as a Markdown list."""
    return "\n".join(f"- {line}" for line in lines)


def _links(scenario: Scenario) -> tuple[tuple[str, LinkSpec], tuple[str, LinkSpec]]:
    return ("link", scenario.link_spec), ("network", scenario.network_spec)


def remedies(
    scenario: Scenario, phase: Phase, link: LinkSpec, advice: PurchaseAdvice, overlap_fraction: float
) -> Fields:
    """What each purchase saves, and how much would have to be hidden."""
    latency, bandwidth_bought = advice.purchases
    now, fast = advice.now, bill(step_of(scenario, phase), scenario.link_spec)
    needed = overlap_for_fraction(now.comm_s, now.step.rank_compute_s, NOISE_BELOW_FRACTION) if now.comm_s else 0.0
    return {
        "over_name": short_name(link),
        "buy_latency": seconds(latency.saved_s),
        "buy_bandwidth": seconds(bandwidth_bought.saved_s),
        "buy_payload": binary_bytes(now.step.payload_bytes),
        "buy_equal": binary_bytes(advice.equal_payload_bytes),
        "overlap": percent(overlap_fraction, 0),
        "overlap_noise": "more than a step can hide" if needed is None else percent(needed),
        "overlap_even": percent(overlap_break_even(fast.comm_s, now.comm_s)) if now.comm_s else percent(0.0),
        "fast_name": short_name(scenario.link_spec),
        "noise_threshold": percent(NOISE_BELOW_FRACTION, 0),
    }


def batch(scenario: Scenario, points: Sequence[SharePoint]) -> Fields:
    """The share at one sequence and at the most, and where a step turns to arithmetic."""
    series = list(dict.fromkeys(point.series for point in points))
    name, most = series[-1], max(point.size for point in points)
    carried = [point.size for point in points if point.series == name and point.rules == "bandwidth"]
    return {
        "batch_name": name,
        "batch_most": grouped(most),
        "batch_moves": "grows" if _share(points, name, most) > _share(points, name, 1) else "falls",
        "batch_one": share_of(points, name, 1),
        "batch_many": share_of(points, name, most),
        "batch_turn": f"{grouped(carried[0])} sequences" if carried else "no batch shown",
        "batch_ridge": grouped(round(ridge_batch(scenario.model_spec, scenario.gpu_spec, scenario.weight_dtype))),
    }


def _share(points: Sequence[SharePoint], series: str, size: int) -> float:
    return next(point.share_percent for point in points if (point.series, point.size) == (series, size))


def nodes(scenario: Scenario, bills: Sequence[NodeBill], gpus_per_node: int) -> Fields:
    """The last size inside one node, the first past it, and the shares of both ways to count the step."""
    inside = max((found for found in bills if found.nodes == 1), key=lambda found: found.whole.step.tp_size)
    past = min((found for found in bills if found.nodes > 1), key=lambda found: found.whole.step.tp_size)
    shares = node_shares(bills)
    most = TP_SIZES[-1]
    return {
        "node_link": short_name(scenario.link_spec),
        "node_network": short_name(scenario.network_spec),
        "node_gpus": str(gpus_per_node),
        "node_inside_tp": f"TP={inside.whole.step.tp_size}",
        "node_inside": f"{significant(1e3 * inside.whole.comm_s)} ms",
        "node_past_tp": f"TP={past.whole.step.tp_size}",
        "node_past": f"{significant(1e3 * past.whole.comm_s)} ms",
        "node_network_share": percent(past.network_fraction, 0),
        "node_flat": f"{significant(1e3 * past.flat.comm_s)} ms",
        "node_whole": share_of(shares, WHOLE, most),
        "node_divided": share_of(shares, DIVIDED, most),
        "node_most": f"TP={most}",
    }


def experts(ask: Experts, link: LinkSpec) -> Fields:
    """Expert parallelism's bytes and time beside tensor parallelism's, on the same layers."""
    plainly, once = expert_bills(ask, link)
    return {
        "over_name": short_name(link),
        "moe_model": ask.mixture,
        "moe_layers": str(plainly.layers),
        "moe_ranks": str(ask.ranks),
        "moe_k": plain(plainly.copies),
        "moe_ratio": percent(plainly.traffic_ratio),
        "moe_even": percent(plainly.copies / (2 * ask.ranks)),
        "moe_ep": f"{significant(1e3 * plainly.comm_s)} ms",
        "moe_tp": f"{significant(1e3 * plainly.tensor_parallel_s)} ms",
        "moe_distinct": plain(once.copies),
        "moe_imbalance": plain(ask.imbalance),
    }


def ends(scenario: Scenario, phase: Phase, link: LinkSpec) -> Fields:
    """What a step sends beside its layers."""
    step = step_of(scenario, phase)
    found, (embedding, head) = bill(step, link), priced_ends(step, link)
    return {
        "over_name": short_name(link),
        "ends_layers": f"{significant(1e3 * found.comm_s)} ms",
        "ends_count": str(step.all_reduces),
        "ends_payload": binary_bytes(step.payload_bytes),
        "ends_embedding": seconds(embedding.time_s),
        "ends_head": binary_bytes(head.payload_bytes),
        "ends_head_time": seconds(head.time_s),
        "ends_times": plain(head.payload_bytes / step.payload_bytes),
        "ends_share": percent((embedding.time_s + head.time_s) / found.comm_s) if found.comm_s else percent(0.0),
        "vocabulary": grouped(scenario.model_spec.vocab_size),
    }


def residuals(by_ranks: Sequence[Miss], by_payload: Sequence[Miss]) -> Fields:
    """The napkin model's miss by machine at 8 KiB, and by how much it misses one machine's large payloads."""
    named = {
        "a100": "a100-nccl",
        "h100": "h100-nccl",
        "one_shot": "h100-vllm-graph",
        "eager": "h100-vllm-eager",
    }
    misses = {
        f"miss_{name}_{size}": _times(small(by_ranks, series, size))
        for name, series in named.items()
        for size in (2, 8)
    }
    first, *_, last = by_payload
    worst = min(by_payload, key=lambda miss: miss.ratio)
    return {
        **misses,
        "residual_ranks": str(first.ranks),
        "residual_machine": first.name,
        "residual_low": binary_bytes(2**14),
        "residual_high": binary_bytes(2**26),
        "residual_small": binary_bytes(by_ranks[0].payload_bytes),
        "graph_us": f"{significant(small(by_ranks, 'h100-vllm-graph', 8).measured_us)} µs",
        "eager_us": f"{significant(small(by_ranks, 'h100-vllm-eager', 8).measured_us)} µs",
        "nccl_us": f"{significant(small(by_ranks, 'h100-nccl', 8).measured_us)} µs",
        "first_payload": binary_bytes(first.payload_bytes),
        "first_ratio": _times(first),
        "worst_payload": binary_bytes(worst.payload_bytes),
        "worst_ratio": _times(worst),
        "last_payload": binary_bytes(last.payload_bytes),
        "last_ratio": _times(last),
        "switch_link": bandwidth(LINKS["nvlink-4"].bandwidth_bytes_per_s),
        "switch_note": LINKS["nvlink-4"].measured_note,
    }


def _times(miss: Miss) -> str:
    return f"{miss.ratio:.2f} ×"
