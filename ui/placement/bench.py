"""The planner's bench: what it asks, and the placement that follows."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import streamlit as st

from core.catalog import GPUS
from core.errors import ShardlabError
from core.models.hf_config import model_from_config
from core.placement.asked import UTILISATION, Machine, asked_cache, asked_width, question_of
from core.placement.cluster import MOST_GPUS, custom_gpu
from core.placement.demand import Demand
from core.placement.pairing import of_machine
from core.placement.plan import Plan, Question
from core.placement.planner import Placement
from core.placement.rank_memory import Overhead
from core.placement.topology import MOST_GPUS_A_NODE, Topology, read_node
from core.scenario import Scenario
from core.specs import GPUS_PER_NODE, GpuSpec, ModelSpec
from core.strategy.refit import Refit
from core.units import GB
from runtime.prose import explained, worded
from ui import beside, paste
from ui.page import Page
from ui.placement import more
from ui.placement.examples import EXAMPLE_CONFIG, EXAMPLE_TOPOLOGY
from ui.placement.pin import pin_text, pinned_plan
from ui.prose import escape
from ui.question import Choice, Number, RefusedError, Text, Whole, ask

T = TypeVar("T")

USUAL, SCENARIOS = "the GPU's usual", "the scenario's"
RECOMMENDED = "recommended"
_LAYOUT = re.compile(r"TP=\d{1,4}(?: [A-Z]{2,3}=\d{1,4}){0,4}(?: ×\d{1,4})?", re.ASCII)


@dataclass(frozen=True)
class PlanName(Choice[str]):
    """The name of a plan: which there are, only the placement tells."""

    def read(self, text: str, stem: str) -> str:
        if text != RECOMMENDED and not _LAYOUT.fullmatch(text):
            raise RefusedError("listed")
        return text


@dataclass(frozen=True)
class BenchQuestion(more.MoreQuestion):
    """Fields of what is to be placed; 0 means that nothing was said, where the help of a field says so."""

    gpus: int = ask(GPUS_PER_NODE, Whole(1, MOST_GPUS_A_NODE), "says.gpus_node")
    nodes: int = ask(1, Whole(1, MOST_GPUS // MOST_GPUS_A_NODE), "says.nodes")
    concurrency: int = ask(Demand().concurrency, Whole(1, 65536), "says.sequences_once")
    slo: float = ask(0.0, Number(0, 1e5), "says.target_ms")
    plan: str = ask(RECOMMENDED, PlanName((RECOMMENDED,), listed=True), "says.plan_shown")
    pin: str = ask("", Text())
    util: float = ask(UTILISATION, Number(0.05, 1), "says.utilisation")
    overhead: float = ask(Overhead().total_bytes / GB, Number(0, 64), "says.overhead_gb")
    first: float = ask(0.0, Number(0, 1e6), "says.first_token_ms")
    price: float = ask(0.0, Number(0, 1000), "says.gpu_hour")
    domain: int = ask(0, Whole(0, 576), "says.nvlink_domain")
    nics: int = ask(0, Whole(0, 64), "says.nics_node")
    rate: float = ask(0.0, Number(0, 1e5), "says.requests_second")
    wire: str = ask(USUAL, Choice((USUAL, SCENARIOS)), "says.wire_node")
    memory: float = ask(0.0, Number(0, 1024), "says.usable_memory_gb")
    bandwidth: float = ask(0.0, Number(0, 1e5), "says.bandwidth_gb_s")
    tflops: float = ask(0.0, Number(0, 1e5), "says.dense_tflop_s")


BenchPage = Page[BenchQuestion]

_DETAILS = (
    ("util", "overhead", "first", "price"),
    ("domain", "nics", "rate", "wire"),
    ("memory", "bandwidth", "tflops"),
)
"""The controls of memory, links and price, column by column."""
_HELPS = {name: f"{name}_help" for name in ("slo", "first", "price", "domain", "rate", "memory")}
_HELPS |= {"nics": "as_network_s_row", "bandwidth": "own_help", "tflops": "own_help"}
"""What tells the meaning of 0 in a field."""


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
    own: Refit | None

    @property
    def plan(self) -> Plan | None:
        return None if self.shown is None else self.placement.plans[self.shown]


def asked_of(page: BenchPage) -> Asked:
    """Return what the page asks and what follows, worked out once a run."""
    return page.once(_asked)


def _asked(page: BenchPage) -> Asked:
    """Return the question in core's nouns, of the pasted model and machine where they were read, and its plans.

    A config that is refused is no reason to plan another model: its refusal comes along.
    """
    refusals: list[str] = []
    config, topo = (paste.text_in(page.key(name)) for name in ("config", "topo"))
    topology = _read(read_node, topo, refusals) if topo.strip() else None
    model, refused = page.scenario.model_spec, None
    try:
        model = paste.read(model_from_config, config) if config.strip() else model
    except ShardlabError as refusal:
        refused = refusal
    question = _question(page.question, page.scenario, model, topology)
    own = more.refitted(question, more.texts(page))
    question = own.after.question if own else question
    placement = own.after if own else beside.placed(question)
    best = placement.nearest if placement.recommended is None else placement.recommended
    names = _names(placement)
    name = page.offered("plan", [RECOMMENDED, *names], RECOMMENDED)
    shown = best if name == RECOMMENDED else names.index(name)
    pinned = pinned_plan(page.question.pin, question)
    return Asked(question, placement, shown, pinned, topology, tuple(refusals), refused, own)


def _names(placement: Placement) -> list[str]:
    return [plan.layout.name for plan in placement.plans]


def _read(reader: Callable[[str], T], text: str, refusals: list[str]) -> T | None:
    """Return what a reader makes of a text; None, and its refusal kept, where it makes nothing of it."""
    try:
        return paste.read(reader, text)
    except ShardlabError as refusal:
        refusals.append(explained(refusal))
        return None


def _question(asked: BenchQuestion, scenario: Scenario, model: ModelSpec, topology: Topology | None) -> Question:
    demand = Demand(
        concurrency=asked.concurrency,
        prompt_tokens=scenario.prompt_tokens,
        output_tokens=scenario.output_tokens,
        dtype=asked_width(model, scenario.gpu_spec, scenario.weight_dtype),
        kv_dtype=asked_cache(model, scenario.gpu_spec, scenario.kv_dtype),
        slo_itl_s=asked.slo / 1e3 or None,
        slo_ttft_s=asked.first / 1e3 or None,
        requests_per_s=asked.rate or None,
        usd_per_gpu_hour=asked.price or None,
        percentile=50 if asked.percentile == 50 else 99,
        prefix_fraction=asked.prefix / 100,
        draft_tokens=asked.draft,
        acceptance=asked.acceptance / 100,
    )
    machine = Machine(
        _gpu(scenario.gpu_spec, asked),
        asked.gpus if topology is None else None,
        asked.nodes,
        None if asked.wire == USUAL or topology is not None else scenario.link_spec,
        scenario.network_spec,
        asked.domain or None,
        asked.nics or None,
        topology,
        asked.memory * GB or None,
        asked.util,
        Overhead.of(asked.overhead * GB),
    )
    return question_of(model, machine, demand, asked.ep, asked.dcp)


def _gpu(gpu: GpuSpec, asked: BenchQuestion) -> GpuSpec:
    """Return the scenario's GPU, or one of the visitor's own where its speed was given."""
    if not asked.bandwidth and not asked.tflops:
        return gpu
    return custom_gpu(
        asked.memory * GB or gpu.usable_memory_bytes,
        asked.bandwidth * GB or gpu.memory_bytes_per_s,
        asked.tflops * 1e12 or gpu.bf16_flops,
    )


def draw_controls(page: BenchPage, asked: Asked | None) -> None:
    """Draw the row of sizes, with the plan shown where there is one, and on the first scene all that is folded."""
    with page.controls("gpus", "nodes", "concurrency"):
        _control(page, "slo")
        if asked is not None:
            _draw_plan(page, asked)
    if page.scene == "plan":
        with page.controls(), st.container(gap=None):
            page.folded(page.label("says.memory_wires_price"), "details", lambda: _draw_details(page))
            page.folded(page.label("more.title"), "more", lambda: more.draw_controls(page))
            page.folded(page.label("says.bring_your_own_config"), "brought", lambda: _draw_pastes(page))


def _control(page: BenchPage, name: str) -> None:
    tells = _HELPS.get(name)
    page.control(name, help=page.label(f"says.{tells}", zero=0, p99="p99") if tells else None)


def _draw_plan(page: BenchPage, asked: Asked) -> None:
    """Draw which plan is shown, and the button that keeps it to compare."""
    placement, cluster, plan = asked.placement, asked.question.cluster, asked.plan
    few = {"judged": placement.in_all, "listed": len(placement.plans)}
    page.control(
        "plan",
        options=[RECOMMENDED, *_names(placement)],
        help=page.label("says.plans_listed", **few) if any(placement.left_out) else None,
    )
    if plan is not None:
        known = cluster.gpu.key in GPUS
        st.button(
            page.label("says.pin"),
            on_click=page.write,
            kwargs={"pin": pin_text(cluster, plan.layout)},
            help=page.label("says.keep_this_plan_compare" if known else "says.card_your_own_cannot"),
            disabled=not known,
        )


def _draw_details(page: BenchPage) -> None:
    for column, names in zip(st.columns(3), _DETAILS, strict=True):
        with column:
            for name in names:
                _control(page, name)


def _draw_pastes(page: BenchPage) -> None:
    """Draw the fields of a model and of a machine."""
    left, right = st.columns(2)
    with left:
        paste.draw(
            page.label("says.hugging_face_config_json"),
            page.key("config"),
            kinds=("json", "txt"),
            example=EXAMPLE_CONFIG,
            example_label=page.label("says.quantised_qwen_b"),
        )
    with right:
        paste.draw(
            page.label("says.what_nvidia_smi_topo"),
            page.key("topo"),
            example=EXAMPLE_TOPOLOGY,
            example_label=page.label("says.two_bridged_pairs"),
        )
    more.draw_machine(page)


def say_what_was_brought(page: BenchPage, asked: Asked) -> None:
    """Say what was read of a pasted machine, and what of a paste could not be read."""
    more.say_refit(page, asked.own)
    for refusal in asked.refusals:
        st.error(escape(refusal))
    if asked.topology is not None:
        page.say("plan.seen")
        said = of_machine(asked.topology, asked.plan, asked.question.cluster) if asked.plan else ()
        for one in said:
            st.markdown(escape(worded(one)))
