"""What the strategy page asks: of a training run, of the picker, of a block, of a collective, of a request."""

from dataclasses import dataclass
from typing import get_args

import streamlit as st

from core.placement.asked import asked_cache, asked_width
from core.placement.cluster import ClusterSpec
from core.specs import LinkSpec
from core.steps.model import TensorGroup
from core.strategy.block import BLOCKS
from core.strategy.disaggregation import Request
from core.strategy.picker import USUAL, Purpose, Question
from core.strategy.rooms import ROOMS
from core.strategy.training.layout import Recompute
from core.strategy.training.memory import Job
from core.strategy.training.side_by_side import Held
from ui import address, inputs
from ui.scenes import Page

MOST_NODES = 32
RANKS = tuple(2**power for power in range(11))
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
    scenario = page.scenario.timed
    ranks, tokens, microbatches, recompute, view = _memory(page)
    with page.controls("picker"):
        question = _question(page)
    with page.controls("block"):
        strategy = page.control(inputs.choice, "block", "says.strategy", list(BLOCKS), "TP")
        block_ranks = page.control(inputs.choice, "block_ranks", "says.ranks", [1, 2, 4, 8], 4)
    with page.controls("collectives"):
        op = page.control(inputs.select, "op", "says.collective", list(ROOMS), "all-reduce")
        room_ranks = page.control(inputs.choice, "room_ranks", "says.ranks", [2, 4, 8], 4)
        over = page.control(inputs.choice, "over", "says.over", [THE_LINK, THE_NETWORK], THE_LINK)
    with page.controls("serving"):
        neighbours = page.control(inputs.whole, "neighbours", "says.sequences_once", 1, 1024, 16)
        prompt = page.control(inputs.whole, "prompt", "says.prompt_tokens", 1, 131_072, 2048)
        output = page.control(inputs.whole, "output", "says.output_tokens", 1, 131_072, 256)
    group = TensorGroup(scenario.tp, scenario.link_spec, max(8, scenario.tp))
    return Asked(
        held=Held(
            scenario.model_spec,
            ranks,
            question.cluster.gpus_per_node,
            scenario.gpu_spec.usable_memory_bytes,
            Job(sequence_tokens=tokens, microbatches=microbatches),
            recompute,
        ),
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
            asked_cache(scenario.model_spec, scenario.gpu_spec, scenario.kv_dtype),
            asked_width(scenario.model_spec, scenario.gpu_spec, scenario.weight_dtype),
        ),
    )


def _memory(page: Page) -> tuple[int, int, int, Recompute, str]:
    """The first scene's row, once its question is answered; a projector has room for one figure, named there."""
    shown = "memory" if page.revealed else "unanswered"
    with page.controls(shown):
        ranks = page.control(notch, "ranks", "says.ranks", RANKS, 64)
        tokens = page.control(inputs.select, "sequence", "says.tokens_sequence", list(TOKENS), 4096)
        region = st.container(horizontal=True, vertical_alignment="bottom", width="content")
    with region if not page.look.present else page.controls("on_a_laptop"):
        microbatches = page.control(inputs.choice, "microbatches", "says.microbatches", [1, 8, 32], 8)
        recompute = _recompute(page)
    with region if page.look.present else page.controls("on_a_projector"):
        view = page.control(inputs.choice, "view", "says.figure", [HOLDS, PAYS], HOLDS)
    return ranks, tokens, microbatches, recompute, view


def _recompute(page: Page) -> Recompute:
    names: list[Recompute] = list(get_args(Recompute))
    chosen = page.control(inputs.choice, "recompute", "says.recomputed", [str(name) for name in names], "selective")
    return next(name for name in names if name == chosen)


def _question(page: Page) -> Question:
    scenario = page.scenario.timed
    with st.container(horizontal=True, gap="medium", key="line_kinds"):
        chosen = page.control(inputs.choice, "purpose", "says.for", list(PURPOSES), "training")
        goal = page.control(inputs.choice, "goal", "says.what_counts", ["throughput", "latency"], "throughput")
        gpus_per_node = page.control(inputs.choice, "gpus", "says.gpus_node", [1, 2, 4, 8], 8)
    nodes = page.control(inputs.whole, "nodes", "says.nodes", 1, MOST_NODES, 1)
    purpose: Purpose = "train" if PURPOSES[chosen] == "train" else "serve"
    of, (usual_sequences, usual_tokens) = "" if purpose == "train" else "served_", USUAL[purpose]
    sequences = page.control(
        inputs.whole,
        f"{of}sequences",
        "says.sequences",
        1,
        4096,
        usual_sequences,
        help=page.label("says.step_or_served_once"),
    )
    tokens = page.control(inputs.select, f"{of}tokens", "says.tokens_each", list(TOKENS), usual_tokens)
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
        purpose=purpose,
        goal="latency" if goal == "latency" else "throughput",
        sequences=sequences,
        sequence_tokens=tokens,
        output_tokens=scenario.output_tokens,
        weight_dtype=asked_width(scenario.model_spec, scenario.gpu_spec, scenario.weight_dtype),
        kv_dtype=asked_cache(scenario.model_spec, scenario.gpu_spec, scenario.kv_dtype),
    )


def notch(label: str, key: str, options: tuple[int, ...], default: int) -> int:
    """One of an ascending few, slid."""
    address.expect(key, [str(option) for option in options])
    return int(st.select_slider(label, options, default, key=key, bind="query-params"))
