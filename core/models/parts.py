"""What each kind of block is made of: its matrices and vectors, and how tensor-parallel ranks share each.

One table for everything that counts weights: the parameters of a model are these parts whole, a rank's tensors are
these parts as it holds them. The tensors are those vLLM makes: q, k and v in one, gate and up in one, all experts
of a layer in one. Letters: d hidden_size, h and k heads, hd head_dim, r a latent rank, f an inner width.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from core.errors import OutOfRangeError, require_divides
from core.layer_specs import (
    AttentionSpec,
    Block,
    CompressedSpec,
    ConvSpec,
    DeltaSpec,
    LayerSpec,
    MambaSpec,
    MlaSpec,
    MlpSpec,
    MoeSpec,
)
from core.specs import ModelSpec

Share = Literal["whole", "cut", "copied"]
Group = Literal["attention", "mlp", "router", "shared", "experts", "norm"]
Width = Literal["linear", "expert", "other"]


@dataclass(frozen=True)
class Cut:
    """`units` of a dimension, `each` wide: whole on every rank, cut, or copied where ranks outnumber them."""

    units: int
    each: int = 1
    share: Share = "cut"
    what: str = "num_attention_heads"

    def on(self, tp_size: int) -> int:
        """How much of it one of `tp_size` ranks holds.

        Raises IndivisibleError where ranks and units do not divide as they must.
        """
        if self.share == "whole" or tp_size == 1:
            return self.units * self.each
        if self.share == "copied" and tp_size > self.units:
            require_divides("tp_size", tp_size, self.what, self.units)
            return self.each
        return require_divides(self.what, self.units, "tp_size", tp_size) * self.each


@dataclass(frozen=True)
class Part:
    """One tensor of a layer: the dimension that ranks share, times the other, times how many are stacked in it.

    `derived` is made while loading and is in no checkpoint.
    """

    name: str
    group: Group
    cuts: tuple[Cut, ...]
    by: int = 1
    times: int = 1
    width: Width = "linear"
    derived: bool = False

    def elements(self, tp_size: int = 1) -> int:
        """Its elements on one rank. Raises as `Cut.on`."""
        return self.times * self.by * sum(cut.on(tp_size) for cut in self.cuts)


def _whole(units: int) -> tuple[Cut, ...]:
    return (Cut(units, share="whole"),)


@lru_cache(maxsize=4096)
def layer_parts(model: ModelSpec, layer: LayerSpec) -> tuple[Part, ...]:
    """Every part of one layer of a kind; those of no size are left out."""
    parts = [part for block in layer.blocks for part in block_parts(model, block)]
    norms = [Part("norm", "norm", _whole(model.hidden_size), width="other")] * layer.norms * _vectors(model)
    extra = Part("extra", "norm", _whole(layer.extra), width="other")
    return tuple(part for part in (*parts, *norms, extra) if part.times * part.by * sum(c.units for c in part.cuts))


def block_parts(model: ModelSpec, block: Block) -> Sequence[Part]:
    """The parts of one block.

    Raises OutOfRangeError for a block of no kind that is known.
    """
    match block:
        case AttentionSpec():
            return _attention(model.hidden_size, block)
        case MlaSpec():
            return _latent(model, block)
        case CompressedSpec():
            return _compressed(model.hidden_size, block)
        case DeltaSpec():
            return _delta(model.hidden_size, block)
        case MambaSpec():
            return _mamba(model.hidden_size, block)
        case ConvSpec():
            return _short_conv(model.hidden_size, block)
        case MlpSpec():
            return _mlp(model, "mlp", "mlp", block.width)
        case MoeSpec():
            return _mixture(model, block)
    raise OutOfRangeError("block", str(block), "is of no known kind")


def _attention(d: int, spec: AttentionSpec) -> list[Part]:
    """Column-parallel q, k, v in one tensor, and row-parallel o. Its bias is whole on every rank."""
    h, hd, vd = spec.heads, spec.head_dim, spec.out_dim
    gate = {"": 0, "row": hd, "head": 1}[spec.gate]
    queries = Cut(h, hd + (gate if spec.gate == "row" else 0))
    keys = Cut(spec.kv_heads, hd + (0 if spec.one_projection else vd), "copied", "num_key_value_heads")
    norms = {"": (0, 0), "head": (1, 1), "row": (h, spec.kv_heads)}[spec.qk_norm]
    share: Share = "cut" if spec.qk_norm == "row" else "whole"
    return [
        Part("qkv", "attention", (queries, keys), d),
        Part("o", "attention", (Cut(h, vd),), d),
        Part("qkv bias", "attention", (queries, keys), width="other") if spec.qkv_bias else _NONE,
        Part("o bias", "attention", _whole(d), width="other") if spec.o_bias else _NONE,
        Part("q norm", "attention", (Cut(norms[0], hd, share),), width="other"),
        Part(
            "k norm",
            "attention",
            (Cut(norms[1], hd, "copied" if share == "cut" else "whole", "num_key_value_heads"),),
            width="other",
        ),
        Part("sinks", "attention", (Cut(h),), width="other") if spec.sinks else _NONE,
        Part("output gate", "attention", (Cut(h),), d) if spec.gate == "head" else _NONE,
        Part("index", "attention", _whole(spec.index_heads + 1), d * spec.index_dim) if spec.index_dim else _NONE,
        Part("index norms", "attention", _whole(2 * spec.index_dim), width="other"),
    ]


_NONE = Part("", "attention", ())


def _latent(model: ModelSpec, mla: MlaSpec) -> list[Part]:
    """MLA: what leads down to the latent rows is whole on every rank, what leads up is split by heads.

    Decoding multiplies by the way up itself, so a quantised one is kept once more, in the activations' width. An
    indexer is whole on every rank.
    Source: vllm/v1/attention/backends/mla/common.py, process_weights_after_loading; models/deepseek_v2.py, Indexer.
    """
    d, h, r = model.hidden_size, model.num_attention_heads, mla.q_lora_rank
    query = (Cut(h, mla.qk_nope_head_dim + mla.qk_rope_head_dim),)
    up = (Cut(h, mla.qk_nope_head_dim + mla.v_head_dim),)
    queries = (
        [Part("q", "attention", query, d)]
        if r is None
        else [
            Part("q down", "attention", _whole(r), d),
            Part("q up", "attention", query, r),
            Part("q norm", "attention", _whole(r), width="other"),
        ]
    )
    return [
        *queries,
        Part("kv down", "attention", _whole(mla.kv_lora_rank + mla.qk_rope_head_dim), d),
        Part("kv norm", "attention", _whole(mla.kv_lora_rank), width="other"),
        Part("kv up", "attention", up, mla.kv_lora_rank),
        Part("kv up, dequantised", "attention", up, mla.kv_lora_rank, width="other", derived=True),
        Part("o", "attention", (Cut(h, mla.v_head_dim),), d),
        Part("output gate", "attention", (Cut(h, mla.v_head_dim),), d) if mla.output_gate else _NONE,
        *_indexer(d, r or d, mla.index_heads, mla.index_dim),
    ]


def _indexer(d: int, reads: int, heads: int, dim: int) -> list[Part]:
    """An indexer's queries from the latent query, its one key, a LayerNorm of it, and a weight a head."""
    if not heads:
        return []
    return [
        Part("index q", "attention", _whole(heads * dim), reads),
        Part("index k", "attention", _whole(dim), d),
        Part("index norm", "attention", _whole(2 * dim), width="other"),
        Part("index weights", "attention", _whole(heads), d, width="other"),
    ]


