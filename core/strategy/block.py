"""One transformer block under each strategy: what every rank holds of each weight, and what they send.

The weights are those of the layer list that lab 01 draws, core.sharding_math.layer_parts. Under PP the ranks are
stages, and each has whole layers of its own; under the others they share one layer.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod
from types import MappingProxyType
from typing import Literal, TypeAlias

from core.errors import UnknownNameError, require_divides
from core.sharding_math.layer_parts import LayerPart, layer_parts
from core.specs import ModelSpec
from core.strategy.training.activations import BYTES

Pass = Literal["forward", "backward"]
Held: TypeAlias = tuple[str, int, int]
"""The units, and which of them: `("heads", 0, 7)`."""


@dataclass(frozen=True)
class Weight:
    """One weight over the ranks: `cut` says how, `held` what each has, the units' name and the first and the last.

    A `whole` weight is the same on all ranks, and of a `flat` one each has a part: `("", 1, 4)`, one of four.
    Of several `matrices` in one row each has an equal share of `shape`.
    """

    name: str
    shape: tuple[int, ...]
    cut: Literal["whole", "columns", "rows", "flat", "layers", "experts"]
    held: tuple[Held, ...]
    matrices: int = 1

    @property
    def is_owned(self) -> bool:
        return self.cut != "whole"


@dataclass(frozen=True)
class Transfer:
    """A collective between weights, and in which pass. `payload_bytes` is the full tensor on one rank."""

    op: str
    what: str
    when: Pass
    payload_bytes: float


@dataclass(frozen=True)
class Block:
    """A block under one strategy, from top to bottom."""

    strategy: str
    ranks: int
    rows: tuple[Weight | Transfer, ...]

    @property
    def transfers(self) -> tuple[Transfer, ...]:
        return tuple(row for row in self.rows if isinstance(row, Transfer))


def block_under(strategy: str, model: ModelSpec, ranks: int, tokens: int) -> Block:
    """A block under TP, DDP, FSDP, PP or EP, with `tokens` in the pass.

    Raises OutOfRangeError and IndivisibleError where the model has no such block or does not split over the ranks,
    UnknownNameError for another strategy.
    """
    if strategy not in BLOCKS:
        raise UnknownNameError("block", strategy, BLOCKS)
    return Block(strategy, ranks, tuple(BLOCKS[strategy](model, ranks, tokens)))


def weights_of(model: ModelSpec) -> tuple[LayerPart, ...]:
    """The weights of a layer, uncut; of a mixture its router and its experts, all of a kind as one."""
    if model.moe is None:
        return layer_parts(model, 1)
    hidden, moe = model.hidden_size, model.moe
    attention = layer_parts(replace(model, moe=None, intermediate_size=moe.moe_intermediate_size), 1)[:5]
    wide = moe.moe_intermediate_size
    return (
        *attention,
        LayerPart("router", (moe.num_experts, hidden), (moe.num_experts, hidden), "replicated"),
        LayerPart("experts", (moe.num_experts, 3, wide, hidden), (moe.num_experts, 3, wide, hidden), "replicated"),
    )


def _tensor_parallel(model: ModelSpec, ranks: int, tokens: int) -> Iterator[Weight | Transfer]:
    for part in layer_parts(model, ranks, tokens):
        if part.is_collective:
            yield Transfer(part.name, "partial sums", "forward", part.payload_bytes)
        elif part.cut == "replicated" or ranks == 1:
            yield _whole(part, ranks)
        else:
            held = tuple((part.units, *part.units_of(rank, ranks)) for rank in range(ranks))
            yield Weight(
                part.name, part.rank_shape, "columns" if part.cut == "out" else "rows", held, part.matrices
            )
    if ranks > 1:
        payload = BYTES * tokens * model.hidden_size
        yield Transfer("all-reduce", "twice: the inputs' gradients", "backward", payload)


def _data_parallel(model: ModelSpec, ranks: int, tokens: int) -> Iterator[Weight | Transfer]:
    yield from (_whole(part, ranks) for part in weights_of(model))
    if ranks > 1:
        yield Transfer("all-reduce", "gradients of the block", "backward", block_bytes(model))


def _fully_sharded(model: ModelSpec, ranks: int, tokens: int) -> Iterator[Weight | Transfer]:
    payload = block_bytes(model)
    if ranks == 1:
        yield from _data_parallel(model, ranks, tokens)
        return
    yield Transfer("all-gather", "weights of the block", "forward", payload)
    for part in weights_of(model):
        share = (-(-prod(part.shape) // ranks),)
        yield Weight(part.name, share, "flat", tuple(("", rank + 1, ranks) for rank in range(ranks)))
    yield Transfer("all-gather", "weights again", "backward", payload)
    yield Transfer("reduce-scatter", "gradients of the block", "backward", payload)


def _pipeline(model: ModelSpec, ranks: int, tokens: int) -> Iterator[Weight | Transfer]:
    each = require_divides("num_hidden_layers", model.num_hidden_layers, "pp_size", ranks)
    held = tuple(("layers", rank * each, (rank + 1) * each - 1) for rank in range(ranks))
    for part in weights_of(model):
        yield Weight(part.name, part.shape, "layers", held, part.matrices)
    if ranks > 1:
        payload = BYTES * tokens * model.hidden_size
        yield Transfer("send", "activations to the next stage", "forward", payload)
        yield Transfer("send", "gradients to the stage before", "backward", payload)


def _expert_parallel(model: ModelSpec, ranks: int, tokens: int) -> Iterator[Weight | Transfer]:
    moe = model.mixture
    each = require_divides("num_experts", moe.num_experts, "ep_size", ranks)
    *others, experts = weights_of(model)
    payload = BYTES * tokens * moe.num_experts_per_tok * model.hidden_size
    yield from (_whole(part, ranks) for part in others)
    if ranks > 1:
        yield Transfer("all-to-all", "tokens to their experts", "forward", payload)
    held = tuple(("experts", rank * each, (rank + 1) * each - 1) for rank in range(ranks))
    yield Weight(experts.name, (each, *experts.shape[1:]), "experts", held)
    if ranks > 1:
        yield Transfer("all-to-all", "tokens back to their ranks", "forward", payload)
        dense = BYTES * sum(prod(part.shape) for part in others)
        yield Transfer("all-reduce", "gradients, but not the experts'", "backward", dense)


BLOCKS: Mapping[str, Callable[[ModelSpec, int, int], Iterator[Weight | Transfer]]] = MappingProxyType(
    {
        "TP": _tensor_parallel,
        "DDP": _data_parallel,
        "FSDP": _fully_sharded,
        "PP": _pipeline,
        "EP": _expert_parallel,
    }
)
"""`(model, ranks, tokens) -> rows`, by the strategy's name."""


def block_bytes(model: ModelSpec) -> float:
    """Bytes of one block's weights, two a parameter; biases left out."""
    return float(BYTES * sum(prod(part.shape) for part in weights_of(model)))


def _whole(part: LayerPart, ranks: int) -> Weight:
    return Weight(part.name, part.shape, "whole", (("", 0, 0),) * ranks, part.matrices)
