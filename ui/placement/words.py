"""The planner: the numbers its prose is filled with."""

from collections.abc import Mapping

from core.evidence.calibration import DECODE_BAND, calibration_of
from core.placement.cases import LATENCY_TARGET_S, PRINTED_CONCURRENCY
from core.placement.planner import WITHIN_ERROR, Placement, Plan, Question
from core.placement.steps import Timing
from core.placement.topology import Topology
from core.placement.trace import usable_source
from core.units import GIB, bandwidth, decimal_bytes, grouped, percent, plain, seconds
from ui.placement.rows import MOST_LOST, MOST_REFUSED, case_plans, lost, rate


def fields(
    found: Placement, plan: Plan | None, pinned: Plan | None, topology: Topology | None
) -> Mapping[str, str]:
    """Every number of the page's prose, from core, with its unit."""
    return {
        **_question_fields(found.question),
        **_plan_fields(found, plan),
        **_seen_fields(topology),
        **_case_fields(),
        "plans": grouped(len(found.plans)),
        "fitting": grouped(len(found.fitting)),
        "refused": grouped(len(found.plans) - len(found.fitting)),
        "front_plans": str(len({point.plan for point in found.front})),
        "pinned": pinned.layout.name if pinned else "nothing",
        "within": percent(WITHIN_ERROR, 0),
        "more_lost": grouped(max(0, len(lost(found)) - MOST_LOST)),
        "more_refused": grouped(max(0, len(found.plans) - len(found.fitting) - MOST_REFUSED)),
        "minimum": f"TP={found.min_tp}" if found.min_tp else "none",
    }


def _question_fields(question: Question) -> dict[str, str]:
    cluster, budget, demand = question.cluster, question.budget, question.demand
    low, high = DECODE_BAND
    constants = calibration_of(cluster.gpu).efficiency
    return {
        "model_name": question.model.name,
        "gpu_name": cluster.gpu.name,
        "gpus": str(cluster.gpus),
        "gpus_per_node": str(cluster.gpus_per_node),
        "domain": str(cluster.domain),
        "link_name": cluster.link.name,
        "network_name": cluster.network.name,
        "port": bandwidth(cluster.port.bandwidth_bytes_per_s),
        "weight_dtype": demand.dtype,
        "kv_dtype": demand.kv_dtype,
        "concurrency": grouped(demand.concurrency),
        "prompt": grouped(demand.prompt_tokens),
        "output": grouped(demand.output_tokens),
        "utilisation": plain(budget.utilisation),
        "usable": decimal_bytes(budget.usable_bytes, 4),
        "usable_gib": f"{budget.usable_bytes / GIB:.2f} GiB",
        "usable_source": usable_source(question),
        "granted": decimal_bytes(budget.granted_bytes),
        "overhead": decimal_bytes(budget.overhead.total_bytes),
        "reached": percent(constants.reached_fraction, 0),
        "floor": seconds(constants.layer_floor_s),
        "constants_of": calibration_of(cluster.gpu).name,
        "band_low": percent(1 - low, 0),
        "band_high": percent(high - 1, 0),
    }


def _plan_fields(found: Placement, plan: Plan | None) -> dict[str, str]:
    timing = plan.timing if plan else None
    demand = found.question.demand
    target = demand.slo_itl_s
    cost = plan.usd_per_million_tokens(demand.usd_per_gpu_hour) if plan else None
    return {
        "answer": _answer(found, plan),
        "broken": plan.broken if plan else "",
        "weights_rank": decimal_bytes(plan.weights_bytes) if plan and plan.weights_bytes else "none",
        "kv_tokens": grouped(plan.kv_tokens) if plan else "0",
        "room": grouped(plan.max_concurrency) if plan else "0",
        "used": str(plan.layout.gpus) if plan else "0",
        "cost": "set a price" if cost is None else f"${cost:.2f}",
        "target": f"The target is {seconds(target)}." if target else "No target is set.",
        **_timing_fields(timing, plan),
    }


def _answer(found: Placement, plan: Plan | None) -> str:
    if not found.fitting or plan is None:
        return "no plan fits"
    return plan.layout.name if plan.fits else f"{plan.layout.name} does not fit"


def _timing_fields(timing: Timing | None, plan: Plan | None) -> dict[str, str]:
    low, high = DECODE_BAND
    if timing is None or plan is None:
        names = ("itl", "itl_low", "itl_high", "ttft", "rate", "decode_rate", "rate_gpu", "wires", "wires_share")
        return dict.fromkeys(names, "none")
    said = [f"{seconds(wire.time_s)} on {wire.wire} ({wire.messages} {wire.what})" for wire in timing.bill]
    return {
        "itl": seconds(timing.itl_s),
        "itl_low": seconds(low * timing.itl_s),
        "itl_high": seconds(high * timing.itl_s),
        "ttft": seconds(timing.ttft_s),
        "rate": rate(timing.sustained_tokens_per_s),
        "decode_rate": rate(timing.tokens_per_s),
        "rate_gpu": rate(timing.sustained_tokens_per_s / plan.layout.gpus),
        "wires": "; ".join(said) or "nothing",
        "wires_share": percent(min(1.0, timing.comm_s / timing.itl_s), 0),
    }


def _seen_fields(topology: Topology | None) -> dict[str, str]:
    if topology is None:
        return {"seen": ""}
    domains = ", ".join("+".join(map(str, domain)) for domain in topology.domains[:8])
    nvlink = f"NVLink joins {domains}" if topology.nvlink_present else "no NVLink"
    nics = f"{len(topology.near_nics)} of {len(topology.nics)} NICs near a GPU"
    return {"seen": f"{topology.gpus} GPUs, {nvlink}, the farthest pair {topology.worst_way}, {nics}"}


def _case_fields() -> dict[str, str]:
    """What the worked cases' sentences need."""
    said: dict[str, str] = {
        "case_target": seconds(LATENCY_TARGET_S),
        "printed_one": f"{PRINTED_CONCURRENCY[0]}×",
        "printed_two": f"{PRINTED_CONCURRENCY[1]}×",
    }
    for key in ("latency", "two_nodes", "two_engines", "over_pcie", "pipeline", "small_model", "mixture"):
        for index, (_, plan) in enumerate(case_plans(key)):
            timing = plan.timing
            assert timing is not None, "worked cases fit"
            said |= {
                f"{key}_{index}_itl": seconds(timing.itl_s),
                f"{key}_{index}_ttft": seconds(timing.ttft_s),
                f"{key}_{index}_rate": rate(timing.sustained_tokens_per_s),
                f"{key}_{index}_rate_gpu": rate(timing.sustained_tokens_per_s / plan.layout.gpus),
                f"{key}_{index}_room": grouped(plan.max_concurrency),
                f"{key}_{index}_kv": grouped(plan.kv_tokens * plan.layout.replicas),
                f"{key}_{index}_weights": decimal_bytes(plan.weights_bytes or 0),
            }
    dear, cheap = (plan for _, plan in case_plans("two_nodes")[:2])
    assert dear.timing is not None
    assert cheap.timing is not None
    per_gpu = (plan.timing.sustained_tokens_per_s / plan.layout.gpus for plan in (dear, cheap) if plan.timing)
    first, second = per_gpu
    said["price_ratio"] = f"{plain(first / second, 2)}"
    return said
