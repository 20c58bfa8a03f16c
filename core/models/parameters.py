"""How many parameters a model has, and how many of them a token uses.

E experts, K experts a token.
"""

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

from core.errors import OutOfRangeError, require_positive
from core.models.parts import VECTORS_A_NORM, layer_parts
from core.specs import DTYPE_BYTES, ModelSpec

VOCAB_PADDING = 64
"""Engines pad the vocabulary to a multiple of this before they cut it.

Source: vllm vocab_parallel_embedding.py, DEFAULT_VOCAB_PADDING_SIZE.
"""


@dataclass(frozen=True)
class ParameterCount:
    """A model's parameters by where they live, over all layers. `head` is 0 where the embedding is shared."""

    embedding: int
    positions: int
    attention: int
    mlp: int
    router: int
    shared_experts: int
    experts: int
    norms: int
    head: int
    routed_fraction: float = 1.0

    @property
    def layers(self) -> int:
        """Everything but the tables at both ends: the stack of layers and the norms."""
        return self.attention + self.mlp + self.router + self.shared_experts + self.experts + self.norms

    @property
    def total(self) -> int:
        """Every parameter, each counted once."""
        return self.embedding + self.positions + self.layers + self.head

    @property
    def active(self) -> int:
        """Parameters one token uses: of the routed experts, K of E; all of the rest."""
        return self.total - self.experts + round(self.experts * self.routed_fraction)


@lru_cache(maxsize=1024)
def count_parameters(model: ModelSpec) -> ParameterCount:
    """A model's parameters, exactly, from its shape.

    Source: the published totals, e.g. 8,030,261,248 for Llama-3-8B, are met to the last parameter.
    """
    sizes = Counter[str]()
    for layer, layers in model.kinds_of():
        for part in layer_parts(model, layer):
            if not part.derived:
                sizes[part.group] += layers * part.elements()
    table, moe = model.vocab_size * model.hidden_size, model.moe
    return ParameterCount(
        embedding=table + model.extra_tables,
        positions=model.learned_positions * model.hidden_size,
        attention=sizes["attention"],
        mlp=sizes["mlp"],
        router=sizes["router"],
        shared_experts=sizes["shared"],
        experts=sizes["experts"],
        norms=sizes["norm"] + model.hidden_size * VECTORS_A_NORM[model.norm] + model.extra_parameters,
        head=(0 if model.tie_word_embeddings else table) + (model.vocab_size if model.head_bias else 0),
        routed_fraction=moe.chosen_fraction if moe else 1.0,
    )


def total_parameters(model: ModelSpec) -> int:
    """Every parameter of the model, each counted once."""
    return count_parameters(model).total


def active_parameters(model: ModelSpec) -> int:
    """Parameters one token uses; the total, for a dense model."""
    return count_parameters(model).active


def distinct_expert_fraction(model: ModelSpec, batch: float) -> float:
    """The share of experts that at least one of `batch` tokens is routed to, were routing uniform; 1 if dense.

    1 - (1 - K/E)^B
    """
    if model.moe is None:
        return 1.0
    return 1.0 - float((1.0 - model.moe.chosen_fraction) ** batch)


def multiplied_parameters(model: ModelSpec) -> int:
    """Parameters that take part in a token's arithmetic: those it uses, but for tables that are looked up."""
    count = count_parameters(model)
    looked_up = model.extra_tables if model.tie_word_embeddings else count.embedding
    return count.active - count.positions - looked_up


def padded_vocab_size(vocab_size: int, multiple: int = VOCAB_PADDING) -> int:
    """The vocabulary with rows added until it divides: by what engines use, or by the ranks of lab 02.

    ⌈V/m⌉ · m
    """
    require_positive(vocab_size=vocab_size, multiple=multiple)
    return -(-vocab_size // multiple) * multiple


def dtype_bytes(dtype: str) -> float:
    """Bytes an element.

    Raises OutOfRangeError for a width that is not in DTYPE_BYTES.
    """
    if dtype not in DTYPE_BYTES:
        raise OutOfRangeError("dtype", dtype, "not_one_of", known=", ".join(DTYPE_BYTES))
    return DTYPE_BYTES[dtype]
