"""What a token leaves in the KV cache, and how many tokens a rank's memory holds, in blocks, as engines count."""

from math import floor

from core.errors import require_divides, require_non_negative, require_positive
from core.models.parameters import dtype_bytes
from core.specs import ModelSpec

BLOCK_TOKENS = 16
"""Tokens a KV block. Source: vLLM's default block size."""


def kv_bytes_per_token(model: ModelSpec, dtype: str = "bf16") -> float:
    """Bytes a token leaves in the KV cache over all layers.

        GQA: 2 · L · k · hd · b        MLA: L · (kv_lora_rank + qk_rope_head_dim) · b

    Layers with a sliding window are counted as if they kept every token: see `kept_tokens`.
    """
    return model.num_hidden_layers * _kv_width(model, model.num_key_value_heads) * dtype_bytes(dtype)


def kv_bytes_per_token_per_rank(model: ModelSpec, tp_size: int, dtype: str = "bf16") -> float:
    """The same on one of `tp_size` ranks: KV heads are distributed, and repeated where ranks outnumber them.

    A latent cache (MLA) is whole on every rank.

    Raises IndivisibleError when heads and ranks do not divide either way.
    """
    heads = kv_heads_per_rank(model, tp_size)
    return model.num_hidden_layers * _kv_width(model, heads) * dtype_bytes(dtype)


def kept_tokens(model: ModelSpec, tokens: float, step_tokens: int = 0) -> float:
    """Tokens that a sequence of so many keeps, in the mean over its layers; all of them where none has a window.

        (full · S + windowed · min(S, W - 1 + step)) / L

    An engine keeps for a windowed layer what the window and the `step_tokens` of one step see; with 0 the window
    itself, which is what a decode step reads.
    Source: vllm/v1/kv_cache_interface.py, SlidingWindowSpec.max_memory_usage_bytes.
    """
    if not model.windowed_layers:
        return tokens
    seen = min(tokens, model.sliding_window - 1 + step_tokens if step_tokens else model.sliding_window)
    windowed = model.windowed_layers / model.num_hidden_layers
    return (1 - windowed) * tokens + windowed * seen


def kv_heads_per_rank(model: ModelSpec, tp_size: int) -> int:
    """KV heads on one rank, at least one.

    Raises IndivisibleError when neither of `num_key_value_heads` and `tp_size` divides the other.
    """
    if tp_size > model.num_key_value_heads:
        require_divides("tp_size", tp_size, "num_key_value_heads", model.num_key_value_heads)
        return 1
    return require_divides("num_key_value_heads", model.num_key_value_heads, "tp_size", tp_size)


def kv_blocks(available_bytes: float, model: ModelSpec, tp_size: int, dtype: str = "bf16") -> int:
    """Whole blocks of KV cache that fit one rank.

        ⌊available / (16 · kv bytes a token and rank)⌋

    Under TP a block is smaller on each rank, so there are more of them, not fewer.
    """
    require_non_negative(available_bytes=available_bytes)
    return floor(available_bytes / (BLOCK_TOKENS * kv_bytes_per_token_per_rank(model, tp_size, dtype)))


def kv_tokens(available_bytes: float, model: ModelSpec, tp_size: int, dtype: str = "bf16") -> int:
    """Tokens of KV cache that fit one rank: whole blocks only."""
    return BLOCK_TOKENS * kv_blocks(available_bytes, model, tp_size, dtype)


def max_concurrency(available_bytes: float, model: ModelSpec, tp_size: int, max_model_len: int) -> float:
    """Sequences of full length that fit, as a startup log prints it: a sequence takes whole blocks.

    blocks / ⌈max_model_len / 16⌉
    """
    require_positive(max_model_len=max_model_len)
    return kv_blocks(available_bytes, model, tp_size) / -(-max_model_len // BLOCK_TOKENS)


def _kv_width(model: ModelSpec, kv_heads: int) -> int:
    """Elements one token leaves in one layer's cache."""
    if model.mla is not None:
        return model.mla.kv_lora_rank + model.mla.qk_rope_head_dim
    return 2 * kv_heads * model.head_dim
