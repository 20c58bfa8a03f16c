"""The planner's bench: what it asks, and the placement that follows."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import TypeVar

import streamlit as st

from core.catalog import GPUS
from core.errors import ShardlabError
from core.models.hf_config import model_from_config
from core.placement.asked import UTILISATION, Machine, asked_cache, asked_width, question_of
from core.placement.cluster import MOST_GPUS, custom_gpu
from core.placement.demand import Demand
from core.placement.plan import Plan, Question
from core.placement.planner import Placement
from core.placement.rank_memory import Overhead
from core.placement.topology import MOST_GPUS_A_NODE, Topology, read_node
from core.specs import GPUS_PER_NODE, GpuSpec, ModelSpec
from core.strategy.refit import Refit
from core.units import GB
from runtime.prose import explained
from ui import beside, inputs, paste
from ui.placement import more as placement_more
from ui.placement.examples import EXAMPLE_CONFIG, EXAMPLE_TOPOLOGY
from ui.placement.pin import pin_text, pinned_plan
from ui.prose import escape
from ui.scenes import Page

T = TypeVar("T")
N = TypeVar("N", int, float)

USUAL, SCENARIOS = "the GPU's usual", "the scenario's"
RECOMMENDED = "recommended"


@dataclass(frozen=True)
class Asked:
    """The question, its placement, the plans shown and pinned, and what was pasted and not understood."""

    question: Question
    placement: Placement
    shown: int | None
    pinned: Plan | None
    topology: Topology | None
    refusals: tuple[str, ...]
    refused_config: ShardlabError | None
    sizes: bool
    own: Refit | None

    @property
    def plan(self) -> Plan | None:
        return None if self.shown is None else self.placement.plans[self.shown]


def ask(page: Page) -> Asked:
    """Every control of the page, in every scene, and what they come to."""
    row = page.controls("plan", "compare", "load")
    with row:
        sizes = _sizes(page)
    refusals: list[str] = []
    with page.controls("plan"), st.container(gap=None):
        details = _details(page)
        more = placement_more.ask(page)
        model, topology, refused_config, texts = _brought(page, refusals)
    question = _question(page, sizes, details, model, topology, more)
    own = placement_more.refitted(question, texts)
    question = own.after.question if own else question
    placement = own.after if own else beside.placed(question)
    with row:
        few = {"judged": placement.in_all, "listed": len(placement.plans)}
        name = page.control(
            inputs.select,
            "plan",
            "says.plan_shown",
            [RECOMMENDED, *_names(placement)],
            RECOMMENDED,
            help=page.label("says.plans_listed", **few) if any(placement.left_out) else None,
        )
        best = placement.nearest if placement.recommended is None else placement.recommended
        shown = best if name == RECOMMENDED else _names(placement).index(name)
        if shown is not None:
            known = question.cluster.gpu.key in GPUS
            st.button(
                page.label("says.pin"),
                on_click=inputs.remember,
                args=(page.key("pin"), pin_text(question.cluster, placement.plans[shown].layout)),
                help=page.label("says.keep_this_plan_compare" if known else "says.card_your_own_cannot"),
                disabled=not known,
            )
        pinned = pinned_plan(inputs.memo(page.key("pin")), question)
    return Asked(question, placement, shown, pinned, topology, tuple(refusals), refused_config, more.sizes, own)


def _names(placement: Placement) -> list[str]:
    return [plan.layout.name for plan in placement.plans]


def _sizes(page: Page) -> SimpleNamespace:
    """How many GPUs, for how many, how fast; a target of 0 is none."""
    return SimpleNamespace(
        gpus_per_node=page.control(inputs.whole, "gpus", "says.gpus_node", 1, MOST_GPUS_A_NODE, GPUS_PER_NODE),
        nodes=page.control(inputs.whole, "nodes", "says.nodes", 1, MOST_GPUS // MOST_GPUS_A_NODE, 1),
        concurrency=page.control(
            inputs.whole, "concurrency", "says.sequences_once", 1, 65536, Demand().concurrency
        ),
        slo_ms=_unless_said(page, inputs.number, "slo", "target_ms", 1e5),
    )


def _details(page: Page) -> SimpleNamespace:
    """Memory, links and price; 0 means that nothing was said."""
    said = SimpleNamespace()
    number = partial(_unless_said, page, inputs.number)
    whole = partial(_unless_said, page, inputs.whole)
    usual_gb = Overhead().total_bytes / GB
    with page.asks_folded(page.label("says.memory_wires_price"), "details"):
        left, middle, right = st.columns(3)
        with left:
            said.utilisation = page.control(inputs.number, "util", "says.utilisation", 0.05, 1.0, UTILISATION)
            said.overhead_gb = page.control(inputs.number, "overhead", "says.overhead_gb", 0.0, 64.0, usual_gb)
            said.first_ms = number("first", "first_token_ms", 1e6)
            said.usd_per_gpu_hour = number("price", "gpu_hour", 1000.0)
        with middle:
            said.domain = whole("domain", "nvlink_domain", 576)
            said.nics = whole("nics", "nics_node", 64, "as_network_s_row")
            said.requests_per_s = number("rate", "requests_second", 1e5)
            said.link = page.control(inputs.choice, "wire", "says.wire_node", [USUAL, SCENARIOS], USUAL)
        with right:
            said.memory_gb = number("memory", "usable_memory_gb", 1024.0)
            said.bandwidth_gb_s = number("bandwidth", "bandwidth_gb_s", 1e5, "own_help")
            said.tflops = number("tflops", "dense_tflop_s", 1e5, "own_help")
    return said


def _unless_said(page: Page, widget: Callable[..., N], name: str, label: str, most: N, help_block: str = "") -> N:
    """A number of which 0 means that nothing was said, as its help tells."""
    nothing = type(most)(0)
    tells = page.label(f"says.{help_block or f'{name}_help'}", zero=0, p99="p99")
    return page.control(widget, name, f"says.{label}", nothing, most, nothing, help=tells)


def _brought(
    page: Page, refusals: list[str]
) -> tuple[ModelSpec, Topology | None, ShardlabError | None, tuple[str, str, str]]:
    """A model and a machine that were pasted, where they were, and read; else the scenario's, and none.

    A config that is refused is no reason to plan another model: its refusal comes along.
    """
    with page.asks_folded(page.label("says.bring_your_own_config"), "brought"):
        left, right = st.columns(2)
        with left:
            config = paste.pasted(
                page.label("says.hugging_face_config_json"),
                page.key("config"),
                kinds=("json", "txt"),
                example=EXAMPLE_CONFIG,
                example_label=page.label("says.quantised_qwen_b"),
            )
        with right:
            topo = paste.pasted(
                page.label("says.what_nvidia_smi_topo"),
                page.key("topo"),
                example=EXAMPLE_TOPOLOGY,
                example_label=page.label("says.two_bridged_pairs"),
            )
        texts = placement_more.machine(page)
    machine = _read(read_node, topo, refusals) if topo.strip() else None
    try:
        model = paste.read(model_from_config, config) if config.strip() else page.scenario.model_spec
    except ShardlabError as refusal:
        return page.scenario.model_spec, machine, refusal, texts
    return model, machine, None, texts


def _read(reader: Callable[[str], T], text: str, refusals: list[str]) -> T | None:
    """What a reader makes of a text; None, and its refusal kept, where it makes nothing of it."""
    try:
        return paste.read(reader, text)
    except ShardlabError as refusal:
        refusals.append(explained(refusal))
        return None


def _question(
    page: Page,
    sizes: SimpleNamespace,
    details: SimpleNamespace,
    model: ModelSpec,
    topology: Topology | None,
    more: SimpleNamespace,
) -> Question:
    """What was asked, in core's nouns; 0 in a field means that nothing was said."""
    scenario = page.scenario
    demand = Demand(
        concurrency=sizes.concurrency,
        prompt_tokens=scenario.prompt_tokens,
        output_tokens=scenario.output_tokens,
        dtype=asked_width(model, scenario.gpu_spec, scenario.weight_dtype),
        kv_dtype=asked_cache(model, scenario.gpu_spec, scenario.kv_dtype),
        slo_itl_s=sizes.slo_ms / 1e3 or None,
        slo_ttft_s=details.first_ms / 1e3 or None,
        requests_per_s=details.requests_per_s or None,
        usd_per_gpu_hour=details.usd_per_gpu_hour or None,
        percentile=50 if more.percentile == 50 else 99,
        prefix_fraction=more.prefix_percent / 100,
        draft_tokens=more.draft_tokens,
        acceptance=more.acceptance_percent / 100,
    )
    machine = Machine(
        _gpu(scenario.gpu_spec, details),
        sizes.gpus_per_node if topology is None else None,
        sizes.nodes,
        None if details.link == USUAL or topology is not None else scenario.link_spec,
        scenario.network_spec,
        details.domain or None,
        details.nics or None,
        topology,
        details.memory_gb * GB or None,
        details.utilisation,
        Overhead.of(details.overhead_gb * GB),
    )
    return question_of(model, machine, demand, more.experts, more.caches)


def _gpu(gpu: GpuSpec, details: SimpleNamespace) -> GpuSpec:
    """The scenario's GPU, or one of the visitor's own where its speed was given."""
    if not details.bandwidth_gb_s and not details.tflops:
        return gpu
    return custom_gpu(
        details.memory_gb * GB or gpu.usable_memory_bytes,
        details.bandwidth_gb_s * GB or gpu.memory_bytes_per_s,
        details.tflops * 1e12 or gpu.bf16_flops,
    )


def say_what_was_brought(page: Page, asked: Asked) -> None:
    """What was read of a pasted machine, and what of a paste could not be read."""
    placement_more.say_refit(page, asked.own)
    for refusal in asked.refusals:
        st.error(escape(refusal))
    if asked.topology is not None:
        page.say("plan.seen")
