"""Bytes of a model's weights, in the three conventions in use, never mixed here. All count an engine's own tensors.

  held  every weight, as a checkpoint holds it: 16.06 GB for Llama-3-8B in bf16.
  step  what the labs count for a decode step: those, but of a mixture only the experts that some token is routed
        to. The labs' 8 ms are this one.
  read  what a step streams: the input embedding is a look-up of one row a token, so it is left out unless the
        head shares it; of a mixture, only the experts that some token is routed to. 15.01 GB for Llama-3-8B.

A quantised width holds for the layers' matrices: 5.70 GB and 4.65 GB in int4, whose groups have a scale.
Left out: the padding of the vocabulary, the rotary table, what a kernel keeps twice (core.models.loaded_weights).
"""

from functools import lru_cache
from typing import NamedTuple

from core.errors import require_positive
from core.models.loaded_weights import rank_tensors
from core.models.parameters import distinct_expert_fraction, padded_vocab_size
from core.specs import ModelSpec

_LOOKED_UP = ("embedding", "positions", "tables")
_NO_WEIGHTS = ("rotary table", "kv up, dequantised")


class _Parts(NamedTuple):
    """Bytes looked up by the token, of routed experts, and of the rest."""

    looked_up: float
    experts: float
    rest: float


def held_weight_bytes(model: ModelSpec, dtype: str = "bf16") -> float:
    """Bytes of all weights, as a checkpoint holds them: the parameters times two, in bf16.

    Raises UnknownNameError for a width that is no weight format.
    """
    return sum(_parts(model, dtype))


def step_weight_bytes(model: ModelSpec, dtype: str = "bf16", tokens: float = 1) -> float:
    """Bytes of weights that the labs count for a step over `tokens` tokens: of a dense model, all that it holds.

        W_step = W_held - experts · (1 - K/E)^T

    Raises UnknownNameError for a width that is no weight format.
    """
    require_positive(tokens=tokens)
    parts = _parts(model, dtype)
    return parts.looked_up + parts.rest + routed_weight_bytes(model, dtype, tokens)


def read_weight_bytes(model: ModelSpec, dtype: str = "bf16", tokens: float = 1) -> float:
    """Bytes of weights that one step over `tokens` tokens streams from memory: the least it can read.

        W_read = W_held - embedding - experts · (1 - K/E)^T

    The look-up of `tokens` embedding rows, a few KiB, is ignored. A shared embedding is read, as the head.
    Raises UnknownNameError for a width that is no weight format.
    """
    require_positive(tokens=tokens)
    parts = _parts(model, dtype)
    return parts.rest + routed_weight_bytes(model, dtype, tokens)


def routed_weight_bytes(model: ModelSpec, dtype: str = "bf16", tokens: float = 1) -> float:
    """Bytes of the routed experts that a step over `tokens` tokens streams; 0 of a dense model."""
    return _parts(model, dtype).experts * distinct_expert_fraction(model, tokens)


@lru_cache(maxsize=1024)
def _parts(model: ModelSpec, dtype: str) -> _Parts:
    shared = {"embedding"} if model.tie_word_embeddings else set()
    looked_up = experts = rest = 0.0
    real_rows = model.vocab_size / padded_vocab_size(model.vocab_size)
    for tensor in rank_tensors(model, dtype=dtype):
        padded = tensor.name in ("embedding", "head", "head bias")
        size = round(tensor.copies * tensor.size_bytes * (real_rows if padded else 1))
        if tensor.group == "experts":
            experts += size
        elif tensor.name in _LOOKED_UP and tensor.name not in shared:
            looked_up += size
        elif tensor.name not in _NO_WEIGHTS:
            rest += size
    return _Parts(looked_up, experts, rest)
