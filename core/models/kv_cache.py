"""What a token leaves in the KV cache, and how many tokens a rank's memory holds, in blocks, as engines count."""

from dataclasses import dataclass
from functools import lru_cache
from math import ceil, floor

from core.errors import require_divides, require_non_negative, require_positive
from core.models.compressed_cache import BATCHES_IN_FLIGHT, compressed_sequence_bytes, has_compressed_layers
from core.models.parameters import dtype_bytes
from core.specs import (
    AttentionSpec,
    Block,
    CompressedSpec,
    ConvSpec,
    DeltaSpec,
    LayerSpec,
    LightningSpec,
    MambaSpec,
    MlaSpec,
    ModelSpec,
    SelectiveSpec,
)

BLOCK_TOKENS = 16
"""Tokens a KV block. Source: vLLM's default block size."""
_INDEX_BYTES = 1 + 4 / 128


def kv_bytes_per_token(model: ModelSpec, dtype: str = "bf16") -> float:
    """Bytes a token leaves in the KV cache over all layers.

        GQA: 2 · L · k · hd · b        MLA: L · (kv_lora_rank + qk_rope_head_dim) · b

    Layers with a sliding window are counted as if they kept every token, and layers that keep a state leave
    nothing: see `sequence_bytes`.
    """
    return kv_bytes_per_token_per_rank(model, 1, dtype)


@lru_cache(maxsize=1024)
def kv_bytes_per_token_per_rank(
    model: ModelSpec, tp_size: int, dtype: str = "bf16", first_layer: int = 0, layers: int | None = None
) -> float:
    """The same on one of `tp_size` ranks: KV heads are distributed, and repeated where ranks outnumber them.

    A latent cache (MLA) is whole on every rank. Of `layers` from `first_layer` on, where they are given.

    Raises IndivisibleError when heads and ranks do not divide either way.
    """
    rows = ((n, row) for kind, n in model.kinds_of(first_layer, layers) for row in _rows(kind, tp_size))
    return sum(n * row.bytes_a_token(dtype) for n, row in rows)


@lru_cache(maxsize=1024)
def state_bytes_per_sequence(
    model: ModelSpec, tp_size: int = 1, first_layer: int = 0, layers: int | None = None
) -> float:
    """Bytes of the states that a sequence has on a rank, whatever its length: linear attention's, Mamba's.

        Σ (heads · key_dim · value_dim · 4 + convolved channels · (kernel - 1) · 2)

    Source: vllm/model_executor/layers/mamba/mamba_utils.py, MambaStateShapeCalculator.
    """
    kinds = model.kinds_of(first_layer, layers)
    return sum(n * sum(_state_bytes(block, model, tp_size) for block in kind.blocks) for kind, n in kinds)


@lru_cache(maxsize=4096)
def sequence_bytes(
    model: ModelSpec,
    tp_size: int,
    tokens: float,
    dtype: str = "bf16",
    step_tokens: int = 0,
    first_layer: int = 0,
    layers: int | None = None,
) -> float:
    """Bytes of cache that a sequence of so many tokens takes on a rank: rows of all, rows of a window, and states.

        Σ row · min(S, W - 1 + step) + states

    An engine keeps for a windowed layer what the window and the `step_tokens` of one step see; with 0 the window
    itself, which is what a decode step reads. Where tokens are compressed it is what an engine allots in blocks.
    Source: vllm/v1/kv_cache_interface.py, SlidingWindowSpec.max_memory_usage_bytes.
    """
    if step_tokens and has_compressed_layers(model):
        in_flight = BATCHES_IN_FLIGHT * step_tokens
        return compressed_sequence_bytes(model, tokens, dtype, in_flight, first_layer, layers)
    rows = ((n, row) for kind, n in model.kinds_of(first_layer, layers) for row in _rows(kind, tp_size))
    kept = sum(n * row.bytes_a_token(dtype) * row.kept(tokens, step_tokens) for n, row in rows)
    return kept + state_bytes_per_sequence(model, tp_size, first_layer, layers)


def held_bytes(
    model: ModelSpec,
    tp_size: int,
    tokens: float,
    dtype: str = "bf16",
    step_tokens: int = 0,
    first_layer: int = 0,
    layers: int | None = None,
) -> float:
    """The same of a sequence whose prompt has been read: where tokens are compressed, with one in flight a step.

    Then only the prompts of one step hold what their tokens in flight take. With a window it is `sequence_bytes`.
    """
    least = 1 if step_tokens and has_compressed_layers(model) else step_tokens
    return sequence_bytes(model, tp_size, tokens, dtype, least, first_layer, layers)


@lru_cache(maxsize=1024)
def step_cache_bytes(model: ModelSpec, tp_size: int, tokens: float, dtype: str = "bf16") -> float:
    """Bytes of cache that one decode step moves for a sequence: its rows are read, its states read and written.

    A layer that looks at an earlier one's rows keeps none of its own, and reads those as often.
    """
    again = sum(n * _read_again(kind, model, tp_size, tokens, dtype) for kind, n in model.kinds_of())
    return sequence_bytes(model, tp_size, tokens, dtype) + state_bytes_per_sequence(model, tp_size) + again


def _read_again(layer: LayerSpec, model: ModelSpec, tp_size: int, tokens: float, dtype: str) -> float:
    """What a layer without rows of its own reads: those of a layer with the same window."""
    windows = [block.window for block in layer.blocks if isinstance(block, AttentionSpec) and not block.kv_heads]
    if not windows:
        return 0.0
    kinds = (kind for kind, _ in model.kinds_of())
    seen = next(kind for kind in kinds if any(_keeps(block, windows[0]) for block in kind.blocks))
    return sum(row.bytes_a_token(dtype) * row.kept(tokens, 0) for row in _rows(seen, tp_size))


