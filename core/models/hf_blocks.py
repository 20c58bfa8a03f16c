"""The blocks that a config's fields describe: attention in its kinds, states, MLPs and mixtures."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Literal

from core.errors import OutOfRangeError, shortened
from core.models.hf_family import Family
from core.models.hf_values import MOST_POSITIONS, Values
from core.specs import (
    AttentionSpec,
    CompressedSpec,
    ConvSpec,
    DeltaSpec,
    LightningSpec,
    MambaSpec,
    Mixer,
    MlaSpec,
    MoeSpec,
    SelectiveSpec,
)
from core.text.numbers import whole


def mixer(values: Values, family: Family, name: str, index: int) -> Mixer:
    """What mixes the tokens of a layer."""
    if name in ("full", "window"):
        if values.get("compress_ratios") is not None or values.get("o_groups") is not None:
            return _compressed(values, index)
        latent = latent_attention(values, index)
        return latent or attention(values, family, name, index)
    return _BUILDERS[name](values)


def attention(values: Values, family: Family, name: str, at: int = 0) -> AttentionSpec:
    """Grouped-query attention with the names that a family gives to layers of this sort."""
    values = values.under(family.full_names if name == "full" else family.window_names)
    values = _of_layer(values, at)
    heads, hidden = values.whole("num_attention_heads"), values.whole("hidden_size")
    index = values.inside("sparse_attention_config")
    gate = family.gate if family.gate and values.flag(family.gate_switch, True) else ""
    sinks = family.sinks or values.flag(f"add_{'swa' if name == 'window' else 'full'}_attention_sink_bias", False)
    spec = AttentionSpec(
        heads,
        0 if reads_another(values, at) else values.whole("num_key_value_heads", heads),
        values.head_dim(hidden, heads),
        value_dim=values.count("v_head_dim"),
        window=window(values) if name == "window" else 0,
        qkv_bias=has_bias(values, family, "qkv"),
        o_bias=has_bias(values, family, "o"),
        qk_norm=family.qk_norm if not family.qk_norm_switch or values.flag(family.qk_norm_switch, False) else "",
        sinks=sinks,
        gate=gate,
        one_projection=name == "full" and values.flag("attention_k_eq_v", False),
        query_rank=values.count("share_q_dim"),
        reads=values.count("attention_hidden_size"),
    )
    chosen = index.get("sparse_attention_freq")
    if isinstance(chosen, list) and not (at < len(chosen) and chosen[at]):
        return spec
    return replace(
        spec, index_heads=index.count("sparse_num_index_heads"), index_dim=index.count("sparse_index_dim")
    )


def _of_layer(values: Values, index: int) -> Values:
    """The fields with the heads of one layer, where a file counts those of each."""
    heads = values.listed("num_attention_heads_per_layer", values.whole("num_hidden_layers"))
    return values if heads is None else Values(values.kind, {**values.fields, "num_attention_heads": heads[index]})


def reads_another(values: Values, index: int) -> bool:
    """Whether a layer looks at the keys and values of an earlier one: the last so many."""
    return index >= values.whole("num_hidden_layers") - values.count("num_kv_shared_layers")


def latent_attention(values: Values, index: int = 0) -> MlaSpec | None:
    """MLA, where the config has a latent rank; a layer that shares another's choice has no indexer."""
    if values.get("kv_lora_rank") is None:
        return None
    values.require("qk_rope_head_dim", "qk_nope_head_dim", "v_head_dim")
    types = values.get("indexer_types")
    chooses = not isinstance(types, list) or (index < len(types) and types[index] == "full")
    return MlaSpec(
        kv_lora_rank=values.whole("kv_lora_rank"),
        qk_rope_head_dim=values.whole("qk_rope_head_dim"),
        qk_nope_head_dim=values.whole("qk_nope_head_dim"),
        v_head_dim=values.whole("v_head_dim"),
        q_lora_rank=values.whole("q_lora_rank") if values.get("q_lora_rank") is not None else None,
        index_heads=values.count("index_n_heads") if chooses else 0,
        index_dim=values.count("index_head_dim") if chooses else 0,
        output_gate=values.flag("mla_use_output_gate", False),
        head_gate=values.flag("mla_head_gate", False),
    )


