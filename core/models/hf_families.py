"""Architectures by `model_type`: what their code fixes and their config.json does not say."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

Biases = Literal["none", "qkv", "all", "as_configured"]


@dataclass(frozen=True)
class Family:
    """What an architecture's code fixes and its config does not say.

    `biases`: on nothing; on q, k and v; on everything, these two unless the field `bias_switch` is false; or where
    `attention_bias` and `mlp_bias` put them. The field `qk_norm_switch` turns on the norms of queries and keys.
    `extra_positions` are learned beside the `max_position_embeddings`; None where positions are not learned.
    `experts` is the field that counts a mixture's experts; a field in `fixed` with another value changes
    parts in a way that is not counted here. Where a file has a sliding window and says not where, each
    `window_pattern`-th layer is without; 0: none is. `defaults` are the class's own values of fields that a
    file may leave out, `sizes` of those that only a file nested in another leaves out; `renamed` maps a file's name
    of a field to the usual one.
    """

    biases: Biases = "none"
    bias_switch: str = ""
    tied: bool = False
    mlp: Literal["gated", "plain"] = "gated"
    norm: Literal["rmsnorm", "layernorm"] = "rmsnorm"
    norms_per_layer: int = 2
    qk_norm: bool = False
    qk_norm_switch: str = ""
    head_bias: bool = False
    sinks: bool = False
    extra_positions: int | None = None
    window_pattern: int = 0
    experts: str = ""
    fixed: Mapping[str, bool] = field(default_factory=dict)
    defaults: Mapping[str, int | str] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)


def _sizes(hidden: int, inner: int, layers: int, heads: int, vocabulary: int, positions: int) -> Mapping[str, int]:
    """A class's own model, under the names of its fields."""
    return {
        "hidden_size": hidden,
        "intermediate_size": inner,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "vocab_size": vocabulary,
        "max_position_embeddings": positions,
    }


REMOTE_CODE = frozenset({"kimi_k2", "chatglm", "deepseek", "baichuan", "qwen", "internlm2", "exaone"})
"""Families that transformers has no class of: their files bring it, and an engine must be told to trust it."""

_PLAIN = Family()
_LLAMA = Family(biases="as_configured", sizes=_sizes(4096, 11008, 32, 32, 32000, 2048))
_MISTRAL = Family(defaults={"num_key_value_heads": 8}, sizes=_sizes(4096, 14336, 32, 32, 32000, 131072))
_QWEN2 = Family(
    biases="qkv", defaults={"num_key_value_heads": 32}, sizes=_sizes(4096, 22016, 32, 32, 151936, 32768)
)
_QWEN2_VL = Family(
    biases="qkv", defaults={"num_key_value_heads": 8}, sizes=_sizes(8192, 29568, 80, 64, 152064, 32768)
)
_QWEN3 = Family(
    biases="as_configured",
    qk_norm=True,
    defaults={"head_dim": 128, "num_key_value_heads": 32},
    sizes=_sizes(4096, 22016, 32, 32, 151936, 32768),
)
_QWEN3_MOE = Family(
    biases="as_configured", qk_norm=True, experts="num_experts", defaults={"num_key_value_heads": 4}
)
_GEMMA3 = Family(
    biases="as_configured",
    tied=True,
    window_pattern=6,
    norms_per_layer=4,
    qk_norm=True,
    defaults={
        "head_dim": 256,
        "num_attention_heads": 8,
        "num_key_value_heads": 4,
        "vocab_size": 262208,
        "max_position_embeddings": 131072,
    },
    sizes=_sizes(2304, 9216, 26, 8, 262208, 131072),
)
_LATENT = {
    "kv_lora_rank": 512,
    "q_lora_rank": 1536,
    "qk_rope_head_dim": 64,
    "qk_nope_head_dim": 128,
    "v_head_dim": 128,
}
_DEEPSEEK_V3 = Family(
    experts="n_routed_experts",
    fixed={"attention_bias": False},
    defaults={**_LATENT, "first_k_dense_replace": 3, "n_shared_experts": 1, "topk_method": "noaux_tc"},
)
_GLM_MOE_DEFAULTS: Mapping[str, int | str] = {
    "attention_bias": False,
    "num_key_value_heads": 8,
    "first_k_dense_replace": 1,
    "n_shared_experts": 1,
    "topk_method": "noaux_tc",
}
_GLM_DEFAULTS: Mapping[str, int | str] = {"head_dim": 128, "num_key_value_heads": 2}
GPT2_NAMES = {
    "n_embd": "hidden_size",
    "n_layer": "num_hidden_layers",
    "n_head": "num_attention_heads",
    "n_inner": "intermediate_size",
    "n_positions": "max_position_embeddings",
}

FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        "llama": _LLAMA,
        "llama4_text": Family(
            fixed={"attention_bias": False},
            experts="num_local_experts",
            defaults={"num_key_value_heads": 8, "head_dim": 128, "n_shared_experts": 1},
        ),
        "mistral": _MISTRAL,
        "ministral": _MISTRAL,
        "ministral3": _MISTRAL,
        "mixtral": Family(experts="num_local_experts", defaults={"num_key_value_heads": 8}),
        "qwen2": _QWEN2,
        "qwen2_vl": _QWEN2_VL,
        "qwen2_vl_text": _QWEN2_VL,
        "qwen2_5_vl": _QWEN2_VL,
        "qwen2_5_vl_text": _QWEN2_VL,
        "qwen2_moe": Family(
            biases="qkv",
            bias_switch="qkv_bias",
            experts="num_experts",
            defaults={"num_key_value_heads": 16, "shared_expert_intermediate_size": 5632},
        ),
        "qwen3": _QWEN3,
        "qwen3_moe": _QWEN3_MOE,
        "qwen3_vl_text": _QWEN3,
        "qwen3_vl_moe_text": replace(_QWEN3_MOE, defaults={"num_key_value_heads": 16}),
        "gemma": Family(
            biases="as_configured",
            tied=True,
            defaults={"head_dim": 256, "num_key_value_heads": 16},
            sizes=_sizes(3072, 24576, 28, 16, 256000, 8192),
        ),
        "gemma2": Family(
            biases="as_configured",
            tied=True,
            norms_per_layer=4,
            window_pattern=2,
            defaults={"head_dim": 256, "num_key_value_heads": 4, "sliding_window": 4096},
            sizes=_sizes(2304, 9216, 26, 8, 256000, 8192),
        ),
        "gemma3_text": _GEMMA3,
        "deepseek": Family(biases="as_configured", experts="n_routed_experts"),
        "deepseek_v2": Family(experts="n_routed_experts", fixed={"attention_bias": False}, defaults=_LATENT),
        "deepseek_v3": _DEEPSEEK_V3,
        "kimi_k2": _DEEPSEEK_V3,
        "gpt_oss": Family(
            biases="all",
            sinks=True,
            window_pattern=2,
            fixed={"attention_bias": True},
            experts="num_local_experts",
            defaults={"head_dim": 64, "num_key_value_heads": 8},
        ),
        "glm": Family(biases="qkv", bias_switch="attention_bias", defaults=_GLM_DEFAULTS),
        "glm4": Family(biases="qkv", bias_switch="attention_bias", norms_per_layer=4, defaults=_GLM_DEFAULTS),
        "glm4_moe": Family(
            biases="qkv",
            bias_switch="attention_bias",
            qk_norm_switch="use_qk_norm",
            experts="n_routed_experts",
            defaults=_GLM_MOE_DEFAULTS,
        ),
        "granite": _LLAMA,
        "granitemoe": Family(biases="as_configured", experts="num_local_experts"),
        "smollm3": Family(biases="as_configured", tied=True, defaults={"num_key_value_heads": 4}),
        "seed_oss": Family(
            biases="qkv",
            bias_switch="attention_bias",
            fixed={"mlp_bias": False},
            defaults={"num_key_value_heads": 8, "head_dim": 128},
        ),
        "ernie4_5": Family(
            biases="all",
            bias_switch="use_bias",
            tied=True,
            defaults={"use_bias": False, "num_key_value_heads": 2, "head_dim": 128},
        ),
        "internlm2": _PLAIN,
        "baichuan": Family(renamed={"model_max_length": "max_position_embeddings"}),
        "Yi": _PLAIN,
        "cohere": Family(biases="as_configured", tied=True, norms_per_layer=1, fixed={"use_qk_norm": False}),
        "stablelm": Family(
            biases="qkv",
            bias_switch="use_qkv_bias",
            norm="layernorm",
            fixed={"use_parallel_residual": False},
            defaults={"use_qkv_bias": False},
        ),
        "phi": Family(
            biases="all",
            mlp="plain",
            norm="layernorm",
            norms_per_layer=1,
            head_bias=True,
            sizes=_sizes(2048, 8192, 24, 32, 51200, 2048),
        ),
        "phi3": Family(sizes=_sizes(3072, 8192, 32, 32, 32064, 4096)),
        "phimoe": Family(
            biases="as_configured",
            norm="layernorm",
            experts="num_local_experts",
            defaults={"num_key_value_heads": 8},
        ),
        "opt": Family(
            biases="all",
            bias_switch="enable_bias",
            tied=True,
            mlp="plain",
            norm="layernorm",
            extra_positions=2,
            fixed={
                "do_layer_norm_before": True,
                "layer_norm_elementwise_affine": True,
                "_remove_final_layer_norm": False,
            },
            sizes=_sizes(768, 3072, 12, 12, 50272, 2048),
            renamed={"ffn_dim": "intermediate_size"},
        ),
        "gpt2": Family(
            biases="all", tied=True, mlp="plain", norm="layernorm", extra_positions=0, renamed=GPT2_NAMES
        ),
        "gpt_neox": Family(biases="all", mlp="plain", norm="layernorm", fixed={"attention_bias": True}),
        "starcoder2": Family(
            biases="all",
            bias_switch="use_bias",
            tied=True,
            mlp="plain",
            norm="layernorm",
            defaults={"num_key_value_heads": 2},
        ),
    }
)
"""By `model_type`. Source: the modelling files of Hugging Face transformers, by class."""

ARCHITECTURES = {"DeepseekV2ForCausalLM": "deepseek_v2", "DeepseekV3ForCausalLM": "deepseek_v3"}
"""Checkpoints with a `model_type` of their own that run another's code."""