def _compressed(d: int, spec: CompressedSpec) -> list[Part]:
    """DeepSeek-V4: q down and up, one key, outputs down by groups and up again, what compresses, and an indexer.

    Source: transformers/models/deepseek_v4/modeling_deepseek_v4.py.
    """
    h, hd, r, groups = spec.heads, spec.head_dim, spec.q_lora_rank, spec.o_groups
    rows = (1 + (spec.ratio == 4)) * hd
    compressor = [
        Part("compressor", "attention", _whole(2 * rows), d),
        Part("compressor vectors", "attention", _whole(spec.ratio * rows + hd), width="other"),
    ]
    index = 2 * spec.index_dim
    indexer = [
        Part("index compressor", "attention", _whole(2 * index), d),
        Part("index vectors", "attention", _whole(spec.ratio * index + spec.index_dim), width="other"),
        Part("index q", "attention", _whole(spec.index_heads * spec.index_dim), r),
        Part("index weights", "attention", _whole(spec.index_heads), d, width="other"),
    ]
    return [
        Part("q down", "attention", _whole(r), d),
        Part("q norm", "attention", _whole(r), width="other"),
        Part("q up", "attention", (Cut(h, hd),), r),
        Part("kv down", "attention", _whole(hd), d),
        Part("kv norm", "attention", _whole(hd), width="other"),
        Part("o down", "attention", (Cut(groups, spec.o_lora_rank, "cut", "o_groups"),), h * hd // groups),
        Part("o", "attention", (Cut(groups, spec.o_lora_rank, "cut", "o_groups"),), d),
        Part("sinks", "attention", (Cut(h),), width="other"),
        *(compressor if spec.ratio else ()),
        *(indexer if spec.index_heads else ()),
    ]


def _delta(d: int, spec: DeltaSpec) -> list[Part]:
    """A gated delta rule: q, k, v (and z) in, a convolution over them, gates, and row-parallel out.

    Source: vllm/model_executor/models/qwen3_next.py and layers/kda.py.
    """
    keys = Cut(spec.key_heads, 2 * spec.key_dim, what="linear_num_key_heads")
    values = Cut(spec.value_heads, spec.value_dim, what="linear_num_value_heads")
    heads, a_head = Cut(spec.value_heads, what="linear_num_value_heads"), spec.decay == "head"
    z = (values,) if spec.full_gate else ()
    low, wide = _whole(spec.value_dim), (Cut(spec.value_heads, spec.value_dim, what="linear_num_value_heads"),)
    gates = [
        Part("linear gate down", "attention", low, d),
        Part("linear gate up", "attention", wide, spec.value_dim),
    ]
    decays = [Part("linear decay", "attention", (heads, heads), d)] if a_head else [
        Part("linear decay", "attention", (heads,), d), *gates,
    ]  # fmt: skip
    return [
        Part("linear in", "attention", (keys, values, *z), d),
        *decays,
        *([] if spec.full_gate else gates),
        Part("linear conv", "attention", (keys, values), spec.conv_kernel, width="other"),
        Part("linear vectors", "attention", (heads, heads) if a_head else (heads, values), width="other"),
        Part("linear norm", "attention", _whole(spec.value_dim), width="other"),
        Part("linear out", "attention", (values,), d),
    ]


def _mamba(d: int, spec: MambaSpec) -> list[Part]:
    """A Mamba 2 mixer; a single group of B and C is copied, more are cut.

    Source: vllm/model_executor/layers/mamba/mamba_mixer2.py.
    """
    inner, heads = Cut(spec.heads, spec.head_dim, what="mamba heads"), Cut(spec.heads, what="mamba heads")
    share: Share = "copied" if spec.groups == 1 else "cut"
    states = Cut(spec.groups, 2 * spec.state_size, share, "mamba groups")
    return [
        Part("mamba in", "attention", (inner, inner, states, heads), d),
        Part("mamba in bias", "attention", (inner, inner, states, heads), width="other")
        if spec.projection_bias
        else _NONE,
        Part("mamba conv", "attention", (inner, states), spec.conv_kernel + spec.conv_bias, width="other"),
        Part("mamba vectors", "attention", (heads, heads, heads), width="other"),
        Part("mamba norm", "attention", (inner,), width="other") if spec.gated_norm else _NONE,
        Part("mamba out", "attention", (inner,), d),
        Part("mamba out bias", "attention", _whole(d), width="other") if spec.projection_bias else _NONE,
    ]


def _short_conv(d: int, spec: ConvSpec) -> list[Part]:
    channels = Cut(d, what="hidden_size")
    return [
        Part("conv in", "attention", (channels,) * 3, d),
        Part("conv", "attention", (channels,), spec.kernel, width="other"),
        Part("conv bias", "attention", (channels,) * 4 + _whole(d), width="other") if spec.bias else _NONE,
        Part("conv out", "attention", (channels,), d),
    ]


def _mlp(model: ModelSpec, name: str, group: Group, width: int) -> list[Part]:
    """Column-parallel gate and up in one tensor (up alone, when plain), and row-parallel down."""
    inner, n = (Cut(width, what=f"{name} width"),), _matrices(model)
    biases = [
        Part(f"{name} in bias", group, inner, times=n, width="other"),
        Part(f"{name} down bias", group, _whole(model.hidden_size), width="other"),
    ]
    return [
        Part(f"{name} in", group, inner, model.hidden_size, n),
        Part(f"{name} down", group, inner, model.hidden_size),
        *(biases if model.mlp_bias else ()),
    ]


def _mixture(model: ModelSpec, moe: MoeSpec) -> list[Part]:
    """The router, whole on every rank, the experts as two stacked tensors, and the shared experts."""
    d, experts, n = model.hidden_size, moe.num_experts, _matrices(model)
    reads, inner = moe.latent_size or d, (Cut(moe.moe_intermediate_size, what="moe_intermediate_size"),)
    latent = [
        Part("latent in", "router", _whole(moe.latent_size), d),
        Part("latent out", "router", _whole(moe.latent_size), d),
        Part("latent norm", "router", _whole(moe.latent_size * moe.latent_norm), width="other"),
    ]
    biases = [
        Part("experts in bias", "experts", inner, times=experts * n, width="other"),
        Part("experts down bias", "experts", _whole(1), reads, experts, width="other"),
    ]
    return [
        Part("router", "router", _whole(experts), d, width="other"),
        Part("router bias", "router", _whole(experts * moe.router_bias), width="other"),
        Part("router scales", "router", _whole((d + experts) * moe.router_scales), width="other"),
        *(latent if moe.latent_size else ()),
        Part("experts in", "experts", inner, reads, experts * n, "expert"),
        Part("experts down", "experts", inner, reads, experts, "expert"),
        *(biases if model.mlp_bias else ()),
        Part("shared expert gate", "router", _whole(d * moe.shared_expert_gate), width="other"),
        *(_mlp(model, "shared expert", "shared", moe.shared_width) if moe.shared_width else ()),
    ]


def _matrices(model: ModelSpec) -> int:
    return 2 if model.mlp == "gated" else 1


def _vectors(model: ModelSpec) -> int:
    """Vectors that a norm has: a LayerNorm has a bias too."""
    return 2 if model.norm == "layernorm" else 1