_RATIOS = {"sliding_attention": 0, "compressed_sparse_attention": 4, "heavily_compressed_attention": 128}


def _compressed(values: Values, index: int) -> CompressedSpec:
    """A layer's ratio: a number, a name as transformers 5 writes it, or its class's: 128 thrice, then 4 and 128.

    Source: transformers/models/deepseek_v4/configuration_deepseek_v4.py.
    """
    layers = values.whole("num_hidden_layers")
    numbers, names = values.listed("compress_ratios", layers), values.listed("layer_types", layers)
    if numbers is not None:
        ratio = numbers[index]
    elif names is not None:
        ratio = _RATIOS.get(str(names[index]), names[index])
    else:
        ratio = 4 if index % 2 and index != 1 else 128
    if ratio not in (0, 4, 128):
        raise OutOfRangeError("compress_ratios", shortened(ratio), "three", a=0, b=4, c=128)
    return CompressedSpec(
        values.whole("num_attention_heads"),
        values.whole("head_dim"),
        values.whole("q_lora_rank"),
        values.whole("o_groups"),
        values.whole("o_lora_rank"),
        values.whole("sliding_window", most=MOST_POSITIONS),
        whole(str(ratio)),
        values.count("index_n_heads") if ratio == 4 else 0,
        values.count("index_head_dim") if ratio == 4 else 0,
    )


def _delta(values: Values) -> DeltaSpec:
    """Gated DeltaNet under `linear_…`, or Kimi Delta Attention under `linear_attn_config`."""
    inside = values.inside("linear_attn_config")
    if "linear_num_heads" in values.fields:  # as transformers 5 writes it
        inside = values.under({"num_heads": "linear_num_heads", "head_dim": "linear_head_dim"})
    if inside.fields:
        heads, width = inside.whole("num_heads"), inside.whole("head_dim")
        gate = inside.flag("use_full_rank_gate", False)
        kernel, decay = inside.whole("short_conv_kernel_size", 4), inside.flag("full_rank_decay", False)
        return DeltaSpec(heads, heads, width, width, kernel, "channel", gate, decay)
    return DeltaSpec(
        values.whole("linear_num_key_heads"),
        values.whole("linear_num_value_heads"),
        values.whole("linear_key_head_dim"),
        values.whole("linear_value_head_dim"),
        values.whole("linear_conv_kernel_dim", 4),
        state_bytes=_state_bytes(values, "mamba_ssm_dtype", 2),
    )


def _lightning(values: Values) -> LightningSpec:
    heads = values.whole("num_attention_heads")
    groups = values.count("group_norm_size")
    if groups and heads % groups:
        raise OutOfRangeError("group_norm_size", groups, "divide_heads", heads=heads)
    return LightningSpec(
        heads,
        values.head_dim(values.whole("hidden_size"), heads),
        values.flag("use_qk_norm", False),
        groups,
        _state_bytes(values, "mamba_ssm_cache_dtype", 2),
    )


def _state_bytes(values: Values, name: str, default: int) -> int:
    """Four bytes where a file says float32, else two; the default where it says nothing."""
    written = values.get(name)
    return default if written is None else 4 if str(written) == "float32" else 2


def _mamba(values: Values) -> MambaSpec:
    heads = values.whole("mamba_num_heads")
    wide = values.count("mamba_d_ssm") or values.whole("mamba_expand", 2) * values.whole("hidden_size")
    return MambaSpec(
        heads,
        wide // heads if values.get("mamba_head_dim") == "auto" else values.whole("mamba_head_dim"),
        values.whole("mamba_n_groups"),
        values.whole("ssm_state_size"),
        values.whole("conv_kernel", 4),
        values.flag("use_conv_bias", True),
        values.flag("mamba_proj_bias", False),
        values.flag("mamba_rms_norm", True),
        _state_bytes(values, "mamba_ssm_cache_dtype", 2),
    )


