"""What follows from a config's own fields and its family's file leaves out: the column `derived` of the table.

Each gives the fields with others put in. A field that does not follow, since what it needs is missing or no number,
is left as it was, and is refused by its name where it is read.
"""

from math import prod

from core.errors import OutOfRangeError, shortened
from core.models.hf_values import Config
from core.text.lines import object_in


def _put_in(fields: Config, **values: object) -> Config:
    return {**fields, **{name: value for name, value in values.items() if value is not None}}


def _product(*factors: object) -> int | None:
    """Of whole numbers; None where one of them is none."""
    numbers = [factor for factor in factors if isinstance(factor, int)]
    return prod(numbers) if len(numbers) == len(factors) else None


def _part(whole: int | None, parts: object) -> int | None:
    return whole // parts if whole is not None and isinstance(parts, int) and parts else None


def channels(fields: Config) -> Config:
    """Mamba's channels, as many as a file says or a multiple of its width; its heads where it has some."""
    inner = fields.get("mamba_d_ssm", _product(fields.get("hidden_size"), fields.get("mamba_expand", 2)))
    heads = fields.get("mamba_num_heads", inner)
    width = fields.get("mamba_head_dim", 1)
    return _put_in(fields, intermediate_size=inner, num_attention_heads=heads, head_dim=width)


def beside_the_embedding(fields: Config) -> Config:
    """Zamba 2: shared blocks read the embedding beside the stream; Mamba heads share twice its width."""
    hidden, mamba = fields.get("hidden_size"), fields.get("mamba_num_heads", 8)
    read = {}
    if (head_dim := _part(_product(2, hidden), fields.get("num_attention_heads"))) is not None:
        read = {
            "attention_hidden_size": _product(2, hidden),
            "head_dim": fields.get("head_dim", head_dim),
            "intermediate_size": fields.get("intermediate_size", _product(4, hidden)),
        }
    channels_each = _part(_product(fields.get("mamba_expand", 2), hidden), mamba)
    return _put_in(
        fields,
        **read,
        mamba_num_heads=mamba,
        num_mem_blocks=fields.get("num_mem_blocks", 1),
        mamba_head_dim=fields.get("mamba_head_dim", channels_each),
    )


def groups_of_layers(fields: Config) -> Config:
    """Ling's layers in groups, each ending in one that sees all; its delta rule has attention's heads."""
    inside = {
        "num_heads": fields.get("num_attention_heads"),
        "head_dim": fields.get("linear_head_dim", fields.get("head_dim", 128)),
        "short_conv_kernel_size": fields.get("short_conv_kernel_size", 4),
        "use_full_rank_gate": True,
        "full_rank_decay": True,
    }
    own = {name: value for name, value in fields.items() if name != "linear_num_heads"}
    return {**own, "full_attention_interval": fields.get("layer_group_size", 6), "linear_attn_config": inside}


def three_quarters(fields: Config) -> Config:
    """OLMo Hybrid's delta rule: attention's heads, keys of three quarters of their width, values twice as wide."""
    hidden, heads = fields.get("hidden_size"), fields.get("num_attention_heads")
    if not isinstance(hidden, int) or not isinstance(heads, int) or not heads:
        return fields
    keys = fields.get("linear_num_key_heads", heads)
    wide = fields.get("linear_key_head_dim", _part(int(0.75 * hidden), keys) or 1)
    usual = {
        "linear_num_key_heads": keys,
        "linear_num_value_heads": heads,
        "linear_key_head_dim": wide,
        "linear_value_head_dim": _product(2, wide) or wide,
    }
    return {**usual, **fields}


def falcon_widths(fields: Config) -> Config:
    """Falcon's MLP of four times its width, and its KV heads: one, or with the newer decoder those named."""
    heads = fields.get("num_attention_heads")
    newer, one = fields.get("new_decoder_architecture"), fields.get("multi_query", True)
    kept = fields.get("num_kv_heads", heads) if newer else 1 if one else heads
    wide = fields.get("ffn_hidden_size", _product(4, fields.get("hidden_size")))
    return _put_in(fields, num_key_value_heads=kept, intermediate_size=wide)


def dbrx_widths(fields: Config) -> Config:
    """DBRX writes its attention and its experts in objects of their own."""
    experts = object_in(fields.get("ffn_config"))
    return _put_in(
        fields,
        num_key_value_heads=object_in(fields.get("attn_config")).get("kv_n_heads"),
        moe_intermediate_size=experts.get("ffn_hidden_size"),
        num_experts=experts.get("moe_num_experts"),
        num_experts_per_tok=experts.get("moe_top_k"),
    )


def mpt_widths(fields: Config) -> Config:
    """MPT's MLP is so many times as wide as its stream, and its KV heads stand in an object."""
    attention = object_in(fields.get("attn_config"))
    heads = 1 if attention.get("attn_type") == "multiquery_attention" else attention.get("kv_n_heads")
    inner = _product(fields.get("hidden_size"), fields.get("expansion_ratio", 4))
    return _put_in(fields, intermediate_size=inner, num_key_value_heads=heads)


def one_head_of_keys(fields: Config) -> Config:
    """GPT-BigCode keeps one head of keys and values, unless its file says otherwise."""
    return _put_in(fields, num_key_value_heads=1 if fields.get("multi_query", True) is True else None)


def half_as_wide(fields: Config) -> Config:
    """Qwen 1 writes the width of gate and up together."""
    return _put_in(fields, intermediate_size=_part(_product(fields.get("intermediate_size")), 2))


def groups_of_keys(fields: Config) -> Config:
    """ChatGLM's groups of queries that share a key, where it has them; its biases are on q, k and v."""
    shared = fields.get("multi_query_group_num") if fields.get("multi_query_attention") is True else None
    return _put_in(fields, num_key_value_heads=shared)


def all_as_wide(fields: Config) -> Config:
    """MiniCPM's experts are as wide as its MLPs."""
    return _put_in(
        fields, moe_intermediate_size=fields.get("intermediate_size") if fields.get("num_experts") else None
    )


def other_heads(fields: Config) -> Config:
    """Step's layers with a window: the heads that `attention_other_setting` gives the kind of layer that it names.

    Raises OutOfRangeError for another kind of layer, whose heads would be left out in silence.
    Source: vllm/model_executor/models/step3p5.py, Step3p5DecoderLayer.
    """
    other = object_in(fields.get("attention_other_setting"))
    if not other:
        return fields
    kind = other.get("attention_type", "sliding_attention")
    if kind != "sliding_attention":
        raise OutOfRangeError("attention_other_setting", shortened(kind), "other_heads")
    return _put_in(
        fields,
        swa_num_attention_heads=other.get("num_attention_heads"),
        swa_num_key_value_heads=other.get("num_attention_groups"),
        swa_head_dim=other.get("head_dim"),
    )
