"""The refusals that an engine makes itself, in its own words, before it loads a byte: a command passes them all.

Each row says which engine, where in its source, and in which releases its words were read. A layout is refused here
with the sentence that the engine would print, so that it can be searched for.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from core.models.checkpoint import as_served
from core.placement.demand import Demand
from core.placement.layout import Layout
from core.sharding_math.tp_sizes import block_rules, divisibility_rules
from core.specs import ModelSpec

Engine = Literal["vllm", "sglang", "trtllm"]
ENGINES: tuple[Engine, ...] = ("vllm", "sglang", "trtllm")
Values = Mapping[str, int]
Check = Callable[[ModelSpec, Layout, Demand], Values | None]


@dataclass(frozen=True)
class Refusal:
    """One refusal. `check` returns what its sentence names where it holds, None where the engine goes on."""

    code: str
    engines: tuple[Engine, ...]
    message: str
    read_in: str
    source: str
    check: Check


@dataclass(frozen=True)
class Refused:
    """A refusal that a layout meets, as the engine prints it."""

    refusal: Refusal
    text: str


def _heads(model: ModelSpec, layout: Layout, demand: Demand) -> Values | None:
    heads, ranks = model.num_attention_heads, layout.tp_size
    return {"heads": heads, "tp": ranks} if heads % ranks else None


def _kv_heads(model: ModelSpec, layout: Layout, demand: Demand) -> Values | None:
    heads, ranks = model.num_key_value_heads, layout.tp_size
    split = model.mla is not None or heads % ranks == 0 or ranks % heads == 0
    return None if split else {"kv_heads": heads, "tp": ranks}


def _expert_blocks(model: ModelSpec, layout: Layout, demand: Demand) -> Values | None:
    """Columns of an expert on a rank that are no whole blocks; experts that stay whole are not cut."""
    if model.moe is None or layout.ep_size > 1:
        return None
    return _part_of(model, layout, "moe_intermediate_size", model.moe.moe_intermediate_size)


def _column_blocks(model: ModelSpec, layout: Layout, demand: Demand) -> Values | None:
    dense = model.sparse_layers < model.num_hidden_layers
    return _part_of(model, layout, "intermediate_size", model.intermediate_size) if dense else None


def _row_blocks(model: ModelSpec, layout: Layout, demand: Demand) -> Values | None:
    width = model.num_attention_heads * (model.mla.v_head_dim if model.mla else model.head_dim)
    return _part_of(model, layout, "attention output in blocks", width)


def _part_of(model: ModelSpec, layout: Layout, quantity: str, width: int) -> Values | None:
    bound = any(rule.quantity == quantity for rule in block_rules(model))
    edge = max(model.weight_block or (1,))
    broken = bound and layout.tp_size > 1 and width // layout.tp_size % edge
    return {"part": width // layout.tp_size, "block": edge} if broken else None


def _groups(model: ModelSpec, layout: Layout, demand: Demand) -> Values | None:
    if model.quantisation_group is None or model.weight_block is not None:
        return None
    rules = (rule for rule in divisibility_rules(model) if rule.unit > 1)
    return {} if any(not rule.holds(layout.tp_size) for rule in rules) else None


def _context(model: ModelSpec, layout: Layout, demand: Demand) -> Values | None:
    most = model.max_position_embeddings
    return {"asked": demand.sequence_tokens, "most": most} if demand.sequence_tokens > most else None


def _shared_ranks(model: ModelSpec, layout: Layout, demand: Demand) -> Values | None:
    """Ranks that hold no key twice have none to share out."""
    heads, ranks = model.num_key_value_heads, layout.tp_size
    few = layout.dcp_size > 1 and model.mla is None and ranks <= heads
    return {"tp": ranks, "kv_heads": heads} if few else None


def _shared_copies(model: ModelSpec, layout: Layout, demand: Demand) -> Values | None:
    heads, ranks = model.num_key_value_heads, layout.tp_size
    many = layout.dcp_size > 1 and model.mla is None and layout.dcp_size > ranks // heads
    return {"tp": ranks, "kv_heads": heads, "most": ranks // heads, "dcp": layout.dcp_size} if many else None


def _shared_queries(model: ModelSpec, layout: Layout, demand: Demand) -> Values | None:
    queries = model.num_attention_heads // model.num_key_value_heads
    odd = layout.dcp_size > 1 and model.mla is None and queries % layout.dcp_size
    return {"queries": queries, "dcp": layout.dcp_size} if odd else None


_NEWEST, _SGLANG = "vLLM 0.33.0", "SGLang 0.5.23"
_FP8 = "vllm/model_executor/layers/quantization/utils/fp8_utils.py"

REFUSALS: tuple[Refusal, ...] = (
    Refusal(
        "heads",
        ("vllm",),
        "Total number of attention heads ({heads}) must be divisible by tensor parallel size ({tp}).",
        _NEWEST,
        "vllm/config/model.py, ModelConfig.verify_with_parallel_config",
        _heads,
    ),
    Refusal(
        "heads",
        ("sglang", "trtllm"),
        "{heads} is not divisible by {tp}",
        _SGLANG,
        "sglang/srt/distributed/utils.py, divide; the models of both engines assert the same",
        _heads,
    ),
    Refusal(
        "kv_heads",
        ENGINES,
        "assert {kv_heads} % {tp} == 0",
        _NEWEST,
        "vllm/model_executor/models/llama.py, LlamaAttention: KV heads divide over the ranks, or ranks over them",
        _kv_heads,
    ),
    Refusal(
        "expert_blocks",
        ("vllm", "sglang"),
        "The output_size of gate's and up's weight = {part} is not divisible by weight quantization"
        " block_n = {block}.",
        _NEWEST,
        f"{_FP8}, validate_fp8_block_shape_moe; SGLang's is a copy of it",
        _expert_blocks,
    ),
    Refusal(
        "column_blocks",
        ("vllm", "sglang"),
        "Weight output_partition_size = {part} is not divisible by weight quantization block_n = {block}.",
        _NEWEST,
        f"{_FP8}, validate_fp8_block_shape",
        _column_blocks,
    ),
    Refusal(
        "row_blocks",
        ("vllm", "sglang"),
        "Weight input_size_per_partition = {part} is not divisible by weight quantization block_k = {block}.",
        _NEWEST,
        f"{_FP8}, validate_fp8_block_shape",
        _row_blocks,
    ),
    Refusal(
        "groups",
        ("vllm", "sglang"),
        "The input size is not aligned with the quantized weight shape. This can be caused by too large tensor"
        " parallel size.",
        _NEWEST,
        "vllm/model_executor/layers/quantization/auto_awq.py, create_weights; issue #13980 at 0.7.3",
        _groups,
    ),
    Refusal(
        "shared_ranks",
        ("vllm",),
        "tensor parallel size {tp} must be greater than total num kv heads {kv_heads} when enable decode context"
        " parallel for GQA/MQA",
        _NEWEST,
        "vllm/config/model.py, ModelConfig.verify_with_parallel_config",
        _shared_ranks,
    ),
    Refusal(
        "shared_copies",
        ("vllm",),
        "decode context parallel size must less than or equal to (tensor parallel size {tp} // total num kv heads"
        " {kv_heads}) = {most}, but got {dcp}",
        _NEWEST,
        "vllm/config/model.py, ModelConfig.verify_with_parallel_config",
        _shared_copies,
    ),
    Refusal(
        "shared_queries",
        ("vllm",),
        "Total number of q per kv attn heads ({queries}) must be divisible by dcp world size when enable decode"
        " context parallel for GQA ({dcp}).",
        _NEWEST,
        "vllm/config/model.py, ModelConfig.verify_with_parallel_config",
        _shared_queries,
    ),
    Refusal(
        "context",
        ("vllm",),
        "User-specified max_model_len ({asked}) is greater than the derived max_model_len"
        " (max_position_embeddings={most} or model_max_length=None in model's config.json).",
        _NEWEST,
        "vllm/config/model.py, _get_and_verify_max_len",
        _context,
    ),
)
"""What is checked, in the order in which an engine meets it."""


def preflight(model: ModelSpec, layout: Layout, demand: Demand, engine: Engine = "vllm") -> tuple[Refused, ...]:
    """The refusals that an engine would end a layout's start with; none where it goes on to load the weights."""
    served = as_served(model, demand.dtype)
    met = ((row, row.check(served, layout, demand)) for row in REFUSALS if engine in row.engines)
    return tuple(Refused(row, row.message.format(**values)) for row, values in met if values is not None)
