"""What a rank's weights weigh once an engine has loaded them, to the fourth decimal of its log.

A parameter count is not enough: k and v heads are repeated where ranks outnumber them, the vocabulary is padded,
the rotary table is on the GPU too and is not sharded, and the allocator hands out whole blocks. The tensors here
are those vLLM makes: q, k and v in one, gate and up in one, all experts of a layer in one.

L num_hidden_layers, d hidden_size, h and k heads, hd head_dim, f intermediate_size, V vocab_size, b bytes.
Left out: LoRA, a vision tower, a draft model, copies a kernel makes of quantised weights.
Source: vllm/model_executor/layers/{linear,vocab_parallel_embedding,rotary_embedding}.py, fused_moe/layer.py;
startup logs of eight bf16 models agree to 0.004 % where they are dense, to 0.04 % where they are mixtures.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from core.errors import OutOfRangeError, require_divides, require_positive
from core.models.kv_cache import kv_heads_per_rank
from core.models.parameters import padded_vocab_size
from core.models.weight_formats import WeightFormat, weight_format
from core.specs import MlaSpec, ModelSpec, MoeSpec
from core.units import MIB

_ROUND = 512
_SMALL = MIB
_OWN_SEGMENT = 10 * MIB
_SEGMENT_ROUND = 2 * MIB
_SHARED_SEGMENT = 20 * MIB
_UNSPLIT = MIB


@dataclass(frozen=True)
class StoredTensor:
    """`copies` tensors of `size_bytes` each, alike but for their layer."""

    name: str
    copies: int
    size_bytes: int


@dataclass(frozen=True)
class Stage:
    """The layers a pipeline rank holds: `layers` from number `first_layer` on, of `of_layers` in all.

    `whole_ends` where an engine makes the embedding and the head on every stage, and uses them on two;
    `own_tables` where every layer has a rotary table of its own.
    """

    first_layer: int
    layers: int
    of_layers: int
    whole_ends: bool = False
    own_tables: bool = False

    @property
    def has_embedding(self) -> bool:
        return self.whole_ends or self.first_layer == 0

    @property
    def has_head(self) -> bool:
        return self.whole_ends or self.first_layer + self.layers == self.of_layers


def stages(model: ModelSpec, pp_size: int, partition: Sequence[int] = ()) -> tuple[Stage, ...]:
    """How layers are distributed: alike, and of r left over, one more to each of the r stages before the last.

    `partition` is the layers of each stage where a log or a user says so.
    Raises OutOfRangeError where there are more stages than layers, or the partition does not add up.
    Source: vllm/distributed/utils.py, get_pp_indices; logs print [31, 30] for 61 layers, [22, 21] for 43.
    """
    require_positive(pp_size=pp_size)
    total = model.num_hidden_layers
    if pp_size > total:
        raise OutOfRangeError("pp_size", pp_size, f"is more than num_hidden_layers={total}")
    even, left = divmod(total, pp_size)
    counts = list(partition) or [even + (pp_size - 1 - left <= rank < pp_size - 1) for rank in range(pp_size)]
    if len(counts) != pp_size or sum(counts) != total:
        raise OutOfRangeError("partition", counts, f"must be {pp_size} numbers that sum to {total}")
    return tuple(Stage(sum(counts[:rank]), count, total) for rank, count in enumerate(counts))


def allocated_bytes(size_bytes: int) -> int:
    """What the caching allocator counts as allocated for a tensor.

    Multiples of 512 bytes. From 10 MiB on a tensor has a segment of its own in whole 2 MiB, and what is left of
    it is not split off up to 1 MiB: it counts as the tensor's.
    Source: pytorch c10/cuda/CUDACachingAllocator.cpp, round_size, get_allocation_size, should_split.
    """
    rounded = _up(size_bytes, _ROUND)
    if rounded < _OWN_SEGMENT:
        return rounded
    segment = _up(rounded, _SEGMENT_ROUND)
    return segment if segment - rounded <= _UNSPLIT else rounded


def reserved_bytes(tensors: Sequence[StoredTensor]) -> int:
    """What the device has less of: whole segments, 2 MiB of small tensors and 20 MiB of middling ones to each.

    Source: as `allocated_bytes`. An engine that prints the fall in free memory prints this, and whatever else
    took memory meanwhile.
    """
    small = sum(t.copies * _up(t.size_bytes, _ROUND) for t in tensors if t.size_bytes <= _SMALL)
    middling = sum(t.copies * _up(t.size_bytes, _ROUND) for t in tensors if _SMALL < t.size_bytes < _OWN_SEGMENT)
    large = sum(t.copies * _up(t.size_bytes, _SEGMENT_ROUND) for t in tensors if t.size_bytes >= _OWN_SEGMENT)
    return _up(small, _SEGMENT_ROUND) + _up(middling, _SHARED_SEGMENT) + large


def loaded_weight_bytes(model: ModelSpec, tp_size: int = 1, stage: Stage | None = None, dtype: str = "bf16") -> int:
    """Bytes the allocator counts for one rank's weights: what "Model loading took" prints.

    Raises as `rank_tensors` does.
    """
    return sum(t.copies * allocated_bytes(t.size_bytes) for t in rank_tensors(model, tp_size, stage, dtype))


def attention_weight_bytes(model: ModelSpec, tp_size: int = 1, dtype: str = "bf16") -> int:
    """Bytes of one rank's attention over all layers: its share of what is cut, and what is copied on every rank.

    Raises IndivisibleError where heads do not divide over the ranks.
    """
    kind = weight_format(dtype, model)
    rank = _Rank(model, tp_size, kind, kind.other_bytes)
    tensors = rank.attention() if model.mla is None else rank.latent_attention(model.mla)
    return model.num_hidden_layers * sum(tensor.copies * tensor.size_bytes for tensor in tensors)


def rank_tensors(
    model: ModelSpec, tp_size: int = 1, stage: Stage | None = None, dtype: str = "bf16", rope_bytes: int = 0
) -> tuple[StoredTensor, ...]:
    """Every tensor of one rank of a stage (all layers, without one), with its size in bytes.

    `rope_bytes` is the width of the rotary table; that of the activations, at 0.
    Raises IndivisibleError where heads, widths or the padded vocabulary do not divide over the ranks,
    UnknownNameError for a format that is not in FORMATS.
    """
    stage = stage or Stage(0, model.num_hidden_layers, model.num_hidden_layers)
    kind = weight_format(dtype, model)
    rank = _Rank(model, tp_size, kind, rope_bytes or kind.other_bytes)
    attention = rank.attention() if model.mla is None else rank.latent_attention(model.mla)
    dense = stage.layers
    parts: list[StoredTensor] = [*_times(1, rank.ends(stage)), *_times(stage.layers, (*attention, *rank.norms()))]
    if model.moe is not None:
        dense = max(0, min(model.moe.first_k_dense_replace - stage.first_layer, stage.layers))
        parts += _times(stage.layers - dense, rank.mixture(model.moe))
    parts += _times(dense, rank.mlp("mlp", model.intermediate_size))
    own = kind.key.partition("-")[0] == model.weight_dtype
    return _with_left_alone(parts, model, stage, kind) if own and model.left_alone else tuple(parts)


def _with_left_alone(
    tensors: Sequence[StoredTensor], model: ModelSpec, stage: Stage, kind: WeightFormat
) -> tuple[StoredTensor, ...]:
    """The tensors of a checkpoint's own width, with those that it leaves alone as wide as the activations."""
    alone, split = dict(model.left_alone), []
    layers = range(stage.first_layer, stage.first_layer + stage.layers)
    for tensor in tensors:
        wide = min(tensor.copies, len(alone.get(tensor.name, frozenset()).intersection(layers)))
        width = kind.expert_bytes if tensor.name.startswith("experts ") else kind.linear_bytes
        size = round(tensor.size_bytes * kind.other_bytes / width)
        split += (
            [StoredTensor(tensor.name, tensor.copies - wide, tensor.size_bytes)] if tensor.copies > wide else []
        )
        split += [StoredTensor(tensor.name, wide, size)] if wide else []
    return tuple(split)


