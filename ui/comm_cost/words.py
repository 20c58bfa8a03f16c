"""Lab 03: the numbers its prose is filled with."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from core.catalog.own_link import extrapolation
from core.collectives.cost import ring_all_reduce
from core.comm_cost.bill import (
    FATAL_ABOVE_FRACTION,
    LAB_STEP_S,
    NOISE_BELOW_FRACTION,
    Bill,
    balance_payload_bytes,
    priced_ends,
)
from core.comm_cost.measured import MeasuredPoint
from core.comm_cost.readings import readings
from core.models.weights import held_weight_bytes
from core.scenario import Scenario
from core.specs import LinkSpec
from core.steps.model import MFU
from core.units import (
    KIB,
    MIB,
    bandwidth,
    binary_bytes,
    decimal_bytes,
    grouped,
    percent,
    plain,
    seconds,
    significant,
)
from ui.comm_cost.rows import (
    OwnBill,
    Phase,
    allowed_sizes,
    broken_equations,
    compute_s,
    measured_on,
    measurement,
    short_name,
    software,
    step_in_words,
    step_of,
)

_WORDS = {1: "One", 2: "Two", 3: "Three", 4: "Four", 8: "Eight", 16: "Sixteen"}


def fields(scenario: Scenario, phase: Phase, own: OwnBill, points: Sequence[MeasuredPoint]) -> Mapping[str, str]:
    """Every number of the page's prose, from core, with its unit."""
    here, there = scenario.link_spec, scenario.network_spec
    step = step_of(scenario, phase)
    one = ring_all_reduce(step.payload_bytes, scenario.tp, there)
    gpus = f"{_WORDS.get(scenario.tp, str(scenario.tp))} GPU{'' if scenario.tp == 1 else 's'}"
    return {
        **_link_fields("link", scenario, phase, here, points),
        **_link_fields("network", scenario, phase, there, points),
        "broken": "; ".join(broken_equations(scenario)),
        "allowed": ", ".join(map(str, allowed_sizes(scenario))),
        "gpus": str(scenario.tp),
        "gpus_word": gpus,
        "gpus_word_lower": gpus[0].lower() + gpus[1:],
        "tp": str(scenario.tp),
        "model_name": scenario.model_spec.key,
        "step": step_in_words(step.compute_s),
        "step_formula": _step_formula(scenario, phase),
        "payload": binary_bytes(step.payload_bytes),
        "decode_payload": binary_bytes(step_of(scenario, "decode").payload_bytes),
        "all_reduces": str(step.all_reduces),
        "tokens": grouped(step.tokens),
        "tokens_in_words": f"{grouped(step.tokens)} {'row' if step.tokens == 1 else 'rows'} of activations",
        "prompt": grouped(scenario.prompt_tokens),
        "hidden": str(scenario.model_spec.hidden_size),
        "element": f"{step.payload_bytes // (step.tokens * scenario.model_spec.hidden_size)} B",
        "hops": str(one.steps),
        "traffic": binary_bytes(one.traffic_bytes),
        "noise_threshold": percent(NOISE_BELOW_FRACTION, 0),
        "fatal_threshold": percent(FATAL_ABOVE_FRACTION, 0),
        "balance_link": _balance(scenario, here),
        "balance_network": _balance(scenario, there),
        "measured_machines": _machines(scenario, points),
        "bulge_low": binary_bytes(16 * KIB),
        "bulge_high": binary_bytes(64 * MIB),
        **_own_fields(own),
        "extras_network": seconds(sum(extra.time_s for extra in priced_ends(step, there))),
    }


def _link_fields(
    role: str, scenario: Scenario, phase: Phase, link: LinkSpec, points: Sequence[MeasuredPoint]
) -> dict[str, str]:
    found = readings(step_of(scenario, phase), link)
    shares = {reading.key: percent(reading.bill.comm_fraction) for reading in found}
    one = ring_all_reduce(found[0].bill.step.payload_bytes, scenario.tp, link)
    measured = measurement(scenario, phase, link, points)
    return {
        f"{role}_name": short_name(link),
        f"{role}_latency": f"{plain(1e6 * link.latency_s)} µs",
        f"{role}_half_hop": f"{plain(5e5 * link.latency_s)} µs",
        f"{role}_bandwidth": bandwidth(link.bandwidth_bytes_per_s),
        f"{role}_share": shares["labs"],
        f"{role}_divided_share": shares["divided_step"],
        f"{role}_round_trip_share": shares["hop_from_round_trip"],
        f"{role}_two_way_share": shares["two_way_bandwidth"],
        f"{role}_wait": seconds(one.latency_s + one.base_s),
        f"{role}_crossing": seconds(one.bandwidth_s),
        f"{role}_comm": f"{significant(1e3 * found[0].bill.comm_s)} ms",
        f"{role}_measured": _measured(scenario, link, measured, points),
    }


def _measured(scenario: Scenario, link: LinkSpec, found: Bill | None, points: Sequence[MeasuredPoint]) -> str:
    """The bill at a machine's own times, or what the link's constants are instead."""
    if found is not None:
        return f"Measured with {software(measured_on(scenario, link), points)}: {percent(found.comm_fraction)}."
    if link.measured_ranks is not None:
        return f"Fitted to your own table, {extrapolation(link, scenario.tp) or 'at these very ranks'}."
    return "Nobody's measurement of it is shown here."


def _own_fields(own: OwnBill) -> dict[str, str]:
    priced = own.bill()
    few, many = (replace(own, tp=ranks).bill() for ranks in (2, 64))
    return {
        "own_share": percent(priced.comm_fraction),
        "own_latency_share": percent(1 - priced.bandwidth_fraction if priced.comm_s else 0.0),
        "own_comm": f"{significant(1e3 * priced.comm_s)} ms",
        "own_step": f"{plain(own.step_ms)} ms",
        "own_balance": binary_bytes(balance_payload_bytes(max(2, own.tp), own.link())),
        "own_payload": binary_bytes(priced.step.payload_bytes),
        "own_few": f"{significant(1e3 * few.comm_s)} ms",
        "own_many": f"{significant(1e3 * many.comm_s)} ms",
        "own_many_ranks": "64",
    }


def _step_formula(scenario: Scenario, phase: Phase) -> str:
    model, gpu = scenario.model_spec, scenario.gpu_spec
    if phase == "prefill":
        return (
            f"{grouped(scenario.prompt_tokens)} tokens of {model.key} at {plain(100 * MFU)} % of "
            f"{plain(gpu.bf16_flops / 1e12)} TFLOP/s"
        )
    weights = held_weight_bytes(model, scenario.weight_dtype)
    derived = weights / gpu.memory_bytes_per_s
    rounded = " rounded" if compute_s(scenario, phase) == LAB_STEP_S else ""
    streamed = f"{decimal_bytes(weights, 4)} of weights ÷ {bandwidth(gpu.memory_bytes_per_s, 4)}"
    return f"{streamed} = {seconds(derived)}{rounded}"


def _balance(scenario: Scenario, link: LinkSpec) -> str:
    return binary_bytes(balance_payload_bytes(max(2, scenario.tp), link))


def _machines(scenario: Scenario, points: Sequence[MeasuredPoint]) -> str:
    links = (scenario.link_spec, scenario.network_spec)
    series = [found for link in links if (found := measured_on(scenario, link))]
    return "; ".join(software(name, points) for name in series) or "none for these links"
