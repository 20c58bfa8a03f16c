"""What a row of the tables of models says, and what its family says for all of its rows."""

from dataclasses import replace
from functools import partial
from typing import Any

from core.specs import LayerSpec, MlaSpec, MlpSpec, ModelSpec

CONFIG_LITGPT = (
    "config.json kept in ai-dynamo/aiconfigurator model_configs; Lightning-AI/litgpt litgpt/config.py agrees"
)
THREE_AGREE = (
    "Lightning-AI/litgpt litgpt/config.py, meta-pytorch/gpt-fast model.py, microsoft/vidur model_config.py agree"
)
MLA = MlaSpec(kv_lora_rank=512, qk_rope_head_dim=64, qk_nope_head_dim=128, v_head_dim=128, q_lora_rank=1536)
MLA_LITE = MlaSpec(kv_lora_rank=512, qk_rope_head_dim=64, qk_nope_head_dim=128, v_head_dim=128)


def row(
    key: str,
    name: str,
    layers: int,
    hidden: int,
    heads: int,
    kv_heads: int,
    inner: int,
    vocabulary: int,
    positions: int,
    repositories: str,
    source: str,
    *,
    head_dim: int | None = None,
    window: int = 0,
    cycle: str = "",
    **fields: Any,
) -> ModelSpec:
    """A model. `repositories` are its names on the Hub, apart by spaces; `fields` are ModelSpec's other fields.

    A head is a share of the hidden size, of latent attention both parts of a key, unless its width is given. Layers
    go round a `cycle`, where `a` stands for one that sees a `window`, `b` for one that sees everything.
    """
    latent = fields.get("mla")
    usual = latent.qk_nope_head_dim + latent.qk_rope_head_dim if latent else hidden // heads
    spec = ModelSpec(
        key=key,
        name=name,
        hidden_size=hidden,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=kv_heads,
        head_dim=head_dim or usual,
        intermediate_size=inner,
        vocab_size=vocabulary,
        max_position_embeddings=positions,
        aliases=tuple(repositories.split()),
        source=source,
        **fields,
    )
    if not window:
        return spec
    sees = replace(spec.attention, window=window), spec.attention
    kinds = (LayerSpec((one, spec.moe or MlpSpec(inner)), spec.norms_per_layer) for one in sees)
    return layered(spec, cycle, *kinds)


def layered(spec: ModelSpec, cycle: str, *kinds: LayerSpec) -> ModelSpec:
    """A model of these kinds of layer, in the order of a cycle."""
    layers = spec.num_hidden_layers
    return replace(spec, kinds=kinds, pattern=(cycle * layers)[:layers])


_biased = partial(row, qkv_bias=True, o_bias=True, mlp_bias=True)
llama = row
qwen2 = partial(row, qkv_bias=True)
qwen3 = partial(row, qk_norm=True)
gemma = partial(row, norms_per_layer=4, tie_word_embeddings=True)
opt = partial(_biased, mlp="plain", norm="layernorm", learned_positions=2050, tie_word_embeddings=True)
gpt_oss = partial(_biased, attention_sinks=True, weight_dtype="mxfp4", head_dim=64)
latent = row
