"""Families by `model_type` that came after those of hf_families, or are met less often: the same table, on."""

from collections.abc import Mapping
from dataclasses import replace

from core.models.hf_derived import falcon_widths
from core.models.hf_family import Family
from core.models.hf_makers import (
    AS_WIDE,
    COHERE,
    LATENT,
    LLAMA,
    MAMBA,
    OLMO2,
    QWEN3_MOE,
    per_activation,
    second_norm,
    two_biases,
)

_LFM2 = Family(tied=True, otherwise="conv", qk_norm="head", defaults={"num_key_value_heads": 8})
_K_EXAONE = Family(
    qk_norm="head",
    window_pattern=4,
    router_bias=True,
    experts="num_experts",
    defaults={"n_shared_experts": 1, "first_k_dense_replace": 1, "num_key_value_heads": 32},
)
_SINKS = Family(biases="as_configured", sinks=True, tied=True)
_BAILING = Family(
    biases="qkv",
    bias_switch="use_qkv_bias",
    qk_norm="head",
    qk_norm_switch="use_qk_norm",
    experts="num_experts",
    fixed={"use_bias": False},
    defaults={"use_qkv_bias": False},
)
_BAILING_SHARED = replace(
    _BAILING,
    defaults={
        **_BAILING.defaults,
        "n_shared_experts": 1,
        "first_k_dense_replace": 1,
        "moe_router_enable_expert_bias": True,
    },
)

