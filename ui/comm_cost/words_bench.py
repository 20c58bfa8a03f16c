"""Lab 03's bench and slips: the rows each figure's prose names, asked for by the figure that is open."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from core.catalog import link as find_link
from core.collectives.across import FAR, HELD
from core.collectives.clock import AllReduce
from core.comm_cost.bill import NOISE_BELOW_FRACTION, Bill, bill, priced_ends
from core.comm_cost.expert_parallel import Experts
from core.comm_cost.kernels import in_switch_cost, picked_all_reduce, picked_bill
from core.comm_cost.node_boundary import NodeBill
from core.comm_cost.readings import Reading, TwoWay, misreadings
from core.comm_cost.remedies import PurchaseAdvice, overlap_break_even, overlap_for_fraction
from core.links.nccl_tests import Table
from core.links.nccl_tests.figures import bus_factor
from core.models.parameters import count_parameters
from core.specs import LinkSpec
from core.steps.batch_sweep import ridge_batch
from core.steps.model import ACTIVATION_BYTES
from core.steps.view import PHASES, View
from core.units import GB, GIB
from runtime.prose import named, said
from runtime.quantities import decimal_bytes, percent, plain
from runtime.rows import Row
from ui.comm_cost.rows_bench import flips_in_words
from ui.comm_cost.rows_residuals import small
from ui.comm_cost.rows_rounds import ALGORITHMS, races
from ui.comm_cost.rows_scale import DIVIDED, TP_SIZES, WHOLE, node_shares, share_of
from ui.comm_cost.rows_slips import largest
from ui.comm_cost.words import kernel_key

Fields = Mapping[str, object]

PAIR = ("llama-3-8b", "llama-3-70b")
"""The seeds' two models: the wider one has the smaller share of communication."""


def kernels(view: View) -> Fields:
    """The node's link by NCCL's ring and by what an engine picks."""
    picked, ring = picked_bill(view.step, view.link), bill(view.step, view.timed(view.link))
    return {
        "ring_bill": ring,
        "picked": picked.bill,
        "picked_kernel": said("comm_cost", f"kernel.{kernel_key(picked.kernel)}"),
        "saved": 1 - picked.bill.comm_s / ring.comm_s if ring.comm_s else 0.0,
        **_in_switch(view),
    }


def kernels_block(view: View) -> str:
    """The block that compares both: of a ring that an engine would take too, there is nothing to compare."""
    picked = picked_bill(view.step, view.link).kernel
    return "bench.kernels_none" if view.step.tp_size == 1 else f"bench.kernels{'_ring' if picked == 'NCCL' else ''}"


def _in_switch(view: View) -> Fields:
    """One all-reduce of the step's payload and a prefill's, added in NVLink 4's switch, and the engine's way."""
    link, ranks = find_link("nvlink-4"), 8
    small, large = (replace(view, phase=phase).step.payload_bytes for phase in PHASES)
    return {
        "switch": link,
        "switch_ranks": ranks,
        "switch_small_bytes": small,
        "switch_large_bytes": large,
        "switch_small": in_switch_cost(small, ranks, link),
        "switch_large": in_switch_cost(large, ranks, link),
        "switch_other_small": picked_all_reduce(small, ranks, link),
        "switch_other_large": picked_all_reduce(large, ranks, link),
    }


def units(link: LinkSpec, slips: Sequence[Reading]) -> Fields:
    """One link's numbers in every unit they are printed in, and what each slip makes of the verdict."""
    beta, right = link.bandwidth_bytes_per_s, slips[0].bill
    return {
        "unit_gib": f"{plain(beta / GIB)} GiB/s",
        "unit_bits": f"{plain(8 * beta / GB)} Gb/s",
        "unit_two_way": 2 * beta,
        "unit_round_trip": 2 * link.latency_s,
        "unit_payload_decimal": decimal_bytes(right.step.payload_bytes, 4),
        "right": right,
        "unit_flips": "; ".join(said("comm_cost", f"slip.{slip.key}", slip) for slip in slips if slip.flips),
    }


