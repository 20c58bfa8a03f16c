"""What each kind of attention is made of, and of what stands in its place: gated deltas, Mamba, convolutions.

Letters: d hidden_size, h and k heads, hd head_dim, r a latent rank.
"""

from core.models.cuts import Cut, Part, Share, whole
from core.specs import (
    AttentionSpec,
    CompressedSpec,
    ConvSpec,
    DeltaSpec,
    LightningSpec,
    MambaSpec,
    MlaSpec,
    ModelSpec,
    SelectiveSpec,
)


def attention_parts(d: int, spec: AttentionSpec) -> list[Part]:
    """Column-parallel q, k, v in one tensor, and row-parallel o. Its bias is whole on every rank."""
    if spec.borrows:
        return []
    h, hd, vd = spec.heads, spec.head_dim, spec.out_dim
    gate = {"": 0, "row": hd, "head": 1}[spec.gate]
    queries = Cut(h, hd + (gate if spec.gate == "row" else 0))
    keys = Cut(spec.kv_heads, hd + (0 if spec.one_projection else vd), "copied", "num_key_value_heads")
    norms = {"": (0, 0), "head": (1, min(1, spec.kv_heads)), "row": (h, spec.kv_heads)}[spec.qk_norm]
    row_norm = spec.qk_norm == "row"
    share: Share = "cut" if row_norm else "whole"
    inward = (
        [
            Part("q down and kv", "attention", whole(spec.query_rank + spec.kv_heads * (hd + vd)), d),
            _vector("q norm", whole(spec.query_rank)),
            Part("q up", "attention", (queries,), spec.query_rank),
        ]
        if spec.query_rank
        else [Part("qkv", "attention", (queries, keys), spec.reads or d)]
    )
    return [
        *inward,
        Part("o", "attention", (Cut(h, vd),), d),
        _vector("qkv bias", (queries, keys), spec.qkv_bias),
        _vector("o bias", whole(d), spec.o_bias),
        _vector("q norm", (Cut(norms[0], hd, share),)),
        _vector("k norm", (Cut(norms[1], hd, "copied" if row_norm else "whole", "num_key_value_heads"),)),
        _vector("sinks", (Cut(h),), spec.sinks),
        Part("output gate", "attention", (Cut(h),), d, times=spec.gate == "head"),
        Part("index", "attention", whole(spec.index_heads + 1), d * spec.index_dim),
        _vector("index norms", whole(2 * spec.index_dim)),
    ]


def _vector(name: str, cuts: tuple[Cut, ...], times: int = 1) -> Part:
    """What attention has beside its matrices: kept as the activations are."""
    return Part(name, "attention", cuts, times=times, width="other")


def latent_parts(model: ModelSpec, mla: MlaSpec) -> list[Part]:
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
            Part("q down", "attention", whole(r), d),
            Part("q up", "attention", query, r),
            _vector("q norm", whole(r)),
        ]
    )
    return [
        *queries,
        Part("kv down", "attention", whole(mla.kv_lora_rank + mla.qk_rope_head_dim), d),
        _vector("kv norm", whole(mla.kv_lora_rank)),
        Part("kv up", "attention", up, mla.kv_lora_rank),
        Part("kv up, dequantised", "attention", up, mla.kv_lora_rank, width="other", derived=True),
        Part("o", "attention", (Cut(h, mla.v_head_dim),), d),
        Part("output gate", "attention", (Cut(h, mla.v_head_dim),), d, times=mla.output_gate),
        Part("output gate", "attention", (Cut(h),), d, times=mla.head_gate),
        *_indexer(d, r or d, mla),
    ]


def _indexer(d: int, reads: int, mla: MlaSpec) -> list[Part]:
    """An indexer's queries from the latent query, its one key, a LayerNorm of it, and a weight a head.

    Where a key is made of several tokens, what weighs them and a vector for each besides.
    """
    heads, dim, pool = mla.index_heads, mla.index_dim, mla.index_pool
    if not heads:
        return []
    return [
        Part("index compressor", "attention", whole(dim), d, times=pool > 1),
        _vector("index vectors", whole(pool * dim), pool > 1),
        Part("index q", "attention", whole(heads * dim), reads),
        Part("index k", "attention", whole(dim), d),
        _vector("index norm", whole(2 * dim)),
        Part("index weights", "attention", whole(heads), d, width="other"),
    ]