@dataclass(frozen=True)
class _Rank:
    """One tensor-parallel rank: what it makes of each part of a layer."""

    model: ModelSpec
    tp_size: int
    kind: WeightFormat
    rope_bytes: int

    def ends(self, stage: Stage) -> list[StoredTensor]:
        """Embedding, head, final norm, learned positions and the rotary table, where the stage has them."""
        model, width = self.model, self.model.hidden_size
        rows = require_divides("padded vocab_size", padded_vocab_size(model.vocab_size), "tp_size", self.tp_size)
        parts = [self._other("positions", model.learned_positions * width)] if stage.has_embedding else []
        if stage.has_embedding or (stage.has_head and model.tie_word_embeddings):
            parts.append(self._other("embedding", rows * width))
        if stage.has_head:
            parts.append(StoredTensor("final norm", self._vectors_a_norm, width * self.kind.other_bytes))
            parts += [] if model.tie_word_embeddings else [self._other("head", rows * width)]
            parts.append(self._other("head bias", rows * model.head_bias))
        if not model.learned_positions:
            rotary_width = model.mla.qk_rope_head_dim if model.mla else model.head_dim
            size = model.max_position_embeddings * rotary_width * self.rope_bytes
            parts.append(StoredTensor("rotary table", stage.layers if stage.own_tables else 1, size))
        return parts

    def norms(self) -> list[StoredTensor]:
        """The norms of a layer, whole on every rank; a LayerNorm has a bias too."""
        copies = self.model.norms_per_layer * self._vectors_a_norm
        return [StoredTensor("norm", copies, self.model.hidden_size * self.kind.other_bytes)]

    def attention(self) -> list[StoredTensor]:
        """Column-parallel q, k, v in one tensor, and row-parallel o. Its bias is whole on every rank."""
        model, width = self.model, self.model.hidden_size
        heads = require_divides("num_attention_heads", model.num_attention_heads, "tp_size", self.tp_size)
        rows = (heads + 2 * kv_heads_per_rank(model, self.tp_size)) * model.head_dim
        return [
            self._linear("qkv", rows * width),
            self._linear("o", heads * model.head_dim * width),
            self._other("qkv bias", rows * model.qkv_bias),
            self._other("o bias", width * model.o_bias),
            self._other("q norm", model.head_dim * model.qk_norm),
            self._other("k norm", model.head_dim * model.qk_norm),
            self._other("sinks", heads * model.attention_sinks),
        ]

    def latent_attention(self, mla: MlaSpec) -> list[StoredTensor]:
        """MLA: what leads down to the latent rows is whole on every rank, what leads up is split by heads.

        Decoding multiplies by the way up itself, so a quantised one is kept once more, in the activations' width.
        Source: vllm/v1/attention/backends/mla/common.py, process_weights_after_loading.
        """
        model, width = self.model, self.model.hidden_size
        heads = require_divides("num_attention_heads", model.num_attention_heads, "tp_size", self.tp_size)
        query = heads * (mla.qk_nope_head_dim + mla.qk_rope_head_dim)
        rank = mla.q_lora_rank
        queries = (
            [self._linear("q", query * width)]
            if rank is None
            else [
                self._linear("q down", rank * width),
                self._linear("q up", query * rank),
                self._other("q norm", rank),
            ]
        )
        kv_up = heads * (mla.qk_nope_head_dim + mla.v_head_dim) * mla.kv_lora_rank
        again = kv_up if self.kind.linear_bytes < self.kind.other_bytes else 0
        return [
            *queries,
            self._linear("kv down", (mla.kv_lora_rank + mla.qk_rope_head_dim) * width),
            self._other("kv norm", mla.kv_lora_rank),
            self._linear("kv up", kv_up),
            self._other("kv up, dequantised", again),
            self._linear("o", heads * mla.v_head_dim * width),
        ]

    def mlp(self, name: str, inner: int) -> list[StoredTensor]:
        """Column-parallel gate and up in one tensor (up alone, when plain), and row-parallel down."""
        columns = require_divides(f"{name} width", inner, "tp_size", self.tp_size) * self._matrices_in
        width, biased = self.model.hidden_size, self.model.mlp_bias
        return [
            self._linear(f"{name} in", columns * width),
            self._linear(f"{name} down", columns // self._matrices_in * width),
            self._other(f"{name} in bias", columns * biased),
            self._other(f"{name} down bias", width * biased),
        ]

    def mixture(self, moe: MoeSpec) -> list[StoredTensor]:
        """The router, whole on every rank, the experts as two stacked tensors, and the shared experts."""
        width, experts = self.model.hidden_size, moe.num_experts
        divided = require_divides("moe_intermediate_size", moe.moe_intermediate_size, "tp_size", self.tp_size)
        inner, outer = _up(divided, self.kind.inner_multiple), _up(width, self.kind.outer_multiple)
        shared = moe.n_shared_experts * moe.moe_intermediate_size + moe.shared_expert_intermediate_size
        biased = self.model.mlp_bias
        return [
            self._other("router", experts * width),
            self._other("router bias", experts * moe.router_bias),
            self._expert("experts in", experts * self._matrices_in * inner * outer),
            self._expert("experts down", experts * inner * outer),
            self._other("experts in bias", experts * self._matrices_in * inner * biased),
            self._other("experts down bias", experts * outer * biased),
            self._other("shared expert gate", width * moe.shared_expert_gate),
            *(self.mlp("shared expert", shared) if shared else []),
        ]

    @property
    def _vectors_a_norm(self) -> int:
        return 2 if self.model.norm == "layernorm" else 1

    @property
    def _matrices_in(self) -> int:
        return 2 if self.model.mlp == "gated" else 1

    def _linear(self, name: str, elements: int) -> StoredTensor:
        return StoredTensor(name, 1, ceil(elements * self.kind.linear_bytes))

    def _expert(self, name: str, elements: int) -> StoredTensor:
        return StoredTensor(name, 1, ceil(elements * self.kind.expert_bytes))

    def _other(self, name: str, elements: int) -> StoredTensor:
        return StoredTensor(name, 1, elements * self.kind.other_bytes)


def _times(layers: int, tensors: Sequence[StoredTensor]) -> list[StoredTensor]:
    """The tensors of one layer, over `layers` of them; those of no size are none."""
    return [StoredTensor(t.name, t.copies * layers, t.size_bytes) for t in tensors if t.size_bytes and layers]


def _up(value: int, step: int) -> int:
    return -(-value // step) * step
