"""What an engine asks of a start before it loads a byte: each check returns what its sentence names, or None."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil
from typing import Literal

from core.placement.demand import Demand
from core.placement.layout import Layout
from core.sharding_math.tp_sizes import block_rules, divisibility_rules
from core.specs import GpuSpec, ModelSpec
from core.text.numbers import whole

Engine = Literal["vllm", "sglang", "trtllm"]
ENGINES: tuple[Engine, ...] = ("vllm", "sglang", "trtllm")
ENGINE_NAMES: Mapping[Engine, str] = {"vllm": "vLLM", "sglang": "SGLang", "trtllm": "TensorRT-LLM"}
Values = Mapping[str, object]


@dataclass(frozen=True)
class Start:
    """What an engine is started with: the checkpoint as it is served, its layout, its lengths, and the GPU."""

    model: ModelSpec
    layout: Layout
    demand: Demand
    gpu: GpuSpec | None = None
    gpus_per_node: int | None = None

    @property
    def capability(self) -> int | None:
        """The GPU's compute capability; None of one that has none, or that nobody named."""
        return None if self.gpu is None else self.gpu.capability


OF_LAYOUTS = ("shared_ranks", "shared_copies", "shared_queries", "shared_cache", "stages", "nodes", "staged_draft")
"""Codes of refusals that another layout of the same question would not meet."""

Check = Callable[[Start], Values | None]

BF16_CAPABILITY, HOPPER = 80, 90
"""Of CUDA: from which it multiplies in bf16, and Hopper's."""

LEAST_CAPABILITY: Mapping[Engine, Mapping[str, int]] = {
    "vllm": {"fp8": 75, "int4": 75, "mxfp4": 80, "nvfp4": 75},
    "sglang": {"fp8": 80, "int4": 75, "mxfp4": 80, "nvfp4": 80},
}
"""What a width's kernels ask of a GPU: get_min_capability of each engine's quantization configs."""


def heads(asked: Start) -> Values | None:
    """Query heads that do not divide."""
    heads, ranks = asked.model.num_attention_heads, asked.layout.tp_size
    return {"heads": heads, "tp": ranks} if heads % ranks else None


def kv_heads(heads_name: str, ranks_name: str) -> Check:
    """KV heads and ranks of which neither divides the other, under the names an engine gives to both."""

    def check(asked: Start) -> Values | None:
        heads, ranks = asked.model.num_key_value_heads, asked.layout.tp_size
        if asked.model.mla is not None or heads % ranks == 0 or ranks % heads == 0:
            return None
        left, right = (heads_name, ranks_name) if heads >= ranks else (ranks_name, heads_name)
        return {"left": left, "right": right}

    return check


def widths(asked: Start) -> Values | None:
    """Columns of a dense MLP that do not divide."""
    width, ranks = asked.model.intermediate_size, asked.layout.tp_size
    return {"width": width, "tp": ranks} if _has_dense(asked) and width % ranks else None


def expert_widths(asked: Start) -> Values | None:
    """Columns of an expert that do not divide; experts that stay whole are not cut."""
    moe, ranks = asked.model.moe, asked.layout.tp_size
    return {} if moe is not None and asked.layout.ep_size == 1 and moe.moe_intermediate_size % ranks else None


def _has_dense(asked: Start) -> bool:
    return asked.model.sparse_layers < asked.model.num_hidden_layers


def expert_blocks(asked: Start) -> Values | None:
    """Columns of an expert on a rank that are no whole blocks; experts that stay whole are not cut."""
    if asked.model.moe is None or asked.layout.ep_size > 1:
        return None
    return _part_of(asked, "moe_intermediate_size", asked.model.moe.moe_intermediate_size)


def column_blocks(asked: Start) -> Values | None:
    """Columns of a dense layer on a rank that are no whole blocks."""
    return _part_of(asked, "intermediate_size", asked.model.intermediate_size) if _has_dense(asked) else None


def row_blocks(asked: Start) -> Values | None:
    """Rows of the attention's output on a rank that are no whole blocks."""
    width = asked.model.num_attention_heads * (
        asked.model.mla.v_head_dim if asked.model.mla else asked.model.head_dim
    )
    return _part_of(asked, "attention output in blocks", width)