def _decode_of(view: View, key: str) -> Bill:
    """One sequence's step of another model on the same ranks and link."""
    asked = replace(view.scenario, model=key, batch=1, tp=max(2, view.scenario.tp))
    other = replace(view, scenario=asked, phase="decode")
    return other.price(view.link, other.step)


def gpus(view: View, dots: Sequence[Row]) -> Fields:
    """Which verdicts differ on another GPU, and what a larger model does to the bill on this one."""
    flips = flips_in_words(dots)
    small, large = (_decode_of(view, key) for key in PAIR)
    return {
        "small_bill": small,
        "large_bill": large,
        "pair_payload": large.step.payload_bytes / small.step.payload_bytes,
        "pair_sums": large.step.all_reduces / small.step.all_reduces,
        "pair_compute": large.step.compute_s / small.step.compute_s,
        "gpu_flips": "\n".join(f"- {line}" for line in flips) or said("comm_cost", "gpus.none"),
        "gpu_flip_count": len(flips),
        "gpu_count": len(dots) // 2,
    }


def remedies(view: View, link: LinkSpec, advice: PurchaseAdvice) -> Fields:
    """What each purchase saves, and how much would have to be hidden."""
    latency, bandwidth = advice.purchases
    now, fast = advice.now, bill(view.step, view.timed(view.link))
    compute_s = now.step.rank_compute_s
    needed = overlap_for_fraction(now.comm_s, compute_s, NOISE_BELOW_FRACTION) if now.comm_s else 0.0
    return {
        "buy_latency": latency,
        "buy_bandwidth": bandwidth,
        "buy": advice,
        "hide": said(
            "comm_cost",
            "hide.never" if needed is None else "hide.share",
            share=percent(needed or 0.0),
            noise=NOISE_BELOW_FRACTION,
        ),
        "overlap_even": overlap_break_even(fast.comm_s, now.comm_s) if now.comm_s else 0.0,
    }


def batch(view: View, points: Sequence[Row]) -> Fields:
    """The share at one sequence and at the most, and where a step turns to arithmetic."""
    name, most = points[-1].series, max(point.size for point in points)
    own = [point for point in points if point.series == name]
    carried = [point.size for point in own if point.rules == "bandwidth"]
    scenario = view.scenario
    return {
        "batch_name": name,
        "batch_most": most,
        "batch_moves": said(
            "comm_cost", f"says.{'grows' if own[-1].share_percent > own[0].share_percent else 'falls'}"
        ),
        "batch_one": share_of(points, name, 1),
        "batch_many": share_of(points, name, most),
        "batch_turn": said(
            "comm_cost", "says.sequences" if carried else "says.no_batch_shown", carried=min(carried, default=0)
        ),
        "batch_ridge": ridge_batch(scenario.model_spec, scenario.gpu_spec, scenario.weight_dtype),
    }


def nodes(view: View, bills: Sequence[NodeBill], gpus_per_node: int) -> Fields:
    """The last size inside one node, the first past it, and the shares of both ways to count the step."""
    shares, most = node_shares(bills), TP_SIZES[-1]
    inside = max((bill for bill in bills if bill.nodes == 1), key=lambda bill: bill.whole.step.tp_size)
    return {
        "node_gpus": gpus_per_node,
        "inside": inside,
        "inside_picked": picked_bill(inside.whole.step, view.link).bill,
        "past": min((bill for bill in bills if bill.nodes > 1), key=lambda bill: bill.whole.step.tp_size),
        "node_whole": share_of(shares, named("comm_cost", WHOLE), most),
        "node_divided": share_of(shares, named("comm_cost", DIVIDED), most),
        "node_most": f"TP={most}",
        "node_tables": HELD,
        "node_far": FAR,
    }


