"""A maker's own params.json, of Mistral or of Meta's Llama, under the names of a config.json.

Source: mistral.py of vLLM 0.33's transformers_utils/configs; FeedForward in model.py of meta-llama/llama-models.
"""

from core.models.hf_values import Config
from core.text.numbers import figure

_NAMES = {
    "dim": "hidden_size",
    "n_layers": "num_hidden_layers",
    "n_heads": "num_attention_heads",
    "n_kv_heads": "num_key_value_heads",
    "hidden_dim": "intermediate_size",
    "tied_embeddings": "tie_word_embeddings",
    "vision_encoder": "vision_config",
}
_OF_EXPERTS = {
    "num_experts": "n_routed_experts",
    "num_shared_experts": "n_shared_experts",
    "expert_hidden_dim": "moe_intermediate_size",
    "num_experts_per_tok": "num_experts_per_tok",
    "first_k_dense_replace": "first_k_dense_replace",
}
_FULL_LENGTH = 128_000
"""What vLLM takes where the file says no length."""


def renamed(config: Config) -> Config:
    """The file as a config.json has it; a file that is one already as it is."""
    if "dim" not in config or "n_layers" not in config or "hidden_size" in config:
        return config
    named = {_NAMES.get(name, name): value for name, value in config.items()}
    named.setdefault("num_key_value_heads", named.get("n_heads", named.get("num_attention_heads")))
    named.setdefault("max_position_embeddings", named.get("max_seq_len", _FULL_LENGTH))
    named |= {"model_type": "mistral", **_windows(named), **_experts(config.get("moe"))}
    if "intermediate_size" not in named:
        named |= {"model_type": "llama", "intermediate_size": _inner(config)}
    quantised = named.pop("quantization", None)
    if isinstance(quantised, dict):
        eight = {"quant_method": "fp8"} if quantised.get("qformat_weight") == "fp8_e4m3" else {}
        named["quantization_config"] = {**quantised, **eight}
    return named


def _windows(named: Config) -> Config:
    """The kinds of layers of a list of windows, which is repeated down the stack; null is a layer without one."""
    window, layers = named.get("sliding_window"), named.get("num_hidden_layers")
    if not isinstance(window, list) or not window or not isinstance(layers, int):
        return {}
    kinds = ["sliding_attention" if one else "full_attention" for one in window]
    repeated = kinds * max(1, min(layers, 1000) // len(kinds))
    return {"layer_types": repeated, "sliding_window": next((one for one in window if one), None)}


def _experts(mixture: object) -> Config:
    """Mixtral's experts, or DeepSeek's where some are shared: Mistral Large 3 runs its code."""
    if not isinstance(mixture, dict):
        return {}
    fields = {new: mixture[old] for old, new in _OF_EXPERTS.items() if old in mixture}
    if fields.get("n_shared_experts"):
        return {"model_type": "deepseek_v3", "topk_method": None, **fields}
    return {"model_type": "mixtral", "num_local_experts": fields.pop("n_routed_experts", None), **fields}


def _inner(config: Config) -> int | None:
    """Llama's inner width: ⅔ · 4 · dim, times a multiplier, up to a multiple."""
    width, multiple = config.get("dim"), config.get("multiple_of", 256)
    if not isinstance(width, int) or not isinstance(multiple, int) or multiple < 1:
        return None
    wide = int(2 * 4 * width / 3)
    wide = int(figure(str(config.get("ffn_dim_multiplier") or 1)) * wide)
    return multiple * -(-wide // multiple)
