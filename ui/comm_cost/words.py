"""Lab 03: the rows its prose names, and the few words that no row of core's has."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from core.catalog.measured_link import extrapolation
from core.collectives.across import FAR
from core.collectives.cost import as_measured, ring_all_reduce
from core.comm_cost.asked import AskedBill
from core.comm_cost.bill import (
    FATAL_ABOVE_FRACTION,
    LAB_STEP_S,
    NOISE_BELOW_FRACTION,
    balance_payload_bytes,
    bill,
    priced_ends,
)
from core.comm_cost.measured import MeasuredPoint
from core.comm_cost.readings import readings
from core.models.parameters import active_parameters, distinct_expert_fraction
from core.models.weights import held_weight_bytes, read_weight_bytes, step_weight_bytes
from core.placement.reached import reached
from core.sharding_math.step_ledger import sums_a_layer
from core.specs import LinkSpec
from core.steps.model import MFU, decode_step_s
from core.steps.narrow import peak_flops
from core.steps.view import Rule, View, ring_series, rule
from core.units import KIB, MIB
from runtime.catalog_words import short_name, told
from runtime.kept import kept
from runtime.prose import said, worded
from runtime.rows import Row
from ui.comm_cost.rows import software, terms


@kept
def side(view: View, link: LinkSpec, points: Sequence[MeasuredPoint]) -> Row:
    """One link of the page, priced: an all-reduce round NCCL's `ring`, and the step's bill by an engine's `kernel`.

    `bytes_s` are the ring's bytes at the link's full bandwidth, `short_s` what they take more, for a short transfer
    does not reach it; `speed` is the code of a sentence that compares a token with one GPU's.
    """
    step, row, priced = view.step, view.timed(link), view.price(link)
    ring = ring_all_reduce(step.payload_bytes, step.tp_size, row)
    bytes_s = ring.traffic_bytes / row.bandwidth_bytes_per_s
    return Row(
        name=short_name(link),
        terms=terms(link),
        row=row,
        ring=ring,
        bytes_s=bytes_s,
        short_s=ring.bandwidth_s - bytes_s,
        bill=priced,
        kernel=said("comm_cost", f"kernel.{kernel_key(view.kernel(link))}"),
        balance_bytes=balance_payload_bytes(max(2, step.tp_size), row),
        measured=_measured(view, link, points),
        noted=told(row.measured_note) or said("comm_cost", "says.by_nobody"),
        speed="alone" if step.tp_size == 1 else "faster" if priced.speedup > 1 else "slower",
    )


def kernel_key(kernel: str) -> str:
    """A kernel as the name of a block: `one_stage`; NCCL's is the ring."""
    return "ring" if kernel == "NCCL" else kernel.lower().replace(" ", "_")


