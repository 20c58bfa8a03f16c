"""The planner: core's rows under the names that its prose gives them."""

from collections.abc import Mapping, Sequence

from core import catalog
from core.collectives.cost import as_measured
from core.collectives.releases import RELEASES_READ
from core.comm_cost import bill as bills
from core.comm_cost.kernels import picked_bill
from core.errors import remark
from core.evidence.accuracy import accuracy_of
from core.evidence.calibration import calibration_of, prompt_efficiency
from core.evidence.headline import Headline
from core.evidence.report import Residual, decode_residuals, errors_of
from core.placement.assumed import assumed
from core.placement.cases import CASES, LATENCY_TARGET_S, PRINTED_CONCURRENCY, case_plans
from core.placement.plan import Plan, Question
from core.placement.planner import Placement
from core.placement.shortlist import MOST_REFUSED
from core.placement.steps import Timing
from core.placement.topology import Topology
from core.placement.trace import decisions, targets, usable_source
from core.placement.under_load import Loaded
from core.serving.curve import LADDER
from core.serving.load import steady_state
from core.steps.model import layers_apart_s
from runtime.catalog_words import short_name
from runtime.content import slug
from runtime.kept import Itself, kept, kept_of
from runtime.prose import said, worded
from ui.placement.rows import MOST_LOST, price
from ui.placement.rows_accuracy import EVERY, short, signed
from ui.prose import escape


def fields(placement: Placement, plan: Plan | None, topology: Topology | None) -> Mapping[str, object]:
    """What every scene's prose names; a plan's timing is there where the plan fits."""
    return {**_fields(placement, Itself(plan)), "seen": _seen(topology)}


@kept_of
def assumptions(placement: Placement) -> str:
    """What a placement takes for granted, as a list in Markdown."""
    return "\n".join(f"- {escape(worded(one))}" for one in assumed(placement.question))


@kept_of
def steps(placement: Placement) -> str:
    """How its plan was come to, as a list in Markdown."""
    return "\n".join(f"1. {escape(worded(reason))}" for reason in decisions(placement))


@kept_of
def _fields(placement: Placement, shown: Itself) -> Mapping[str, object]:
    plan: Plan | None = shown.value
    question, refused = placement.question, placement.refused
    timing = plan.timing if plan else None
    (low, high, _), set_to = question.band, targets(question)
    return {
        "question": question,
        "cluster": question.cluster,
        "budget": question.budget,
        "demand": question.demand,
        "calibration": calibration_of(question.cluster.gpu, question.model, question.timed_engine),
        "prompts": prompt_efficiency(question.cluster.gpu, question.model),
        "usable_source": worded(usable_source(question)),
        "band_low": 1 - low,
        "band_high": high - 1,
        **_kernel(),
        "plan": plan,
        "answer": _answer(placement, plan),
        "timing": timing,
        "itl_low_s": low * timing.itl_s if timing else 0.0,
        "itl_high_s": high * timing.itl_s if timing else 0.0,
        "for_the_others": _for_the_others(question, timing) if timing else "",
        "set_aside": "" if placement.set_aside is None else said("placement", "says.set_aside"),
        "links": _links(plan),
        "target": worded(remark("placement.target" if set_to else "placement.no_target", targets=set_to)),
        "cost": price(plan, question.demand.usd_per_gpu_hour),
        "kv_tokens": plan.kv_tokens if plan else 0,
        "plans": placement.in_all,
        "refused": refused,
        "more_lost": max(0, len(placement.lost) + placement.left_out[0] - MOST_LOST),
        "more_refused": max(0, refused - MOST_REFUSED),
        **_cases(),
    }


def _for_the_others(question: Question, timing: Timing) -> str:
    """Return what a token's time holds that a rank alone would not need; nothing where none sends anything."""
    if not timing.comm_s:
        return ""
    fraction = min(1.0, timing.comm_s / timing.itl_s)
    apart_s = layers_apart_s(question.model, timing.steps.served.group)
    name = "says.for_the_others" if apart_s else "says.communication"
    return said("placement", name, comm_fraction=fraction, apart_s=apart_s)


@kept
def _kernel() -> Mapping[str, object]:
    """What an engine's kernel saves of a token's rings, where it saves most: one sequence over eight GPUs."""
    step, link = bills.Step(catalog.model("llama-3-8b"), tp_size=8), catalog.link("nvlink-4")
    saves = 1 - picked_bill(step, link).bill.comm_s / bills.bill(step, as_measured(link)).comm_s
    return {
        "kernel_release": RELEASES_READ[-1],
        "kernel_ranks": step.tp_size,
        "kernel_link": short_name(link),
        "kernel_saves": saves,
    }


def _answer(placement: Placement, plan: Plan | None) -> str:
    if not placement.fitting or plan is None:
        return said("placement", "says.no_plan_fits")
    return plan.layout.name if plan.fits else said("placement", "says.does_not_fit", name=plan.layout.name)


