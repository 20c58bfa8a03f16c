"""Families by `model_type` that keep states, share blocks, or go twice through a layer: the same table, on."""

from collections.abc import Mapping
from dataclasses import replace

from core.models.hf_derived import beside_the_embedding, channels, groups_of_layers, three_quarters
from core.models.hf_family import Family
from core.models.hf_makers import AS_WIDE, DEEPSEEK_V3, LATENT, MAMBA, per_layer_inputs, sizes
from core.models.hf_values import Values

_NO_END = 2**20
"""Positions of a model that only keeps states: it has no end, and an engine takes any length that is asked."""


def scales_of_a_layer(values: Values) -> int:
    """Gemma 3n: per-layer inputs, a residual of low rank and its norm, and what mixes its streams."""
    hidden, streams = values.whole("hidden_size"), values.whole("altup_num_inputs", 4)
    beside = 2 * hidden * values.whole("laurel_rank", 64) + hidden
    mixing = streams**2 + streams**3 + hidden * (streams + 2)
    return per_layer_inputs(values) - 1 + beside + mixing


_SELECTIVE = Family(
    otherwise="selective",
    norms_per_layer=1,
    one_block=True,
    no_rotary=True,
    tied=True,
    defaults={"ssm_state_size": 16, "max_position_embeddings": _NO_END, "mamba_step_norms": False},
    renamed={
        "state_size": "ssm_state_size",
        "expand": "mamba_expand",
        "time_step_rank": "mamba_dt_rank",
        "use_bias": "mamba_proj_bias",
        "intermediate_size": "mamba_d_ssm",
        "d_model": "hidden_size",
        "n_layer": "num_hidden_layers",
        "num_heads": "mamba_num_heads",
        "head_dim": "mamba_head_dim",
    },
    derived=channels,
)
_LIGHTNING = Family(
    otherwise="lightning",
    experts="num_local_experts",
    defaults={"num_key_value_heads": 8},
    renamed=AS_WIDE,
)

_AXK1 = replace(DEEPSEEK_V3, norms_of_experts=1, defaults={**DEEPSEEK_V3.defaults, "first_k_dense_replace": 1})
_NO_QUERY_RANK = {name: width for name, width in LATENT.items() if name != "q_lora_rank"}

_LING_25 = Family(
    otherwise="lightning",
    experts="num_experts",
    router_bias=True,
    fixed={"use_bias": False, "use_qkv_bias": False},
    defaults={"first_k_dense_replace": 1, "num_shared_experts": 1, "group_norm_size": 1},
    renamed={"layer_group_size": "full_attention_interval"},
)

HYBRIDS: Mapping[str, Family] = {
    "AXK1": _AXK1,
    "axk1": _AXK1,
    "bailing_hybrid": Family(
        otherwise="linear",
        experts="num_experts",
        router_bias=True,
        fixed={"attention_bias": False},
        defaults={**_NO_QUERY_RANK, "n_shared_experts": 1, "first_k_dense_replace": 2, "mla_head_gate": True},
        renamed={"model_max_length": "max_position_embeddings"},
        derived=groups_of_layers,
    ),
    "bailing_moe_linear": _LING_25,
    "falcon_mamba": _SELECTIVE,
    "gemma3n_text": Family(
        biases="as_configured",
        tied=True,
        window_pattern=5,
        norms_per_layer=4,
        qk_norm="head",
        extra=scales_of_a_layer,
        defaults={
            "head_dim": 256,
            "num_key_value_heads": 2,
            "altup_num_inputs": 4,
            "hidden_size_per_layer_input": 256,
            "vocab_size_per_layer_input": 262144,
            "num_kv_shared_layers": 15,
            "sliding_window": 512,
        },
        sizes=sizes(2048, 16384, 35, 8, 262400, 32768),
    ),
    "laguna": Family(
        biases="as_configured",
        qk_norm="head",
        gate="head",
        router_bias=True,
        experts="num_experts",
        fixed={"gating": True},
        defaults={"head_dim": 128, "num_key_value_heads": 8, "first_k_dense_replace": 1},
    ),
    "longcat_flash": Family(
        twice=True,
        both_inner=True,
        norms_per_layer=4,
        router_bias=True,
        experts="n_routed_experts",
        fixed={"attention_bias": False, "router_bias": False},
        defaults={**LATENT, "zero_expert_num": 256},
        renamed={
            "num_layers": "num_hidden_layers",
            "ffn_hidden_size": "intermediate_size",
            "expert_ffn_hidden_size": "moe_intermediate_size",
        },
    ),
    "mamba": _SELECTIVE,
    "mamba2": replace(
        _SELECTIVE,
        otherwise="mamba",
        tied=False,
        defaults={**MAMBA, "mamba_num_heads": 128, "mamba_n_groups": 8, "max_position_embeddings": _NO_END},
    ),
    "minimax": _LIGHTNING,
    "minimax_m1": _LIGHTNING,
    "minimax_text_01": _LIGHTNING,
    "olmo_hybrid": Family(
        biases="as_configured",
        qk_norm="row",
        otherwise="linear",
        defaults={"full_attention_interval": 4},
        derived=three_quarters,
    ),
    "step3_text": Family(
        experts="moe_num_experts",
        defaults={"num_key_value_heads": 1, "head_dim": 256},
        renamed={"max_position_embedding": "max_position_embeddings", "max_seq_len": "max_position_embeddings"},
        sizes=sizes(7168, 18432, 61, 64, 128815, 65536),
    ),
    "zamba2": Family(
        tied=True,
        otherwise="mamba",
        fixed={"add_bias_linear": False},
        defaults={"mamba_n_groups": 1, "ssm_state_size": 64, "use_mem_rope": False},
        renamed={
            "n_mamba_heads": "mamba_num_heads",
            "mamba_headdim": "mamba_head_dim",
            "mamba_ngroups": "mamba_n_groups",
        },
        derived=beside_the_embedding,
    ),
}
"""Source: the modelling files of Hugging Face transformers 5.23, by class; vLLM 0.33.0's step3_text.py."""
