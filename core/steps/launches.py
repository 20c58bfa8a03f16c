"""How many layers' worth of kernels a step launches: the nine of a plain layer are one.

What a layer takes besides its bytes and operations goes by how many kernels it is cut into, and experts, latent
attention and states are cut into more than a plain layer is. Counted in vLLM's and SGLang's model files, where a
shared expert runs beside the routed ones; `core/course/citations/kernels.py` asks the files still. What an engine
fuses differs by release: of the counts that are met, these leave the least error on published times of sources that
were left out.
"""

from functools import lru_cache

from core.specs import (
    AttentionSpec,
    Block,
    CompressedSpec,
    DeltaSpec,
    MlaSpec,
    MlpSpec,
    ModelSpec,
    MoeSpec,
    StateSpec,
)

_MLP, _EXPERTS = 4, 5
"""Norm, gate and up, activation, down. Experts lie between what engines have: a norm and a router, then either one
call or a choice, sorting, two products with an activation between them, and a sum."""
_ATTENTION, _LATENT, _STATE = 5, 11, 8
"""Norm, q/k/v, rotation, attention, output. Latent: norm, the way down, two norms, the way up, two products that
absorb, rotation, attention, its joining, output. States: norm, projections, gate, convolution, scan, output."""
_PLAIN_LAYER = _ATTENTION + _MLP
_INDEXER = 10
"""Its projections, norm, rotation, transform, 8 bits, cache, scores, choice, and where that lies."""
_ROW_NORM = 5
"""A norm over the heads of all ranks, of queries and of keys: squares, their sum over the ranks, scale. One kernel
in vLLM 0.33; the times that are published were of releases before."""
_CHUNKED_DELTA, _CHUNKED_SCAN = 8, 4
"""More kernels that a prompt's states take than a step's one: by chunks, within them and from one to the next.

Source: chunk_gated_delta_rule with its two norms, and _mamba_chunk_scan_combined_fwd, both in vLLM 0.33."""


def is_plain(model: ModelSpec) -> bool:
    """Whether every layer is attention over kept keys and values, and an MLP."""
    blocks = (block for kind, _ in model.kinds_of() for block in kind.blocks)
    return all(isinstance(block, AttentionSpec | MlpSpec) for block in blocks)


@lru_cache(maxsize=1024)
def launched_layers(model: ModelSpec, dtype: str = "bf16", tp_size: int = 1) -> float:
    """Layers of a step, each by its kernels; plain ones are one each, whatever they launch."""
    if is_plain(model):
        return model.num_hidden_layers
    in_blocks = dtype == "fp8" and model.weight_block is not None
    kinds = ((block, count) for kind, count in model.kinds_of() for block in kind.blocks)
    return sum(count * _kernels(block, tp_size, in_blocks) for block, count in kinds) / _PLAIN_LAYER


@lru_cache(maxsize=1024)
def prompt_layers(model: ModelSpec, dtype: str = "bf16", tp_size: int = 1) -> float:
    """Layers of a prompt, each by its kernels, of which states have more than in a step."""
    states = (
        count * (_CHUNKED_DELTA if isinstance(block, DeltaSpec) else _CHUNKED_SCAN)
        for kind, count in model.kinds_of()
        for block in kind.blocks
        if isinstance(block, StateSpec)
    )
    return launched_layers(model, dtype, tp_size) + sum(states) / _PLAIN_LAYER


def _kernels(block: Block, tp_size: int, in_blocks: bool) -> int:
    """Of one block; weights in blocks of 8 bits have their inputs brought to 8 bits first, product by product."""
    match block:
        case MlaSpec() | CompressedSpec():
            return _LATENT + 3 * in_blocks + (_INDEXER if block.index_heads else 0)
        case AttentionSpec():
            norm = _ROW_NORM * (block.qk_norm == "row" and tp_size > 1) + bool(block.qk_norm)
            return _ATTENTION + 2 * in_blocks + norm + (_INDEXER if block.index_heads else 0)
        case MlpSpec():
            return _MLP + 2 * in_blocks
        case MoeSpec():
            return _EXPERTS + 2 * in_blocks
    return _STATE