NEWER: Mapping[str, Family] = {
    "afmoe": Family(
        qk_norm="head",
        gate="row",
        norms_per_layer=4,
        router_bias=True,
        experts="num_experts",
        fixed={"attention_bias": False},
        defaults={"head_dim": 128, "global_attn_every_n_layers": 4},
        renamed={"global_attn_every_n_layers": "sliding_window_pattern"},
    ),
    "apertus": Family(biases="as_configured", mlp="plain", qk_norm="head", extra=per_activation),
    "bailing_moe": _BAILING,
    "bailing_moe_v2": _BAILING,
    "bamba": Family(
        biases="as_configured",
        otherwise="mamba",
        defaults={**MAMBA, "ssm_state_size": 256, "mamba_num_heads": 128, "num_key_value_heads": 8},
    ),
    "cohere2_moe": replace(
        COHERE,
        window_pattern=4,
        experts="num_experts",
        renamed={**AS_WIDE, "prefix_dense_intermediate_size": "intermediate_size"},
    ),
    "dots1": Family(
        biases="as_configured",
        qk_norm="head",
        router_bias=True,
        experts="n_routed_experts",
        defaults={"num_key_value_heads": 32},
    ),
    "exaone_moe": _K_EXAONE,
    "falcon": Family(
        mlp="plain",
        norm="layernorm",
        norms_per_layer=1,
        side_by_side=True,
        tied=True,
        fixed={"alibi": False, "parallel_attn": True},
        extra=second_norm,
        derived=falcon_widths,
    ),
    "falcon_h1": Family(
        biases="as_configured",
        otherwise="both",
        fixed={"projectors_bias": False},
        defaults={**MAMBA, "ssm_state_size": 256, "num_key_value_heads": 8, "mamba_rms_norm": False},
    ),
    "flex_olmo": replace(OLMO2, experts="num_experts", renamed=AS_WIDE),
    "granite_swa": _SINKS,
    "granitemoe_swa": replace(_SINKS, tied=False, experts="num_local_experts", renamed=AS_WIDE),
    "hunyuan_v1_moe": Family(
        biases="as_configured",
        qk_norm="head",
        experts="num_experts",
        fixed={"use_cla": False},
        defaults={"n_shared_experts": 1},
        renamed=AS_WIDE,
    ),
    "hy_v3": replace(_K_EXAONE, biases="as_configured", defaults={"head_dim": 128, "n_shared_experts": 1}),
    "hyperclovax": replace(LLAMA, norms_per_layer=4, fixed={"use_post_norm": True}),
    "internlm3": replace(LLAMA, defaults={"num_key_value_heads": 2, "head_dim": 128}, fixed={"qkv_bias": False}),
    "iquestcoder": replace(LLAMA, defaults={"num_key_value_heads": 8, "head_dim": 128}),
    "jais2": Family(
        biases="as_configured", mlp="plain", norm="layernorm", defaults={"attention_bias": True, "mlp_bias": True}
    ),
    "jamba": Family(
        otherwise="selective",
        experts="num_experts",
        no_rotary=True,
        defaults={
            "num_key_value_heads": 8,
            "attn_layer_period": 8,
            "attn_layer_offset": 4,
            "expert_layer_period": 2,
            "expert_layer_offset": 1,
            "ssm_state_size": 16,
        },
        renamed=AS_WIDE,
    ),
    "lfm2": replace(_LFM2, defaults={**_LFM2.defaults, "block_auto_adjust_ff_dim": True}),
    "lfm2_moe": replace(
        _LFM2,
        experts="num_experts",
        defaults={**_LFM2.defaults, "use_expert_bias": True, "first_k_dense_replace": 2},
    ),
    "mellum": replace(QWEN3_MOE, experts="num_local_experts"),
    "minicpm3": Family(
        biases="as_configured", tied=True, defaults={**LATENT, "q_lora_rank": 768, "kv_lora_rank": 256}
    ),
    "nemotron": Family(biases="as_configured", mlp="plain", norm="layernorm"),
    "olmo": Family(biases="as_configured", norm="bare"),
    "PanguEmbedded": replace(LLAMA, renamed={"bias": "attention_bias"}),
    "pangu_ultra_moe": Family(
        norms_per_layer=4,
        experts="num_experts",
        fixed={"attention_bias": False, "sandwich_norm": True, "param_sink_number": False},
        defaults={"n_shared_experts": 1},
        renamed={
            "num_routed_experts": "num_experts",
            "attention_q_lora_dim": "q_lora_rank",
            "attention_kv_lora_dim": "kv_lora_rank",
            "attention_qk_dim": "qk_nope_head_dim",
            "attention_qk_rope_dim": "qk_rope_head_dim",
            "attention_v_dim": "v_head_dim",
            "router_enable_expert_bias": "use_expert_bias",
        },
    ),
    "param2moe": _BAILING_SHARED,
    "plamo3": Family(norms_per_layer=4, qk_norm="head", defaults={"head_dim": 128}),
    "sarvam_mla": Family(
        router_bias=True,
        experts="num_experts",
        fixed={"attention_bias": False},
        defaults={"n_shared_experts": 1, "first_k_dense_replace": 1},
    ),
    "sarvam_moe": _BAILING_SHARED,
    "step1": Family(biases="as_configured", no_rotary=True, defaults={"num_key_value_heads": 1}),
    "telechat": Family(
        extra=two_biases,
        renamed={
            "n_layer": "num_hidden_layers",
            "n_head": "num_attention_heads",
            "ffn_hidden_size": "intermediate_size",
            "seq_length": "max_position_embeddings",
        },
    ),
    "telechat3": LLAMA,
    "TeleFLM": LLAMA,
    "solar_open": Family(
        biases="as_configured",
        router_bias=True,
        experts="n_routed_experts",
        defaults={"head_dim": 128, "num_key_value_heads": 8, "n_shared_experts": 1},
    ),
    "vaultgemma": Family(
        biases="as_configured",
        tied=True,
        window_pattern=2,
        defaults={"head_dim": 256, "num_key_value_heads": 4, "sliding_window": 512},
    ),
    "youtu": Family(tied=True, fixed={"attention_bias": False}, defaults=LATENT),
}
"""Source: the modelling files of Hugging Face transformers 5.23, by class; those of bailing,
pangu, param2moe, plamo3, sarvam, step1 and telechat of vLLM 0.33, by class."""