@kept
def fields(
    view: View, own: AskedBill, points: Sequence[MeasuredPoint], is_wire: bool = False
) -> Mapping[str, object]:
    """What the page's prose names: rows of core, and words beside them; `is_wire` where a link's race is open."""
    step, model, many = view.step, view.scenario.model_spec, rule(view)
    napkin, timed = replace(view, napkin=True), as_measured(view.scenario.timed.network_spec)
    held = held_weight_bytes(model, view.scenario.weight_dtype)
    gpus = said("comm_cost", f"gpus.{step.tp_size if step.tp_size in (1, 2, 3, 4, 8, 16) else 'n'}", n=step.tp_size)
    return {
        "scenario": view.scenario,
        "model": model,
        "gpu": view.scenario.gpu_spec,
        "step": step,
        "layer_sums": said("comm_cost", f"question.sums_{sums_a_layer(model)}"),
        "link": side(view, view.link, points),
        "network": side(view, view.network, points),
        "asked": side(view, view.asked, points),
        **{f"lab_{reading.key}": reading.bill for reading in readings(napkin.step, napkin.network)},
        "lab_near": bill(napkin.step, napkin.link),
        "lab_far": bill(napkin.step, napkin.network),
        "lab_near_link": napkin.link,
        "lab_link": napkin.network,
        "timed_network": timed,
        "reached": reached(view.scenario),
        "rule": many,
        "rule_reached": _reached(view, many),
        "broken": "; ".join(view.broken),
        "allowed": ", ".join(map(str, view.allowed)),
        "gpus_word": gpus,
        "see_title": said("comm_cost", f"see.title_{'wire' if is_wire else view.phase}", model=model, step=step),
        "share_s": step.compute_s / step.tp_size,
        "step_formula": _step_formula(view),
        "element_bytes": step.payload_bytes // (step.tokens * model.hidden_size),
        "held_bytes": held,
        "share_bytes": held / step.tp_size,
        "mfu": MFU,
        "far": FAR,
        "noise": NOISE_BELOW_FRACTION,
        "fatal": FATAL_ABOVE_FRACTION,
        "measured_machines": _machines(view, points),
        "bulge_low": 16 * KIB,
        "bulge_high": 64 * MIB,
        "own": own.bill(not view.napkin),
        "own_few": replace(own, tp=2).bill(),
        "own_many": replace(own, tp=64).bill(),
        "own_balance": balance_payload_bytes(max(2, own.tp), own.link()),
        "ends_s": sum(end.time_s for end in priced_ends(step, view.timed(view.network))),
    }


def _reached(view: View, many: Rule) -> str:
    """Return what a served engine reaches beside the rule's largest speed-up; nothing where no model splits so."""
    found = reached(replace(view.scenario, tp=many.many, link=many.fabric.link.key))
    return "" if found is None else said("comm_cost", "reached.rule", found, rule=many)


def _measured(view: View, link: LinkSpec, points: Sequence[MeasuredPoint]) -> str:
    """The speed-up at a machine's own times, or what the link's constants are instead."""
    measured = view.measured(link, points)
    if measured is not None:
        name = "measured.napkin" if view.napkin else "measured.timed"
        return said("comm_cost", name, measured, machine=software(view.series(link), points))
    if link.measured_ranks is not None:
        away = extrapolation(link, view.step.tp_size)
        if away is None:
            return said("comm_cost", "measured.own")
        return said("comm_cost", "measured.own_away", away=worded(away))
    return said("comm_cost", "measured.never")


def _step_formula(view: View) -> str:
    scenario, model, gpu = view.scenario, view.scenario.model_spec, view.scenario.gpu_spec
    dtype, batch, memory = scenario.weight_dtype, scenario.batch, gpu.memory_bytes_per_s
    peak = peak_flops(gpu, dtype)
    if view.phase == "prefill":
        return said("comm_cost", "says.tokens_tflop_s", scenario, mfu=MFU, peak=peak)
    weights, read = step_weight_bytes(model, dtype, batch), read_weight_bytes(model, dtype, batch)
    if view.step.compute_s != decode_step_s(model, gpu, dtype, batch):
        work = 2 * active_parameters(model) * batch
        times_s = {"arithmetic_s": work / peak, "read_s": weights / memory}
        return said("comm_cost", "says.arithmetic", operations=work, peak=peak, **times_s)
    rounded = f" {said('comm_cost', 'says.rounded')}" if view.step.compute_s == LAB_STEP_S else ""
    told = [said("comm_cost", "says.weights", weights=weights, gpu=gpu, read_s=weights / memory) + rounded]
    if model.moe is not None:
        held, met = held_weight_bytes(model, dtype), distinct_expert_fraction(model, batch)
        told.append(said("comm_cost", "says.weights_met", held=held, met=met))
    elif read != weights:
        told.append(said("comm_cost", "says.weights_all"))
    if read != weights:
        told.append(said("comm_cost", "says.weights_read", read=read, least_s=read / memory))
    return ". ".join(told)


def _machines(view: View, points: Sequence[MeasuredPoint]) -> str:
    series = [ring for link in view.links if (ring := ring_series(view, link))]
    return "; ".join(software(name, points) for name in series) or said("comm_cost", "says.none_these_links")
