"""The classic mistakes of a sharded layer, computed as they would be, beside the layer done right."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from core.errors import UnknownNameError
from core.sharding_math.examples import HeadShare, attention_step
from core.sharding_math.group import Group
from core.sharding_math.layers import column_layer, mlp_layer, relu, row_layer
from core.sharding_math.problems import attention_problem, row_problem, square_mlp_problem
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
    """One mistake: the layer done right, the same done wrong, and the result of one device."""

    right: Trace
    wrong: Trace
    dense: Array

    def gap(self) -> Gap:
        """The wrong result against the dense one, on every rank. Differences under 1e-9 are rounding."""
        apart = np.stack([part - self.dense for part in self.wrong.result.parts])  # (N, T, F)
        rank, token, index = np.unravel_index(int(np.argmax(np.abs(apart))), apart.shape)
        wrong = int((np.abs(apart) > 1e-9).sum())
        return Gap(wrong, apart.size, float(apart[rank, token, index]), int(rank), int(index))


def _partial(group: Group) -> ShardedTensor:
    problem = row_problem()
    x = group.shard("x", problem.x, -1, "in_features")
    return group.linear("partial y", x, group.shard("W", problem.weights[0], 1, "in_features"))


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
    group.all_reduce("y", bent)


def _row_bias(group: Group) -> None:
    group.add_bias("y + b", group.all_reduce("y", _partial(group)), BIAS)


def _bias_on_every_rank(group: Group) -> None:
    partial = _partial(group)
    biased = group.claim("partial + b", [part + BIAS for part in partial.parts], Partial(), (partial.name,))
    group.all_reduce("y", biased)


def _attention(group: Group) -> None:
    attention_step(group, HeadShare(group.num_ranks, attention_problem()))


class _FirstHeads(HeadShare):
    """Keys and values dealt without regard to whose queries use them: every rank takes the first ones."""

    def own(self, rank: int) -> slice:
        """The same heads on every rank."""
        return super().own(0)


def _kv_not_sharded(group: Group) -> None:
    attention_step(group, _FirstHeads(group.num_ranks, attention_problem()))


def _column_row(group: Group) -> None:
    x, (W1, W2) = square_mlp_problem().x, square_mlp_problem().weights
    mlp_layer(group, group.replicate("x", x), W1, W2)


def _row_column(group: Group) -> None:
    """Right, and dear: the hidden row is summed, and the result is left in slices that must be gathered."""
    x, (W1, W2) = square_mlp_problem().x, square_mlp_problem().weights
    hidden = row_layer(group, group.shard("x", x, -1, "in_features"), W1, name="h", weight="W1")
    slices = column_layer(group, group.pointwise("σ(h)", relu, hidden), W2, name="slices", weight="W2")
    group.all_gather("y", slices)


def _column_column(group: Group) -> None:
    """Right, and dear: the second layer needs all of the hidden row, and leaves its own result in slices."""
    x, (W1, W2) = square_mlp_problem().x, square_mlp_problem().weights
    hidden = group.pointwise("σ(h)", relu, column_layer(group, group.replicate("x", x), W1, name="h", weight="W1"))
    slices = column_layer(group, group.all_gather("h on all", hidden), W2, name="slices", weight="W2")
    group.all_gather("y", slices)


_Layer: TypeAlias = Callable[[Group], None]
_FAULTS: Mapping[str, tuple[_Layer, _Layer]] = MappingProxyType(
    {
        "no_all_reduce": (_row, _no_all_reduce),
        "reduced_twice": (_row, _reduced_twice),
        "mean_for_sum": (_row, _mean_for_sum),
        "activation_before_sum": (_row_activation, _activation_before_sum),
        "bias_on_every_rank": (_row_bias, _bias_on_every_rank),
        "kv_not_sharded": (_attention, _kv_not_sharded),
    }
)
_ORDERS: Mapping[str, tuple[_Layer, _Layer]] = MappingProxyType(
    {"row_then_column": (_column_row, _row_column), "column_then_column": (_column_row, _column_column)}
)
FAULTS = tuple(_FAULTS)
"""The mistakes by name, in the order a learner meets them. Each gives a wrong result."""

DEAR_ORDERS = tuple(_ORDERS)
"""Orders of the two cuts that give the right result and cost more than they need."""


def broken(fault: str, num_ranks: int) -> Broken:
    """A mistake, or a dear order, on a drawn problem over `num_ranks` ranks, beside how it should be.

    Raises UnknownNameError, IndivisibleError.
    """
    known = {**_FAULTS, **_ORDERS}
    if fault not in known:
        raise UnknownNameError("mistake", fault, known)
    right, wrong = known[fault]
    return Broken(_trace(right, num_ranks), _trace(wrong, num_ranks), _trace(right, 1).result.full())


def _trace(layer: _Layer, num_ranks: int) -> Trace:
    group = Group(num_ranks)
    layer(group)
    return group.trace()
