"""Families by `model_type` whose files name the same things in ways of their own: the same table, on."""

from collections.abc import Mapping
from dataclasses import replace

from core.models.hf_derived import (
    all_as_wide,
    dbrx_widths,
    groups_of_keys,
    half_as_wide,
    mpt_widths,
    one_head_of_keys,
)
from core.models.hf_family import Family
from core.models.hf_makers import GPT2, GPT2_NAMES, LLAMA

_WIDTHS = {"d_model": "hidden_size", "n_heads": "num_attention_heads", "n_layers": "num_hidden_layers"}
_WIDTHS |= {"max_seq_len": "max_position_embeddings"}
_CODE = Family(
    biases="as_configured",
    mlp="plain",
    norm="layernorm",
    norms_per_layer=1,
    head_bias=True,
    defaults={"mlp_bias": True},
    renamed=GPT2_NAMES,
)

OLDER: Mapping[str, Family] = {
    "aquila": LLAMA,
    "bloom": replace(
        GPT2,
        extra_positions=None,
        no_rotary=True,
        defaults={"embedding_norm": True},
        renamed={
            "n_embed": "hidden_size",
            "n_layer": "num_hidden_layers",
            "n_head": "num_attention_heads",
            "n_inner": "intermediate_size",
            "seq_length": "max_position_embeddings",
        },
    ),
    "chatglm": Family(
        biases="qkv",
        bias_switch="add_qkv_bias",
        fixed={"add_bias_linear": False, "rmsnorm": True, "post_layer_norm": True},
        defaults={"partial_rotary_factor": 0.5},
        renamed={
            "num_layers": "num_hidden_layers",
            "ffn_hidden_size": "intermediate_size",
            "padded_vocab_size": "vocab_size",
            "seq_length": "max_position_embeddings",
            "kv_channels": "head_dim",
        },
        derived=groups_of_keys,
    ),
    "codegen": _CODE,
    "dbrx": Family(experts="num_experts", renamed=_WIDTHS, derived=dbrx_widths),
    "exaone": Family(renamed={"num_layers": "num_hidden_layers"}),
    "orion": replace(LLAMA, norm="layernorm"),
    "solar": LLAMA,
    "xverse": LLAMA,
    "gpt-sw3": GPT2,
    "gpt_bigcode": replace(GPT2, derived=one_head_of_keys),
    "gptj": _CODE,
    "internlm": replace(LLAMA, renamed={"bias": "attention_bias"}),
    "minicpm": Family(tied=True, derived=all_as_wide),
    "mpt": Family(
        mlp="plain",
        tied=True,
        no_rotary=True,
        fixed={"no_bias": True},
        renamed=_WIDTHS,
        derived=mpt_widths,
    ),
    "qwen": Family(
        biases="qkv",
        fixed={"no_bias": True},
        renamed={"kv_channels": "head_dim", "seq_length": "max_position_embeddings"},
        derived=half_as_wide,
    ),
}
"""Source: vllm/model_executor/models/chatglm.py and exaone.py; transformers 5.23 by class; Qwen's own files."""
