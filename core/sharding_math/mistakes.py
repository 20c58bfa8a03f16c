"""The classic mistakes of a sharded layer, computed as they would be, beside the layer done right."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from core.errors import UnknownNameError
from core.sharding_math.examples import HeadShare, attention_step, layer_arrays, mlp_arrays
from core.sharding_math.group import Group
from core.sharding_math.layers import column_layer, mlp_layer, relu, row_layer, row_product
from core.sharding_math.tensors import Array, Partial, Replicate, ShardedTensor, Trace

BIAS = np.array([1.0, -0.5, 0.5, 2.0])


@dataclass(frozen=True)
class Gap:
    """How wrong a result is: entries over all ranks that differ, and the largest difference, with its place."""

    wrong: int
    entries: int
    largest: float
    rank: int
    index: int


@dataclass(frozen=True, eq=False)
class Broken:
    """One mistake: the layer done right, the same done wrong, and the result of one device.

    `unwanted` are the collectives of the wrong one that should not be there, by number.
    """

    right: Trace
    wrong: Trace
    dense: Array
    unwanted: tuple[int, ...] = ()

    def gap(self) -> Gap:
        """The wrong result against the dense one, on every rank. Differences under 1e-9 are rounding."""
        apart = np.stack([part - self.dense for part in self.wrong.result.parts])  # (N, T, F)
        rank, token, index = np.unravel_index(int(np.argmax(np.abs(apart))), apart.shape)
        wrong = int((np.abs(apart) > 1e-9).sum())
        return Gap(wrong, apart.size, float(apart[rank, token, index]), int(rank), int(index))


def _partial(group: Group) -> ShardedTensor:
    x, W = layer_arrays()
    return row_product(group, group.shard("x", x, -1, "in_features"), W)


def _row(group: Group) -> None:
    group.all_reduce("y", _partial(group))


def _no_all_reduce(group: Group) -> None:
    partial = _partial(group)
    group.claim("y", partial.parts, Replicate(), (partial.name,))


def _reduced_twice(group: Group) -> None:
    once = group.all_reduce("sum", _partial(group))
    group.all_reduce("y", group.claim("again", once.parts, Partial(), (once.name,)))


def _mean_for_sum(group: Group) -> None:
    group.pointwise("y", lambda total: total / group.num_ranks, group.all_reduce("sum", _partial(group)))


def _row_activation(group: Group) -> None:
    group.pointwise("σ(y)", relu, group.all_reduce("y", _partial(group)))


def _activation_before_sum(group: Group) -> None:
    partial = _partial(group)
    bent = group.claim("σ(partial)", [relu(part) for part in partial.parts], Partial(), (partial.name,))
    group.all_reduce("σ(y)", bent)


def _row_bias(group: Group) -> None:
    group.add_bias("y + b", group.all_reduce("y", _partial(group)), BIAS)


def _bias_on_every_rank(group: Group) -> None:
    partial = _partial(group)
    biased = group.claim("partial + b", [part + BIAS for part in partial.parts], Partial(), (partial.name,))
    group.all_reduce("y + b", biased)


def _attention(group: Group) -> None:
    attention_step(group, HeadShare(group.num_ranks))


class _FirstHeads(HeadShare):
    """Keys and values cut without regard to whose queries use them: every rank takes the first ones."""

    def of(self, rank: int) -> slice:
        """The same heads on every rank."""
        return super().of(0)


def _kv_not_sharded(group: Group) -> None:
    attention_step(group, _FirstHeads(group.num_ranks))


def _column_row(group: Group) -> None:
    x, W1, W2 = mlp_arrays()
    mlp_layer(group, group.replicate("x", x), W1, W2)


def _row_column(group: Group) -> None:
    """Right, and dear: the hidden row is summed, and the result is left in slices that must be gathered."""
    x, W1, W2 = mlp_arrays()
    hidden = row_layer(group, group.shard("x", x, -1, "in_features"), W1, name="h", weight="W1")
    slices = column_layer(group, group.pointwise("σ(h)", relu, hidden), W2, name="slices", weight="W2")
    group.all_gather("y", slices)


def _column_column(group: Group) -> None:
    """Right, and dear: the second layer needs all of the hidden row, and leaves its own result in slices."""
    x, W1, W2 = mlp_arrays()
    hidden = group.pointwise("σ(h)", relu, column_layer(group, group.replicate("x", x), W1, name="h", weight="W1"))
    slices = column_layer(group, group.all_gather("h on all", hidden), W2, name="slices", weight="W2")
    group.all_gather("y", slices)


_Layer: TypeAlias = Callable[[Group], None]


@dataclass(frozen=True)
class _Mistake:
    """The layer as it should be and as it was done. `unwanted`: which of the collectives it sent should not be."""

    right: _Layer
    wrong: _Layer
    unwanted: tuple[int, ...] = ()


_MISTAKES: Mapping[str, _Mistake] = MappingProxyType(
    {
        "no_all_reduce": _Mistake(_row, _no_all_reduce),
        "reduced_twice": _Mistake(_row, _reduced_twice, (1,)),
        "mean_for_sum": _Mistake(_row, _mean_for_sum),
        "activation_before_sum": _Mistake(_row_activation, _activation_before_sum),
        "bias_on_every_rank": _Mistake(_row_bias, _bias_on_every_rank),
        "kv_not_sharded": _Mistake(_attention, _kv_not_sharded),
        "row_then_column": _Mistake(_column_row, _row_column, (0, 1)),
        "column_then_column": _Mistake(_column_row, _column_column, (0, 1)),
    }
)
DEAR_ORDERS = ("row_then_column", "column_then_column")
"""Orders of the two cuts that give the right result and cost more than they need."""

MISTAKES = tuple(name for name in _MISTAKES if name not in DEAR_ORDERS)
"""The mistakes by name, in the order a learner meets them. Each gives a wrong result."""


def broken(name: str, num_ranks: int) -> Broken:
    """A mistake, or a dear order, on a drawn layer over `num_ranks` ranks, beside how it should be.

    Raises UnknownNameError, IndivisibleError.
    """
    if name not in _MISTAKES:
        raise UnknownNameError("mistake", name, _MISTAKES)
    mistake = _MISTAKES[name]
    right, wrong, dense = (
        _trace(layer, ranks)
        for layer, ranks in ((mistake.right, num_ranks), (mistake.wrong, num_ranks), (mistake.right, 1))
    )
    return Broken(right, wrong, dense.result.full(), mistake.unwanted)


def _trace(layer: _Layer, num_ranks: int) -> Trace:
    group = Group(num_ranks)
    layer(group)
    return group.trace()
