"""What the strategy page asks: of a training run, of the picker, of a block, of a collective, of a request."""

from dataclasses import dataclass
from typing import Any, get_args

import streamlit as st

from core.placement.asked import asked_cache, asked_width
from core.placement.cluster import ClusterSpec
from core.specs import LinkSpec
from core.steps.model import TensorGroup
from core.strategy.block import BLOCKS, Block, block_under
from core.strategy.disaggregation import Request
from core.strategy.picker import USUAL
from core.strategy.picker import Question as PickerQuestion
from core.strategy.rooms import ROOMS
from core.strategy.training.layout import Recompute
from core.strategy.training.memory import Job
from core.strategy.training.side_by_side import Held
from ui.page import Page
from ui.question import Choice, Whole, ask

MOST_NODES = 32
RANKS = tuple(2**power for power in range(11))
TRAINING, SERVING = "training", "serving"
THE_LINK, THE_NETWORK = "the link", "the network"
HOLDS, PAYS = "held", "saved and paid"
"""The two figures of the first scene; a projector has room for one."""
TOKENS = (1024, 2048, 4096, 8192, 16384, 32768)


@dataclass(frozen=True)
class Notch(Choice[int]):
    """One of an ascending few, slid."""

    def draw(self, label: str, stem: str, **given: Any) -> None:
        st.select_slider(label, self.options, **given)


@dataclass(frozen=True)
class Question:
    """Every field of the strategy page, over all its scenes."""

    ranks: int = ask(64, Notch(RANKS), "says.ranks")
    sequence: int = ask(4096, Choice(TOKENS, listed=True), "says.tokens_sequence")
    microbatches: int = ask(8, Choice((1, 8, 32)), "says.microbatches")
    recompute: Recompute = ask("selective", Choice(get_args(Recompute)), "says.recomputed")
    view: str = ask(HOLDS, Choice((HOLDS, PAYS)), "says.figure")
    purpose: str = ask(TRAINING, Choice((TRAINING, SERVING)), "says.for")
    goal: str = ask("throughput", Choice(("throughput", "latency")), "says.what_counts")
    gpus: int = ask(8, Choice((1, 2, 4, 8)), "says.gpus_node")
    nodes: int = ask(1, Whole(1, MOST_NODES), "says.nodes")
    sequences: int = ask(USUAL["train"][0], Whole(1, 4096), "says.sequences", "says.step_or_served_once")
    tokens: int = ask(USUAL["train"][1], Choice(TOKENS, listed=True), "says.tokens_each")
    served_sequences: int = ask(USUAL["serve"][0], Whole(1, 4096), "says.sequences", "says.step_or_served_once")
    served_tokens: int = ask(USUAL["serve"][1], Choice(TOKENS, listed=True), "says.tokens_each")
    block: str = ask("TP", Choice(tuple(BLOCKS)), "says.strategy")
    block_ranks: int = ask(4, Choice((1, 2, 4, 8)), "says.ranks")
    op: str = ask("all-reduce", Choice(tuple(ROOMS), listed=True), "says.collective")
    room_ranks: int = ask(4, Choice((2, 4, 8)), "says.ranks")
    over: str = ask(THE_LINK, Choice((THE_LINK, THE_NETWORK)), "says.over")
    neighbours: int = ask(16, Whole(1, 1024), "says.sequences_once")
    prompt: int = ask(2048, Whole(1, 131_072), "says.prompt_tokens")
    output: int = ask(256, Whole(1, 131_072), "says.output_tokens")


StrategyPage = Page[Question]


def held(page: StrategyPage) -> Held:
    """Return the training run of the first scene."""
    asked, scenario = page.question, page.scenario.timed
    return Held(
        scenario.model_spec,
        asked.ranks,
        asked.gpus,
        scenario.gpu_spec.usable_memory_bytes,
        Job(sequence_tokens=asked.sequence, microbatches=asked.microbatches),
        asked.recompute,
    )


def picker_question(page: StrategyPage) -> PickerQuestion:
    """Return what the picker is asked."""
    asked, scenario = page.question, page.scenario.timed
    trains = asked.purpose == TRAINING
    return PickerQuestion(
        model=scenario.model_spec,
        cluster=ClusterSpec(
            scenario.gpu_spec,
            scenario.link_spec,
            scenario.network_spec,
            asked.gpus,
            asked.nodes,
            scenario.gpu_spec.nvlink_domain,
        ),
        purpose="train" if trains else "serve",
        goal="latency" if asked.goal == "latency" else "throughput",
        sequences=asked.sequences if trains else asked.served_sequences,
        sequence_tokens=asked.tokens if trains else asked.served_tokens,
        output_tokens=scenario.output_tokens,
        weight_dtype=asked_width(scenario.model_spec, scenario.gpu_spec, scenario.weight_dtype),
        kv_dtype=asked_cache(scenario.model_spec, scenario.gpu_spec, scenario.kv_dtype),
    )


def block(page: StrategyPage) -> Block:
    """Return one block of the scenario's model under the strategy that is asked for."""
    return block_under(page.question.block, page.scenario.model_spec, page.question.block_ranks, 1)


def link(page: StrategyPage) -> LinkSpec:
    """Return the link that the collective goes over."""
    scenario = page.scenario.timed
    return scenario.link_spec if page.question.over == THE_LINK else scenario.network_spec


def request(page: StrategyPage) -> Request:
    """Return the request whose prompt is read apart."""
    asked, scenario = page.question, page.scenario.timed
    return Request(
        scenario.model_spec,
        scenario.gpu_spec,
        TensorGroup(scenario.tp, scenario.link_spec, max(8, scenario.tp)),
        asked.prompt,
        asked.output,
        asked.neighbours,
        asked_cache(scenario.model_spec, scenario.gpu_spec, scenario.kv_dtype),
        asked_width(scenario.model_spec, scenario.gpu_spec, scenario.weight_dtype),
    )


def draw_memory_controls(page: StrategyPage) -> None:
    """Draw the first scene's row; a projector has room for one figure, named there."""
    row = page.controls("ranks", "sequence")
    with row, st.container(horizontal=True, vertical_alignment="bottom", width="content"):
        for name in ("view",) if page.look.present else ("microbatches", "recompute"):
            page.control(name)


def draw_picker_controls(page: StrategyPage) -> None:
    """Draw what the picker asks: training and serving have sizes of their own."""
    with page.controls():
        with st.container(horizontal=True, gap="medium", key="line_kinds"):
            for name in ("purpose", "goal", "gpus"):
                page.control(name)
        page.control("nodes")
        of = "" if page.question.purpose == TRAINING else "served_"
        page.control(f"{of}sequences")
        page.control(f"{of}tokens")
