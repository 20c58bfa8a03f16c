"""The arithmetic that mixes a prompt's tokens, by the kind of layer: attention's products, or a state's."""

from core.specs import (
    AttentionSpec,
    Block,
    CompressedSpec,
    DeltaSpec,
    LightningSpec,
    MambaSpec,
    MlaSpec,
    ModelSpec,
    SelectiveSpec,
)


def mixing_flops(block: Block, model: ModelSpec, tokens: int) -> float:
    """Return the FLOPs that mix a prompt's tokens: two products for each pair that is looked at, or a state's.

    A pair costs two operations an element of a key, and two of a value; a state three products a token.
    """
    match block:
        case AttentionSpec():
            return 2 * block.heads * (block.head_dim + block.out_dim) * _pairs(tokens, block.window)
        case MlaSpec():
            wide = block.qk_nope_head_dim + block.qk_rope_head_dim + block.v_head_dim
            return 2 * model.num_attention_heads * wide * _pairs(tokens, 0)
        case CompressedSpec():
            behind = _pairs(tokens, 0) / block.ratio if block.ratio else 0
            return 4 * block.heads * block.head_dim * (_pairs(tokens, block.window) + behind)
        case DeltaSpec():
            return 6 * block.value_heads * block.key_dim * block.value_dim * tokens
        case LightningSpec():
            return 6 * block.heads * block.head_dim**2 * tokens
        case SelectiveSpec():
            return 6 * block.channels * block.state_size * tokens
        case MambaSpec():
            return 6 * block.heads * block.head_dim * block.state_size * tokens
    return 0.0


def _pairs(tokens: int, window: int) -> float:
    """Pairs of tokens that causal attention looks at: half of the square, or a band as wide as the window."""
    seen = min(window, tokens) if window else tokens
    return seen * tokens - seen**2 / 2
