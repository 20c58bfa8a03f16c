"""A decode step's attention over N ranks: cut by heads, by heads and context, or each rank its own sequences.

B sequences of S tokens, N ranks, L layers, d hidden_size, h query heads, k bytes of keys and values a token and
rank, c ranks that hold the same keys and values. A cut by heads copies what has fewer heads than ranks: a latent
row (MLA) is on all of them. Distributed over those c ranks by token, each keeps S/c of a context, and the c must
exchange queries and partial results. Data parallel, a rank keeps its own sequences whole, and all the weights.

Ignored: the arithmetic of attention, the steps of a block that distribute the last tokens, and overlap.
Source: vLLM, decode context parallelism ("all-gather Q, compute, all-gather and reduce-scatter"); Helix (arXiv
2507.07120) distributes a context so too; SGLang, data-parallel attention.
"""

from dataclasses import dataclass
from math import ceil
from typing import Literal, NamedTuple

from core.catalog import model
from core.collectives.cost import CollectiveCost, as_measured, ring_all_gather, ring_reduce_scatter
from core.comm_cost.bill import allreduce_payload_bytes
from core.comm_cost.kernels import picked_all_reduce
from core.errors import require_divides, require_positive
from core.models.kv_cache import kv_bytes_per_token, kv_bytes_per_token_per_rank
from core.models.loaded_weights import attention_weight_bytes
from core.specs import GpuSpec, LinkSpec, ModelSpec

Way = Literal["heads", "context", "data"]
WAYS: tuple[Way, ...] = ("heads", "context", "data")
NO_COST = CollectiveCost(steps=0, traffic_bytes=0.0, latency_s=0.0, bandwidth_s=0.0)
_LSE_BYTES = 4
"""The log of a softmax's sum travels in float32."""


@dataclass(frozen=True)
class DecodeAttention:
    """What one rank keeps and reads in a step, `copies` of the same keys and values, and what the layers send."""

    way: Way
    ranks: int
    copies: int
    cache_bytes: float
    weight_bytes: int
    read_s: float
    cost: CollectiveCost

    @property
    def total_s(self) -> float:
        """Reading a rank's keys and values, then sending, one after the other."""
        return self.read_s + self.cost.total_s


def decode_attention(
    model: ModelSpec, gpu: GpuSpec, link: LinkSpec, way: Way, ranks: int, sequences: int, context_tokens: int
) -> DecodeAttention:
    """One decode step's attention in one of the three ways.

        heads     B · S · k a rank         an all-reduce of B·d a layer
        context   B · S · k / c a rank     that, and a gather of queries, one of sums, a reduce-scatter of results
        data      ⌈B/N⌉ · S · N·k/c a rank nothing

    Raises IndivisibleError where heads do not divide over the ranks.
    """
    require_positive(ranks=ranks, sequences=sequences, context_tokens=context_tokens)
    require_divides("num_attention_heads", model.num_attention_heads, "ranks", ranks)
    whole, shared = kv_bytes_per_token(model), kv_bytes_per_token_per_rank(model, ranks)
    copies = round(ranks * shared / whole)
    measured = as_measured(link)
    summed = picked_all_reduce(allreduce_payload_bytes(sequences, model.hidden_size), ranks, link)
    by_way = {
        "heads": (copies, sequences * shared, ranks, summed),
        "context": (
            1,
            sequences * shared / copies,
            ranks,
            summed.plus(_exchange(model, sequences, ranks, copies, measured)),
        ),
        "data": (1, ceil(sequences / ranks) * whole, 1, NO_COST),
    }
    held, cache_a_token, cut, layer = by_way[way]
    cache, weights = cache_a_token * context_tokens, attention_weight_bytes(model, cut, model.weight_dtype)
    read_s = (cache + weights) / gpu.memory_bytes_per_s
    return DecodeAttention(way, ranks, held, cache, weights, read_s, layer.times(model.num_hidden_layers))


def _exchange(model: ModelSpec, sequences: int, ranks: int, over: int, link: LinkSpec) -> CollectiveCost:
    """What one layer's exchange costs, of the heads of all c ranks."""
    rows = sequences * model.num_attention_heads // ranks * over
    queries, sums, results = (one.cost for one in context_exchange(model, rows, over, link))
    return queries.plus(sums).plus(results)


class Exchange(NamedTuple):
    """One collective of a layer whose context is shared out, its payload and its cost."""

    op: Literal["all_gather", "reduce_scatter"]
    payload_bytes: float
    cost: CollectiveCost


def context_exchange(
    model: ModelSpec, rows: float, over: int, link: LinkSpec
) -> tuple[Exchange, Exchange, Exchange]:
    """One layer's queries gathered over c ranks, their softmax sums too, and the results scattered as they add up.

    `rows` are tokens times the heads of all c ranks. A head's query and result are as wide as what they meet:
    `head_dim`, or the latent row. Each rank has a sum for every head, in float32.
    Source: vllm/v1/attention/ops/common.py, cp_lse_ag_out_rs.
    """
    query, result = model.head_dim, model.head_dim
    if model.mla is not None:
        query, result = model.mla.kv_lora_rank + model.mla.qk_rope_head_dim, model.mla.kv_lora_rank
    queries, results = (allreduce_payload_bytes(1, width) * rows for width in (query, result))
    sums = rows * _LSE_BYTES * over
    return (
        Exchange("all_gather", queries, ring_all_gather(queries, over, link)),
        Exchange("all_gather", sums, ring_all_gather(sums, over, link)),
        Exchange("reduce_scatter", results, ring_reduce_scatter(results, over, link)),
    )


@dataclass(frozen=True)
class Attention:
    """What is asked of a decode step's attention: the model, how many ranks, how many sequences, how long."""

    key: str = "deepseek-v3"
    ranks: int = 8
    sequences: int = 64
    context_tokens: int = 8192

    @property
    def model(self) -> ModelSpec:
        return model(self.key)

    def ways(self, gpu: GpuSpec, link: LinkSpec) -> list[DecodeAttention]:
        asked = (self.ranks, self.sequences, self.context_tokens)
        return [decode_attention(self.model, gpu, link, way, *asked) for way in WAYS]
