"""The classic mistakes of a row-parallel layer, computed as they would be, beside the layer done right."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from core.errors import UnknownNameError
from core.sharding.group import Group
from core.sharding.layers import relu
from core.sharding.problems import DrawnProblem, row_problem
from core.sharding.tensors import Array, Partial, Replicate, ShardedTensor, Trace

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


def _partial(group: Group, problem: DrawnProblem) -> ShardedTensor:
    x = group.shard("x", problem.x, -1, "in_features")
    return group.linear("partial y", x, group.shard("W", problem.weights[0], 1, "in_features"))


def _no_all_reduce(group: Group, partial: ShardedTensor) -> None:
    group.claim("y", partial.parts, Replicate(), (partial.name,))


def _reduced_twice(group: Group, partial: ShardedTensor) -> None:
    once = group.all_reduce("sum", partial)
    group.all_reduce("y", group.claim("again", once.parts, Partial(), (once.name,)))


def _mean_for_sum(group: Group, partial: ShardedTensor) -> None:
    group.pointwise("y", lambda total: total / group.num_ranks, group.all_reduce("sum", partial))


def _activation_before_sum(group: Group, partial: ShardedTensor) -> None:
    bent = group.claim("σ(partial)", [relu(part) for part in partial.parts], Partial(), (partial.name,))
    group.all_reduce("y", bent)


def _bias_on_every_rank(group: Group, partial: ShardedTensor) -> None:
    biased = group.claim("partial + b", [part + BIAS for part in partial.parts], Partial(), (partial.name,))
    group.all_reduce("y", biased)


def _right(group: Group, partial: ShardedTensor) -> None:
    group.all_reduce("y", partial)


def _right_activation(group: Group, partial: ShardedTensor) -> None:
    group.pointwise("σ(y)", relu, group.all_reduce("y", partial))


def _right_bias(group: Group, partial: ShardedTensor) -> None:
    group.add_bias("y + b", group.all_reduce("y", partial), BIAS)


_Finish = Callable[[Group, ShardedTensor], None]
_FAULTS: Mapping[str, tuple[_Finish, _Finish]] = MappingProxyType(
    {
        "no_all_reduce": (_right, _no_all_reduce),
        "reduced_twice": (_right, _reduced_twice),
        "mean_for_sum": (_right, _mean_for_sum),
        "activation_before_sum": (_right_activation, _activation_before_sum),
        "bias_on_every_rank": (_right_bias, _bias_on_every_rank),
    }
)
FAULTS = tuple(_FAULTS)
"""The mistakes by name, in the order a learner meets them."""


def broken(fault: str, num_ranks: int) -> Broken:
    """A mistake on the drawn row problem, over `num_ranks` ranks.

    Raises UnknownNameError, IndivisibleError.
    """
    if fault not in _FAULTS:
        raise UnknownNameError("mistake", fault, FAULTS)
    right, wrong = _FAULTS[fault]
    return Broken(_trace(right, num_ranks), _trace(wrong, num_ranks), _trace(right, 1).result.full())


def _trace(finish: _Finish, num_ranks: int) -> Trace:
    group = Group(num_ranks)
    finish(group, _partial(group, row_problem()))
    return group.trace()
