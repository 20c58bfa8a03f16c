"""What the strategy page asks: of a training run, of the picker, of a block, of a collective, of a request."""

from dataclasses import dataclass
from typing import get_args

import streamlit as st

from core.placement.asked import asked_width
from core.placement.cluster import ClusterSpec
from core.specs import LinkSpec
from core.steps.model import TensorGroup
from core.strategy.block import BLOCKS
from core.strategy.disaggregation import Request
from core.strategy.picker import Question
from core.strategy.rooms import ROOMS
from core.training.layout import Recompute
from runtime.prose import said as phrase
from ui import inputs
from ui.scenes import Page
from ui.strategy.rows import RANKS, Held, held

MOST_NODES = 32
PURPOSES = {"training": "train", "serving": "serve"}
THE_LINK, THE_NETWORK = "the link", "the network"
HOLDS, PAYS = "held", "saved and paid"
"""The two figures of the first scene; a projector has room for one."""
TOKENS = (1024, 2048, 4096, 8192, 16384, 32768)


@dataclass(frozen=True)
class Asked:
    """What the controls of all scenes say."""

    held: Held
    view: str
    question: Question
    strategy: str
    block_ranks: int
    op: str
    room_ranks: int
    over: LinkSpec
    request: Request


def ask(page: Page) -> Asked:
    """Every control, in every scene; only the open scene's are seen, a question's once it is answered."""
    scenario = page.scenario
    ranks, tokens, microbatches, recompute, view = _memory(page)
    with page.controls("picker"):
        question = _question(page)
    with page.controls("block"):
        strategy = inputs.choice(phrase("strategy", "says.strategy"), page.key("block"), list(BLOCKS), "TP")
        block_ranks = inputs.choice(phrase("strategy", "says.ranks"), page.key("block_ranks"), [1, 2, 4, 8], 4)
    with page.controls("collectives"):
        op = inputs.select(phrase("strategy", "says.collective"), page.key("op"), list(ROOMS), "all-reduce")
        room_ranks = inputs.choice(phrase("strategy", "says.ranks"), page.key("room_ranks"), [2, 4, 8], 4)
        over = inputs.choice(phrase("strategy", "says.over"), page.key("over"), [THE_LINK, THE_NETWORK], THE_LINK)
    with page.controls("serving"):
        neighbours = inputs.whole(phrase("strategy", "says.sequences_once"), page.key("neighbours"), 1, 1024, 16)
        prompt = inputs.whole(phrase("strategy", "says.prompt_tokens"), page.key("prompt"), 1, 131_072, 2048)
        output = inputs.whole(phrase("strategy", "says.output_tokens"), page.key("output"), 1, 131_072, 256)
    group = TensorGroup(scenario.tp, scenario.link_spec, max(8, scenario.tp))
    return Asked(
        held=held(scenario, ranks, question.cluster.gpus_per_node, tokens, microbatches, recompute),
        view=view,
        question=question,
        strategy=strategy,
        block_ranks=block_ranks,
        op=op,
        room_ranks=room_ranks,
        over=scenario.link_spec if over == THE_LINK else scenario.network_spec,
        request=Request(
            scenario.model_spec,
            scenario.gpu_spec,
            group,
            prompt,
            output,
            neighbours,
            scenario.kv_dtype,
            asked_width(scenario.model_spec, scenario.gpu_spec, scenario.weight_dtype),
        ),
    )


def _memory(page: Page) -> tuple[int, int, int, Recompute, str]:
    """The first scene's row, once its question is answered; a projector has room for one figure, named there."""
    shown = "memory" if page.revealed else "unanswered"
    with page.controls(shown):
        ranks = notch(phrase("strategy", "says.ranks"), page.key("ranks"), RANKS, 64)
        tokens = inputs.select(phrase("strategy", "says.tokens_sequence"), page.key("sequence"), list(TOKENS), 4096)
        place = st.container(horizontal=True, vertical_alignment="bottom", width="content")
    with place if not page.look.present else page.controls("on_a_laptop"):
        microbatches = inputs.choice(
            phrase("strategy", "says.microbatches"), page.key("microbatches"), [1, 8, 32], 8
        )
        recompute = _recompute(page)
    with place if page.look.present else page.controls("on_a_projector"):
        view = inputs.choice(phrase("strategy", "says.figure"), page.key("view"), [HOLDS, PAYS], HOLDS)
    return ranks, tokens, microbatches, recompute, view


def _recompute(page: Page) -> Recompute:
    names: list[Recompute] = list(get_args(Recompute))
    said = inputs.choice(
        phrase("strategy", "says.recomputed"), page.key("recompute"), [str(name) for name in names], "selective"
    )
    return next(name for name in names if name == said)


def _question(page: Page) -> Question:
    scenario = page.scenario
    with st.container(horizontal=True, gap="medium", key="line_kinds"):
        purpose = inputs.choice(phrase("strategy", "says.for"), page.key("purpose"), list(PURPOSES), "training")
        goal = inputs.choice(
            phrase("strategy", "says.what_counts"), page.key("goal"), ["throughput", "latency"], "throughput"
        )
        gpus_per_node = inputs.choice(phrase("strategy", "says.gpus_node"), page.key("gpus"), [1, 2, 4, 8], 8)
    nodes = inputs.whole(phrase("strategy", "says.nodes"), page.key("nodes"), 1, MOST_NODES, 1)
    sequences = inputs.whole(
        phrase("strategy", "says.sequences"),
        page.key("sequences"),
        1,
        4096,
        64,
        help=phrase("strategy", "says.step_or_served_once"),
    )
    tokens = inputs.select(phrase("strategy", "says.tokens_each"), page.key("tokens"), list(TOKENS), 4096)
    cluster = ClusterSpec(
        scenario.gpu_spec,
        scenario.link_spec,
        scenario.network_spec,
        gpus_per_node,
        nodes,
        scenario.gpu_spec.nvlink_domain,
    )
    return Question(
        model=scenario.model_spec,
        cluster=cluster,
        purpose="train" if PURPOSES[purpose] == "train" else "serve",
        goal="latency" if goal == "latency" else "throughput",
        sequences=sequences,
        sequence_tokens=tokens,
        output_tokens=scenario.output_tokens,
        weight_dtype=asked_width(scenario.model_spec, scenario.gpu_spec, scenario.weight_dtype),
        kv_dtype=scenario.kv_dtype,
    )


def notch(label: str, key: str, options: tuple[int, ...], default: int) -> int:
    """One of an ascending few, slid."""
    inputs.expect(key, [str(option) for option in options])
    return int(st.select_slider(label, options, default, key=key, bind="query-params"))
