"""Families by `model_type` whose files name the same things in ways of their own: the same table, on."""

from collections.abc import Mapping

from core.models.hf_family import Family
from core.models.hf_makers import GPT2_NAMES, LLAMA
from core.models.hf_values import Config

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


def _inside(fields: Config, name: str) -> Config:
    value = fields.get(name)
    return value if isinstance(value, dict) else {}


def _written(fields: Config, **values: object) -> Config:
    """The fields with others that follow from them; those that do not follow are left out."""
    return {**fields, **{name: value for name, value in values.items() if value is not None}}


def dbrx_widths(fields: Config) -> Config:
    """DBRX writes its attention and its experts in objects of their own."""
    seen, through = _inside(fields, "attn_config"), _inside(fields, "ffn_config")
    return _written(
        fields,
        num_key_value_heads=seen.get("kv_n_heads"),
        moe_intermediate_size=through.get("ffn_hidden_size"),
        num_experts=through.get("moe_num_experts"),
        num_experts_per_tok=through.get("moe_top_k"),
    )


def mpt_widths(fields: Config) -> Config:
    """MPT's MLP is so many times as wide as its stream, and its KV heads stand in an object."""
    seen, hidden, times = (
        _inside(fields, "attn_config"),
        fields.get("hidden_size"),
        fields.get("expansion_ratio", 4),
    )
    inner = hidden * times if isinstance(hidden, int) and isinstance(times, int) else None
    heads = 1 if seen.get("attn_type") == "multiquery_attention" else seen.get("kv_n_heads")
    return _written(fields, intermediate_size=inner, num_key_value_heads=heads)


def one_head_of_keys(fields: Config) -> Config:
    """GPT-BigCode keeps one head of keys and values, unless its file says otherwise."""
    return _written(fields, num_key_value_heads=1 if fields.get("multi_query", True) is True else None)


def half_as_wide(fields: Config) -> Config:
    """Qwen 1 writes the width of gate and up together."""
    wide = fields.get("intermediate_size")
    return _written(fields, intermediate_size=wide // 2 if isinstance(wide, int) else None)


def groups_of_keys(fields: Config) -> Config:
    """ChatGLM's groups of queries that share a key, where it has them; its biases are on q, k and v."""
    shared = fields.get("multi_query_group_num") if fields.get("multi_query_attention") is True else None
    return _written(fields, num_key_value_heads=shared)


def all_as_wide(fields: Config) -> Config:
    """MiniCPM's experts are as wide as its MLPs."""
    wide = fields.get("intermediate_size") if fields.get("num_experts") else None
    return _written(fields, moe_intermediate_size=wide)


OLDER: Mapping[str, Family] = {
    "bloom": Family(
        biases="all",
        tied=True,
        mlp="plain",
        norm="layernorm",
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
    "gpt_bigcode": Family(
        biases="all",
        tied=True,
        mlp="plain",
        norm="layernorm",
        extra_positions=0,
        renamed=GPT2_NAMES,
        derived=one_head_of_keys,
    ),
    "gptj": _CODE,
    "internlm": Family(biases="as_configured", renamed={"bias": "attention_bias"}, sizes=LLAMA.sizes),
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