def compressed_parts(d: int, spec: CompressedSpec) -> list[Part]:
    """DeepSeek-V4: q down and up, one key, outputs down by groups and up again, what compresses, and an indexer.

    Source: transformers/models/deepseek_v4/modeling_deepseek_v4.py.
    """
    h, hd, r, groups = spec.heads, spec.head_dim, spec.q_lora_rank, spec.o_groups
    rows = (1 + (spec.ratio == 4)) * hd
    compressor = [
        Part("compressor", "attention", whole(2 * rows), d),
        _vector("compressor vectors", whole(spec.ratio * rows + hd)),
    ]
    index = 2 * spec.index_dim
    indexer = [
        Part("index compressor", "attention", whole(2 * index), d),
        _vector("index vectors", whole(spec.ratio * index + spec.index_dim)),
        Part("index q", "attention", whole(spec.index_heads * spec.index_dim), r),
        Part("index weights", "attention", whole(spec.index_heads), d, width="other"),
    ]
    return [
        Part("q down", "attention", whole(r), d),
        _vector("q norm", whole(r)),
        Part("q up", "attention", (Cut(h, hd),), r),
        Part("kv down", "attention", whole(hd), d),
        _vector("kv norm", whole(hd)),
        Part("o down", "attention", (Cut(groups, spec.o_lora_rank, "cut", "o_groups"),), h * hd // groups),
        Part("o", "attention", (Cut(groups, spec.o_lora_rank, "cut", "o_groups"),), d),
        _vector("sinks", (Cut(h),)),
        *(compressor if spec.ratio else ()),
        *(indexer if spec.index_heads else ()),
    ]


def delta_parts(d: int, spec: DeltaSpec) -> list[Part]:
    """A gated delta rule: q, k, v (and z) in, a convolution over them, gates, and row-parallel out.

    Source: vllm/model_executor/models/qwen3_next.py and layers/kda.py.
    """
    keys = Cut(spec.key_heads, 2 * spec.key_dim, what="linear_num_key_heads")
    values = Cut(spec.value_heads, spec.value_dim, what="linear_num_value_heads")
    heads, a_head = Cut(spec.value_heads, what="linear_num_value_heads"), spec.decay == "head"
    z = (values,) if spec.full_gate else ()
    low, wide = whole(spec.value_dim), (Cut(spec.value_heads, spec.value_dim, what="linear_num_value_heads"),)
    gates = [
        Part("linear gate down", "attention", low, d),
        Part("linear gate up", "attention", wide, spec.value_dim),
    ]
    channels = [Part("linear decay up", "attention", wide, d)] if spec.full_decay else gates
    decays = [Part("linear decay", "attention", (heads, heads), d)] if a_head else [
        Part("linear decay", "attention", (heads,), d), *channels,
    ]  # fmt: skip
    return [
        Part("linear in", "attention", (keys, values, *z), d),
        *decays,
        *([] if spec.full_gate else gates),
        Part("linear conv", "attention", (keys, values), spec.conv_kernel, width="other"),
        _vector("linear vectors", (heads, heads) if a_head else (heads, values)),
        _vector("linear norm", whole(spec.value_dim)),
        Part("linear out", "attention", (values,), d),
    ]


def lightning_parts(d: int, spec: LightningSpec) -> list[Part]:
    """q, k, v and a gate in, a norm of the row, and row-parallel out.

    Source: transformers/models/minimax/modeling_minimax.py; vLLM's layers/mamba/linear/bailing_linear_attn.py.
    """
    heads, groups = Cut(spec.heads, spec.head_dim), spec.norm_groups or spec.heads
    normed = Cut(groups, spec.heads * spec.head_dim // groups, what="group_norm_size")
    return [
        Part("linear in", "attention", (heads,) * 3, d),
        Part("output gate", "attention", (heads,), d),
        _vector("linear vectors", (normed,)),
        _vector("q norm", whole(2 * spec.head_dim * spec.qk_norm)),
        Part("linear out", "attention", (heads,), d),
    ]


def mamba_parts(d: int, spec: MambaSpec) -> list[Part]:
    """A Mamba 2 mixer; a single group of B and C is copied, more are cut.

    Source: vllm/model_executor/layers/mamba/mamba_mixer2.py.
    """
    inner, heads = Cut(spec.heads, spec.head_dim, what="mamba heads"), Cut(spec.heads, what="mamba heads")
    share: Share = "copied" if spec.groups == 1 else "cut"
    states = Cut(spec.groups, 2 * spec.state_size, share, "mamba groups")
    return [
        Part("mamba in", "attention", (inner, inner, states, heads), d),
        _vector("mamba in bias", (inner, inner, states, heads), spec.projection_bias),
        Part("mamba conv", "attention", (inner, states), spec.conv_kernel + spec.conv_bias, width="other"),
        _vector("mamba vectors", (heads, heads, heads)),
        _vector("mamba norm", (inner,), spec.gated_norm),
        Part("mamba out", "attention", (inner,), d),
        _vector("mamba out bias", whole(d), spec.projection_bias),
    ]


def selective_parts(d: int, spec: SelectiveSpec) -> list[Part]:
    """A Mamba 1 mixer by its channels; what its steps come from is summed over the ranks.

    Source: vllm/model_executor/layers/mamba/mamba_mixer.py.
    """
    inner, low = (Cut(spec.channels, what="mamba channels"),), spec.step_rank + 2 * spec.state_size
    return [
        Part("mamba in", "attention", inner * 2, d),
        _vector("mamba in bias", inner * 2, spec.projection_bias),
        Part("mamba conv", "attention", inner, spec.conv_kernel + spec.conv_bias, width="other"),
        Part("mamba steps down", "attention", inner, low),
        Part("mamba steps up", "attention", inner, spec.step_rank),
        Part("mamba vectors", "attention", inner, spec.state_size + 2, width="other"),
        _vector("mamba norm", whole(low), spec.norms),
        Part("mamba out", "attention", inner, d),
        _vector("mamba out bias", whole(d), spec.projection_bias),
    ]


def short_conv_parts(d: int, spec: ConvSpec) -> list[Part]:
    """A short convolution between two gates: its channels are cut."""
    channels = Cut(d, what="hidden_size")
    return [
        Part("conv in", "attention", (channels,) * 3, d),
        Part("conv", "attention", (channels,), spec.kernel, width="other"),
        _vector("conv bias", (channels,) * 4 + whole(d), spec.bias),
        Part("conv out", "attention", (channels,), d),
    ]
