"""Architectures by `model_type`: what their code fixes and their config.json does not say."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

Biases = Literal["none", "qkv", "all", "as_configured"]


@dataclass(frozen=True)
class Family:
    """What an architecture's code fixes and its config does not say.

    `biases`: on nothing; on q, k and v; on everything, unless the field `bias_switch` is false; or where
    `attention_bias` and `mlp_bias` put them. `extra_positions` are learned beside the
    `max_position_embeddings`; None where positions are not learned. `defaults` are the class's own values of
    fields that a file may leave out, `renamed` maps a file's name of a field to the usual one.
    """

    biases: Biases = "none"
    bias_switch: str = ""
    tied: bool = False
    mlp: Literal["gated", "plain"] = "gated"
    norm: Literal["rmsnorm", "layernorm"] = "rmsnorm"
    norms_per_layer: int = 2
    qk_norm: bool = False
    head_bias: bool = False
    sinks: bool = False
    extra_positions: int | None = None
    defaults: Mapping[str, int] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)


_QWEN2 = Family(biases="qkv")
_QWEN3 = Family(biases="as_configured", qk_norm=True, defaults={"head_dim": 128})
_GEMMA = Family(biases="as_configured", tied=True, defaults={"head_dim": 256})
_DEEPSEEK = Family(biases="as_configured")
_GEMMA3 = Family(
    biases="as_configured",
    tied=True,
    norms_per_layer=4,
    qk_norm=True,
    defaults={
        "head_dim": 256,
        "num_attention_heads": 8,
        "num_key_value_heads": 4,
        "vocab_size": 262208,
        "max_position_embeddings": 131072,
    },
)
GPT2_NAMES = {
    "n_embd": "hidden_size",
    "n_layer": "num_hidden_layers",
    "n_head": "num_attention_heads",
    "n_inner": "intermediate_size",
    "n_positions": "max_position_embeddings",
}

FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        "llama": Family(biases="as_configured"),
        "mistral": Family(),
        "ministral": Family(),
        "mixtral": Family(),
        "qwen2": _QWEN2,
        "qwen2_vl": _QWEN2,
        "qwen2_5_vl": _QWEN2,
        "qwen2_5_vl_text": _QWEN2,
        "qwen2_moe": _QWEN2,
        "qwen3": _QWEN3,
        "qwen3_moe": _QWEN3,
        "qwen3_vl_text": _QWEN3,
        "qwen3_vl_moe_text": _QWEN3,
        "gemma": _GEMMA,
        "gemma2": Family(biases="as_configured", tied=True, norms_per_layer=4, defaults={"head_dim": 256}),
        "gemma3_text": _GEMMA3,
        "deepseek": _DEEPSEEK,
        "deepseek_v2": _DEEPSEEK,
        "deepseek_v3": _DEEPSEEK,
        "kimi_k2": _DEEPSEEK,
        "gpt_oss": Family(biases="all", sinks=True, defaults={"head_dim": 64}),
        "granite": Family(biases="as_configured"),
        "phi": Family(biases="all", mlp="plain", norm="layernorm", norms_per_layer=1, head_bias=True),
        "phi3": Family(),
        "phimoe": Family(biases="as_configured", norm="layernorm"),
        "opt": Family(
            biases="all",
            bias_switch="enable_bias",
            tied=True,
            mlp="plain",
            norm="layernorm",
            extra_positions=2,
            renamed={"ffn_dim": "intermediate_size"},
        ),
        "gpt2": Family(
            biases="all", tied=True, mlp="plain", norm="layernorm", extra_positions=0, renamed=GPT2_NAMES
        ),
        "gpt_neox": Family(biases="all", mlp="plain", norm="layernorm"),
        "starcoder2": Family(biases="all", bias_switch="use_bias", tied=True, mlp="plain", norm="layernorm"),
    }
)
"""By `model_type`. Source: the modelling files of Hugging Face transformers, by class."""

ARCHITECTURES = {"DeepseekV2ForCausalLM": "deepseek_v2", "DeepseekV3ForCausalLM": "deepseek_v3"}
"""Checkpoints with a `model_type` of their own that run another's code."""
