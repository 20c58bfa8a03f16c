"""How many tokens a rank's memory holds, in blocks, as an engine counts them."""

from math import floor

from core.errors import require_non_negative, require_positive
from core.models.parameters import kv_bytes_per_token_per_rank
from core.specs import ModelSpec

BLOCK_TOKENS = 16
"""Tokens a KV block. Source: vLLM's default block size."""


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