_MADE_BY: Mapping[str, str] = {
    "NCCL": "",
    "FlashInfer": "_flashinfer",
    "symmetric memory": "_symmetric_memory",
    **dict.fromkeys(("one stage", "two stages", "half butterfly"), "_kernel"),
}
"""The end of the block that says who makes a plan's all-reduces; NCCL's are said without."""


def _links(plan: Plan | None) -> str:
    """What each link is paid for one token."""
    if plan is None or plan.timing is None:
        return "–"
    sent = (
        (bill, remark(f"placement.{slug(bill.what)}{_MADE_BY[bill.kernel]}", bill=bill))
        for bill in plan.timing.bill
    )
    paid = [worded(remark("placement.link_bill", bill=bill, sent=what)) for bill, what in sent]
    return "; ".join(paid) or said("placement", "says.nothing_sent")


def _seen(topology: Topology | None) -> str:
    """A pasted machine in one line."""
    if topology is None:
        return ""
    domains = ", ".join("+".join(map(str, domain)) for domain in topology.domains[:8])
    nvlink = said(
        "placement",
        f"says.{'xgmi' if topology.of_amd else 'nvlink'}_joins" if topology.nvlink_present else "says.no_nvlink",
        domains=domains,
    )
    nics = said("placement", "says.nics_near_gpu", near_nics=len(topology.near_nics), nics=len(topology.nics))
    told = {"gpus": topology.gpus, "nvlink": nvlink, "worst_way": topology.worst_way, "nics": nics}
    return said("placement", "says.gpus_farthest_pair", **told)


def _cases() -> dict[str, object]:
    """Each worked case's plans by its key and their order, and what else their sentences name."""
    plans = {f"{key}_{index}": plan for key in CASES for index, (_, plan) in enumerate(case_plans(key))}
    dear, cheap = (plans[f"two_nodes_{index}"].tokens_per_s_per_gpu or 0.0 for index in range(2))
    printed_one, printed_two = PRINTED_CONCURRENCY
    return {
        **plans,
        "price_ratio": dear / cheap,
        "case_target_s": LATENCY_TARGET_S,
        "printed_one": printed_one,
        "printed_two": printed_two,
    }


@kept_of
def load_fields(load: Loaded) -> Mapping[str, object]:
    """What the tab under load names; rates are of all engines together, times of one."""
    engines, half, kept = load.engines, load.curve[LADDER.index(0.5)], load.kept
    settled = steady_state(load.cost, half.arrivals_per_s)
    assert settled is not None, "half of the capacity is below it"
    return {
        "load": load,
        "first": load.curve[0],
        "last": load.curve[-1],
        "half": half,
        "settled": settled,
        "kept": kept,
        "engines": said("placement", "says.one_engine" if engines == 1 else "says.engines", engines=engines),
        "capacity_per_s": engines * load.cost.capacity_per_s,
        "first_per_s": engines * load.curve[0].arrivals_per_s,
        "half_per_s": engines * half.arrivals_per_s,
        "kept_per_s": engines * kept.arrivals_per_s if kept else 0.0,
        "kept_fraction": kept.arrivals_per_s / load.cost.capacity_per_s if kept else 0.0,
        "kept_tokens_per_s": round(engines * kept.tokens_per_s) if kept else 0,
        "alone_s": load.cost.prefill_s + load.cost.prefill_delay_s,
        "rates": len(load.curve),
    }


def accuracy_fields(question: Question) -> Mapping[str, object]:
    """What the tab of measurements names of a question's own class of GPU and kind of model."""
    gpu, model = question.cluster.gpu, question.model
    here = calibration_of(gpu, model, question.timed_engine)
    told_by = "taken" if not here.rows else "both" if here.floor_fitted else "share"  # of a class's two constants
    return {
        "of_steps": accuracy_of(gpu, model, "decode") or accuracy_of(gpu, model, "run"),
        "constants_from": said("placement", f"says.constants_{told_by}", here),
    }


def residual_fields(residuals: Sequence[Residual], chosen: str) -> Mapping[str, object]:
    """What it names of all that was measured; the source that stands in front under `chosen_`."""
    rows = [one for one in residuals if chosen in (EVERY, short(one.measurement.source))]
    shown = errors_of(rows) if rows else None
    off = "says.off_median" if len(rows) > 1 else "says.off_once"  # one alone has no median
    return {
        "chosen": said("placement", "says.over_every_source" if chosen == EVERY else "says.in", chosen=chosen),
        "chosen_off": said("placement", off, error=shown.median_error, rows=len(rows)) if shown else "–",
        "chosen_bias": signed(shown.bias) if shown else "–",
        "rows": len(residuals),
        "above": sum(one.roofline_ratio > 1 for one in residuals),
        "test": errors_of(decode_residuals(residuals)),
    }


def headline_fields(found: Headline) -> Mapping[str, object]:
    """What the accuracy of times between tokens is told in: what was told blind, and what was tested since."""
    return {f"line_{line.code}": line.held for line in found.lines}