def experts(ask: Experts, link: LinkSpec) -> Fields:
    """Expert parallelism's bytes and time beside tensor parallelism's, on the same layers."""
    plainly, once = ask.bill(link, deduplicated=False), ask.bill(link, deduplicated=True)
    return {
        "ask": ask,
        "moe": plainly,
        "once": once,
        "moe_mixed_s": plainly.layers * plainly.mixed.total_s,
        "attention_bytes": ACTIVATION_BYTES * count_parameters(ask.model).attention,
        "moe_even": plainly.copies / ask.ranks,
    }


def ends(view: View, link: LinkSpec) -> Fields:
    """What a step sends beside its layers."""
    step, layers = view.step, view.price(link)
    embedding, head = priced_ends(step, view.timed(link))
    return {
        "layers": layers,
        "embedding": embedding,
        "head": head,
        "ends_share": (embedding.time_s + head.time_s) / layers.comm_s,
    }


def residuals(by_ranks: Sequence[Row], by_payload: Sequence[Row]) -> Fields:
    """The napkin model's miss by machine at 8 KiB, and by how much it misses one machine's large payloads."""
    first, *_, last = by_payload
    worst = min(by_payload, key=lambda miss: miss.ratio)
    return {
        "fastest": min(by_ranks, key=lambda miss: miss.ratio),
        "slowest": max(by_ranks, key=lambda miss: miss.ratio),
        "first": first,
        "worst": worst,
        "last": last,
        "residual_low": 2**14,
        "residual_high": 2**26,
        "small": by_ranks[0],
        "graph_s": 1e-6 * small(by_ranks, "h100-vllm-graph", 8).measured_us,
        "eager_s": 1e-6 * small(by_ranks, "h100-vllm-eager", 8).measured_us,
        "nccl_s": 1e-6 * small(by_ranks, "h100-nccl", 8).measured_us,
        "switch": find_link("nvlink-4"),
    }


def two_way(both: TwoWay) -> Fields:
    """What a vendor prints for NVLink 4, and what it does to one all-reduce."""
    one_way = find_link("nvlink-4").bandwidth_bytes_per_s
    measured = said("comm_cost", "two_way.never" if both.measured_s is None else "two_way.timed", both)
    return {
        "slip": both,
        "slip_link": "NVLink 4",
        "one_way": one_way,
        "two_way": 2 * one_way,
        "slip_measured": measured,
    }


def table(pasted: Table) -> Fields:
    """A shipped table's largest row by three readings of its bandwidth column."""
    told = {reading.key: reading for reading in misreadings(pasted)}
    return {
        "shipped": pasted,
        "slip_largest": largest(pasted),
        "slip_factor": bus_factor(pasted.op, pasted.ranks or 2),
        "busbw": told["busbw"],
        "as_algbw": told["busbw_as_algbw"],
        "average": told["average_busbw"],
    }


def rounds(over: AllReduce) -> Fields:
    """The three courses in numbers, and what a slow port adds to each."""
    names = {"ring": "ring", "binomial_tree": "tree", "one_shot": "one_shot"}
    by_algorithm = dict(zip(ALGORITHMS, races(over), strict=True))
    alike = dict(zip(ALGORITHMS, races(replace(over, slowdown=1.0)), strict=True))
    ring, beta = by_algorithm["ring"], over.link.bandwidth_bytes_per_s
    return {
        "wire": over,
        "ring_wait_share": 1 - ring.bandwidth_s / ring.end_s,
        "ring_byte_share": ring.bandwidth_s / ring.end_s,
        "slow_rank": f"r{over.ranks - 1}",
        **{name: by_algorithm[key] for key, name in names.items()},
        **{f"{name}_rounds": len(by_algorithm[key].rounds) for key, name in names.items()},
        **{f"{name}_bytes": alike[key].bandwidth_s * beta for key, name in names.items()},
        **{f"slow_{name}": by_algorithm[key].end_s - alike[key].end_s for key, name in names.items()},
    }