def _part_of(asked: Start, quantity: str, width: int) -> Values | None:
    bound = any(rule.quantity == quantity for rule in block_rules(asked.model))
    edge = max(asked.model.weight_block or (1,))
    broken = bound and asked.layout.tp_size > 1 and width // asked.layout.tp_size % edge
    return {"part": width // asked.layout.tp_size, "block": edge} if broken else None


def short_scales(blocks: Check) -> Check:
    """Scales that are distributed in whole rows, of which a late rank gets fewer than its part of the blocks has.

    A rank takes ⌈blocks/N⌉ of them; one row alone is spread over all, and nothing is said.
    """

    def check(asked: Start) -> Values | None:
        broken, ranks = blocks(asked), asked.layout.tp_size
        if broken is None:
            return None
        part, edge = (whole(str(broken[name])) for name in ("part", "block"))
        rows, in_all = ceil(part / edge), ceil(part * ranks / edge)
        left = in_all % ceil(in_all / ranks)
        return {"rows": rows, "left": left} if rows > 1 != left else None

    return check


def groups(asked: Start) -> Values | None:
    """Inputs of a rank that are no whole groups of a scale."""
    if asked.model.quantisation_group is None or asked.model.weight_block is not None:
        return None
    rules = (rule for rule in divisibility_rules(asked.model) if rule.unit > 1)
    return {} if any(not rule.holds(asked.layout.tp_size) for rule in rules) else None


def context(asked: Start) -> Values | None:
    """Sequences longer than the model's own context."""
    most = asked.model.max_position_embeddings
    return {"asked": asked.demand.sequence_tokens, "most": most} if asked.demand.sequence_tokens > most else None


def shared_ranks(asked: Start) -> Values | None:
    """Ranks that hold no key twice have none to share out."""
    heads, ranks = asked.model.num_key_value_heads, asked.layout.tp_size
    few = asked.layout.dcp_size > 1 and asked.model.mla is None and ranks <= heads
    return {"tp": ranks, "kv_heads": heads} if few else None


def shared_copies(asked: Start) -> Values | None:
    """A cache shared out over more ranks than hold the same keys."""
    heads, ranks = asked.model.num_key_value_heads, asked.layout.tp_size
    many = asked.layout.dcp_size > 1 and asked.model.mla is None and asked.layout.dcp_size > ranks // heads
    return {"tp": ranks, "kv_heads": heads, "most": ranks // heads, "dcp": asked.layout.dcp_size} if many else None


def shared_queries(asked: Start) -> Values | None:
    """Queries of a KV head that do not divide over those who share its cache."""
    queries = asked.model.num_attention_heads // asked.model.num_key_value_heads
    odd = asked.layout.dcp_size > 1 and asked.model.mla is None and queries % asked.layout.dcp_size
    return {"queries": queries, "dcp": asked.layout.dcp_size} if odd else None


def stages(asked: Start) -> Values | None:
    """Fewer layers than pipeline stages."""
    return {} if asked.layout.pp_size > asked.model.num_hidden_layers else None


def nodes(asked: Start) -> Values | None:
    """Ranks that leave the last node half used."""
    ranks = asked.layout.gpus_per_replica
    per_node = asked.gpus_per_node or ranks
    return {} if ranks % -(-ranks // per_node) else None


def staged_draft(asked: Start) -> Values | None:
    """Guessing ahead on more than one stage."""
    return {} if asked.layout.pp_size > 1 and asked.demand.draft_tokens else None


def repeats_in_part(layout: Layout, engine: Engine) -> bool:
    """Whether attention is repeated and cut too, where the engine does one of both: TensorRT-LLM's attention DP
    repeats it on every rank (tensorrt_llm/_torch/modules/attention.py, Attention.__init__)."""
    return engine == "trtllm" and layout.dp_size > 1 and layout.tp_size > 1


def no_shared_cache(asked: Start) -> Values | None:
    """A cache that is shared out, where the engine cannot."""
    return {} if asked.layout.dcp_size > 1 else None


def no_bf16(asked: Start) -> Values | None:
    """Weights that are multiplied in bf16, on a GPU that has none."""
    capability = asked.capability or BF16_CAPABILITY
    if asked.gpu is None or capability >= BF16_CAPABILITY or asked.demand.dtype != "bf16":
        return None
    return {"gpu": asked.gpu.name, "capability": f"{capability / 10:.1f}"}


def too_old(engine: Engine) -> Check:
    """Kernels of a width that the GPU cannot run."""

    def check(asked: Start) -> Values | None:
        width = asked.demand.dtype.partition("-")[0]
        least, capability = LEAST_CAPABILITY[engine].get(width, 0), asked.capability
        old = capability is not None and capability < least
        return {"width": width, "least": least, "capability": capability} if old else None

    return check


def narrow_experts(asked: Start) -> Values | None:
    """Experts in MXFP4 on a GPU older than Hopper."""
    narrow = asked.model.moe is not None and asked.model.weight_dtype == "mxfp4"
    old = asked.capability is not None and asked.capability < HOPPER
    return {"capability": asked.capability} if narrow and old else None
