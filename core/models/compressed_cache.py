"""What vLLM allots a sequence of DeepSeek-V4: blocks of one pool, by groups of layers that keep unlike rows.

A block has a page of each kind of row for as many layers as groups repeat; whoever claims one has it whole.
Layers that compress claim one for each 256 tokens. The windows, and the states of the compressors in blocks of 4
and of 8 tokens, claim theirs for what they see and for all tokens in flight, however short the sequence is.
Held to what vLLM printed on two GH200: 6.66 GiB for one request of 30,000 tokens, 13,528 tokens in 5.44 GiB.

Source: vLLM 0.33.0 models/deepseek_v4/attention.py and compressor.py (get_kv_cache_spec), v1/kv_cache_interface.py
(SlidingWindowSpec.max_admission_blocks_per_request), v1/core/kv_cache_planning.py (_get_packed_kv_cache_groups).
"""

from dataclasses import dataclass

from core.models.parameters import dtype_bytes
from core.specs import CompressedSpec, ModelSpec

BLOCK_TOKENS = 256
"""Tokens of a block of what was compressed: of 64 rows where four are one."""
_WINDOW_BLOCK_TOKENS = 64
_STATE_BLOCK_TOKENS = {4: 4, 128: 8}
_ROTATED_AND_SCALES_BYTES = 64 + 8
"""Of a row in 8 bits: its 64 rotated elements stay in 16 bits, and seven scales with one more to fill up."""
_ALIGNED_BYTES = {True: 576, False: 512}
BATCHES_IN_FLIGHT = 2
"""Steps that are scheduled and not yet settled: the next is made up while one runs."""


@dataclass(frozen=True)
class _Counted:
    """Layers by what they keep, and how often a block repeats their pages."""

    attention: CompressedSpec
    windows: int
    narrow: int
    wide: int

    @property
    def repeats(self) -> int:
        """The repeat that pads groups least, no fewer than layers with two kinds of state; of equals the largest.

        Σ (⌈n / d⌉ · d - n) over windows, narrow and wide
        """
        groups = [count for count in (self.windows, self.narrow, self.wide) if count]
        tried = range(max(1, self.narrow), max(groups) + 1)
        return min(tried, key=lambda d: (sum(-count % d for count in groups), -d))


def has_compressed_layers(model: ModelSpec) -> bool:
    """Whether any layer keeps its tokens compressed."""
    return any(isinstance(block, CompressedSpec) for kind, _ in model.kinds_of() for block in kind.blocks)


def compressed_sequence_bytes(
    model: ModelSpec, tokens: float, dtype: str, in_flight: float, first_layer: int = 0, layers: int | None = None
) -> float:
    """Bytes of blocks that a sequence claims while so many of its tokens are in flight; 0 without such layers.

    blocks = ⌈S/256⌉ + windows' groups · w(128, 64) + w(8, 4) + w(128, 8),  w(W, b) = ⌈min(W-1+F, S)/b⌉ + 1
    """
    counted = _counted(model, first_layer, layers)
    if counted is None:
        return 0.0

    def claimed(window: int, block: int) -> int:
        return _blocks(min(window - 1 + in_flight, tokens), block) + 1

    blocks = _blocks(tokens, BLOCK_TOKENS) if counted.narrow + counted.wide else 0
    blocks += _blocks(counted.windows, counted.repeats) * claimed(counted.attention.window, _WINDOW_BLOCK_TOKENS)
    blocks += claimed(2 * 4, _STATE_BLOCK_TOKENS[4]) if counted.narrow else 0
    blocks += claimed(128, _STATE_BLOCK_TOKENS[128]) if counted.wide else 0
    return float(blocks * block_bytes(counted.repeats, counted.attention, dtype))


def block_bytes(repeats: int, attention: CompressedSpec, dtype: str) -> int:
    """One block of the pool: a page of rows by four, of the indexer's keys and of rows by 128, each so often."""
    in_8_bits = dtype_bytes(dtype) == 1
    row = attention.head_dim + _ROTATED_AND_SCALES_BYTES if in_8_bits else attention.head_dim * dtype_bytes(dtype)
    key = attention.index_dim + attention.index_dim / 128 * 4
    pages = (BLOCK_TOKENS / 4 * row, BLOCK_TOKENS / 4 * key, BLOCK_TOKENS / 128 * row)
    aligned = _ALIGNED_BYTES[in_8_bits]
    return repeats * sum(_blocks(page, aligned) * aligned for page in pages)


def _counted(model: ModelSpec, first_layer: int, layers: int | None) -> _Counted | None:
    found = [
        (block, n)
        for kind, n in model.kinds_of(first_layer, layers)
        for block in kind.blocks
        if isinstance(block, CompressedSpec)
    ]
    if not found:
        return None
    by_ratio = {ratio: sum(n for block, n in found if block.ratio == ratio) for ratio in (4, 128)}
    widest = max((block for block, _ in found), key=lambda block: block.index_dim)
    return _Counted(widest, sum(n for _, n in found), by_ratio[4], by_ratio[128])


def _blocks(amount: float, each: int) -> int:
    return int(-(-amount // each))