def _selective(values: Values) -> SelectiveSpec:
    channels = values.count("mamba_d_ssm") or values.whole("mamba_expand", 2) * values.whole("hidden_size")
    usual = -(-values.whole("hidden_size") // 16)
    rank = usual if values.get("mamba_dt_rank") == "auto" else values.whole("mamba_dt_rank", usual)
    return SelectiveSpec(
        channels,
        values.whole("ssm_state_size", 16),
        rank,
        values.whole("conv_kernel", 4),
        values.flag("use_conv_bias", True),
        values.flag("mamba_proj_bias", False),
        values.flag("mamba_step_norms", True),
        state_bytes=_state_bytes(values, "mamba_ssm_cache_dtype", 2),
    )


def _conv(values: Values) -> ConvSpec:
    return ConvSpec(values.whole("conv_L_cache", 3), values.flag("conv_bias", False))


_BUILDERS: Mapping[str, Callable[[Values], Mixer]] = {
    "linear": _delta,
    "lightning": _lightning,
    "mamba": _mamba,
    "selective": _selective,
    "conv": _conv,
}


def window(values: Values) -> int:
    """Tokens that a layer with a window sees; 0 where the config has none."""
    for name in ("sliding_window", "attention_chunk_size"):
        if values.get(name) not in (None, 0) and values.flag("use_sliding_window", True):
            return values.whole(name, most=MOST_POSITIONS)
    return 0


def inner_width(values: Values, family: Family) -> int:
    """The width of a dense MLP: as written, as the class has it, or where there is none, the experts' own."""
    if family.renamed.get("intermediate_size") == "moe_intermediate_size" and not values.count("num_experts"):
        return values.whole("shared_expert_intermediate_size")
    if family.renamed.get("n_inner"):
        return values.whole("intermediate_size", 4 * values.whole("hidden_size"))
    if values.flag("block_auto_adjust_ff_dim", False):  # LFM2's
        wide = int(
            float(str(values.get("block_ffn_dim_multiplier") or 1)) * (2 * values.whole("intermediate_size") // 3)
        )
        return -(-wide // values.whole("block_multiple_of", 256)) * values.whole("block_multiple_of", 256)
    if "intermediate_size" in values.fields:
        return values.whole("intermediate_size")
    if "block_configs" in values.fields:
        return values.whole("hidden_size")
    return values.whole("moe_intermediate_size" if values.count("num_experts") else "intermediate_size")


def has_bias(values: Values, family: Family, part: Literal["qkv", "o", "mlp"]) -> bool:
    """Whether a part's matrices carry biases."""
    if family.biases == "as_configured":
        return values.flag("mlp_bias" if part == "mlp" else "attention_bias", False)
    if family.biases == "all" or (family.biases == "qkv" and part == "qkv"):
        return not family.bias_switch or values.flag(family.bias_switch, True)
    return False


def mixture(values: Values, family: Family) -> MoeSpec:
    """The experts of a config. Raises OutOfRangeError where it does not say how many there are, or how wide."""
    values.require("moe_intermediate_size")
    experts, shared = values.whole("num_experts"), values.count("shared_expert_intermediate_size")
    first = values.count("first_k_dense_replace")
    return MoeSpec(
        num_experts=experts,
        num_experts_per_tok=values.whole("num_experts_per_tok", most=experts),
        moe_intermediate_size=values.whole("moe_intermediate_size"),
        n_shared_experts=0 if shared else values.count("n_shared_experts"),
        shared_expert_intermediate_size=shared,
        first_k_dense_replace=min(first, values.whole("num_hidden_layers")),
        shared_expert_gate=family.shared_gate and bool(shared),
        router_bias=family.router_bias or values.get("topk_method") == "noaux_tc" or _biased_router(values),
        latent_size=values.count("latent_size"),
        latent_norm=values.flag("latent_norm", False),
        router_scales=values.flag("router_scales", False),
        idle_experts=values.count("zero_expert_num"),
    )


def _biased_router(values: Values) -> bool:
    names = ("use_routing_bias", "use_moe_router_bias", "moe_router_enable_expert_bias", "use_expert_bias")
    return any(values.flag(name, False) for name in names)