def _keeps(block: Block, window: int) -> bool:
    return isinstance(block, AttentionSpec) and block.kv_heads > 0 and block.window == window


def layer_token_bytes(layer: LayerSpec, tp_size: int, dtype: str = "bf16") -> float:
    """Bytes that a token leaves in one layer on a rank; 0 of one that keeps a state or looks at another's."""
    return sum(row.bytes_a_token(dtype) for row in _rows(layer, tp_size))


def hybrid_block_tokens(model: ModelSpec, tp_size: int, dtype: str = "bf16") -> int | None:
    """Tokens of a block of attention that is as large as a layer's state, in sixteens; None without such layers.

        16 · ⌈state / (16 · row)⌉

    Source: vllm/model_executor/models/config.py, HybridAttentionMambaModelConfig.verify_and_update_config.
    """
    rows = (layer_token_bytes(kind, tp_size, dtype) for kind, _ in model.kinds_of())
    states = (sum(_state_bytes(block, model, tp_size) for block in kind.blocks) for kind, _ in model.kinds_of())
    widest, state = max(rows, default=0.0), max(states, default=0.0)
    return BLOCK_TOKENS * ceil(state / (BLOCK_TOKENS * widest)) if widest and state else None


def kept_tokens(model: ModelSpec, tokens: float, step_tokens: int = 0) -> float:
    """Tokens that would take as much as a sequence of so many does, if every layer kept each; states left out.

    All of them where no layer has a window; 0 where none keeps any.
    """
    each = kv_bytes_per_token(model)
    states = state_bytes_per_sequence(model)
    return (sequence_bytes(model, 1, tokens, step_tokens=step_tokens) - states) / each if each else 0.0


@dataclass(frozen=True)
class _Row:
    """What a layer keeps for a token: `elements` for each `ratio` tokens, of the last `window` where that is not 0.

    `fixed_bytes` is the width of an element whose width no engine lets one choose.
    """

    elements: float
    window: int = 0
    ratio: int = 1
    fixed_bytes: float = 0

    def bytes_a_token(self, dtype: str) -> float:
        return self.elements / self.ratio * (self.fixed_bytes or dtype_bytes(dtype))

    def kept(self, tokens: float, step_tokens: int) -> float:
        seen = self.window - 1 + step_tokens if step_tokens else self.window
        return min(tokens, seen) if self.window else tokens


@lru_cache(maxsize=4096)
def _rows(layer: LayerSpec, tp_size: int) -> list[_Row]:
    """What the blocks of a layer keep for a token on one of `tp_size` ranks.

    An indexer keeps its key in eight bits with a scale of four bytes for 128 of them.
    Source: vllm/v1/attention/backends/mla/indexer.py.
    """
    rows: list[_Row] = []
    for block in layer.blocks:
        match block:
            case AttentionSpec():
                heads = heads_on_rank(block.kv_heads, tp_size)
                rows += [_Row(heads * (block.head_dim + block.out_dim), block.window), _Row(block.index_dim)]
            case MlaSpec():
                rows.append(_Row(block.kv_lora_rank + block.qk_rope_head_dim))
                keys = block.index_dim if block.index_heads else 0
                rows.append(_Row(keys, ratio=block.index_pool, fixed_bytes=_INDEX_BYTES))
            case CompressedSpec():
                rows.append(_Row(block.head_dim, block.window))
                rows += [_Row(block.head_dim, ratio=block.ratio)] if block.ratio else []
                if block.index_heads:
                    rows.append(_Row(block.index_dim, ratio=block.ratio, fixed_bytes=_INDEX_BYTES))
            case _:
                pass
    return [row for row in rows if row.elements]


def _state_bytes(block: Block, model: ModelSpec, tp_size: int) -> float:
    """Bytes of one block's state on a rank: its matrix, and the last inputs of its convolution."""
    match block:
        case DeltaSpec():
            heads = require_divides("linear_num_value_heads", block.value_heads, "tp_size", tp_size)
            keys = require_divides("linear_num_key_heads", block.key_heads, "tp_size", tp_size)
            channels = 2 * keys * block.key_dim + heads * block.value_dim
            matrix = heads * block.key_dim * block.value_dim * block.state_bytes
        case LightningSpec():
            heads = require_divides("num_attention_heads", block.heads, "tp_size", tp_size)
            return heads * block.head_dim**2 * block.state_bytes
        case MambaSpec():
            heads = require_divides("mamba heads", block.heads, "tp_size", tp_size)
            groups = 1 if block.groups == 1 else require_divides("mamba groups", block.groups, "tp_size", tp_size)
            channels = heads * block.head_dim + 2 * groups * block.state_size
            matrix = heads * block.head_dim * block.state_size * block.state_bytes
        case SelectiveSpec():
            channels = require_divides("mamba channels", block.channels, "tp_size", tp_size)
            matrix = channels * block.state_size * block.state_bytes
        case ConvSpec():
            return model.hidden_size / tp_size * (block.kernel - 1) * 2
        case _:
            return 0
    return matrix + channels * (block.conv_kernel - 1) * 2


def heads_on_rank(heads: int, tp_size: int) -> int:
    """Of so many heads those of one rank: distributed, and repeated where ranks outnumber them.

    None of a layer that looks at another's. Raises IndivisibleError when neither number divides the other.
    """
    if not heads:
        return 0
    if tp_size > heads:
        require_divides("tp_size", tp_size, "num_key_value_heads", heads)
        return 1
    return require_divides("num_key_value_heads", heads, "tp_size", tp_size)


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
