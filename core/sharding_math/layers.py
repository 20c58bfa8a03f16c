"""The two cuts of a linear layer, and the MLPs they make, on a group of ranks.

A layer takes tensors as the ranks hold them and weights as they are before the cut, (out, in).
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from core.sharding_math.group import Group
from core.sharding_math.tensors import Array, ShardedTensor

Activation: TypeAlias = Callable[[Array], Array]


def relu(values: Array) -> Array:
    """max(0, v) of every entry."""
    return np.maximum(values, 0)


def silu(values: Array) -> Array:
    """v / (1 + e⁻ᵛ) of every entry."""
    return np.asarray(values / (1 + np.exp(-values)))


def column_layer(group: Group, x: ShardedTensor, W: Array, name: str = "y", weight: str = "W") -> ShardedTensor:
    """A column-parallel layer on a group: y stays sharded, no collective."""
    return group.linear(name, x, group.shard(weight, W, 0, "out_features"))


def row_layer(group: Group, x: ShardedTensor, W: Array, name: str = "y", weight: str = "W") -> ShardedTensor:
    """A row-parallel layer on a group: the partial products, then their all-reduce."""
    return all_reduced(group, row_product(group, x, W, name, weight), name)


def row_product(group: Group, x: ShardedTensor, W: Array, name: str = "y", weight: str = "W") -> ShardedTensor:
    """What the ranks of a row-parallel layer have before they talk: the terms of a sum."""
    return group.linear(f"partial {name}", x, group.shard(weight, W, 1, "in_features"))


def all_reduced(
    group: Group, partial: ShardedTensor, name: str = "y", layer: str = "row-parallel"
) -> ShardedTensor:
    """The sum of the ranks' terms, on every rank."""
    return group.all_reduce(name, partial, layer=layer, why=f"adds the ranks' terms of {name}")


def mlp_layer(group: Group, x: ShardedTensor, W1: Array, W2: Array, activation: Activation = relu) -> ShardedTensor:
    """An MLP on a group: a column-parallel layer, the activation on each slice, a row-parallel layer."""
    hidden = column_layer(group, x, W1, name="h", weight="W1")
    return row_layer(group, group.pointwise("σ(h)", activation, hidden), W2, weight="W2")


def gated_mlp_product(group: Group, x: ShardedTensor, Wg: Array, Wu: Array, Wd: Array) -> ShardedTensor:
    """SwiGLU up to its sum. Gate and up are cut alike, so that a rank's slices meet entry by entry.

    silu(X·Wg[F_N, D]ᵀ) ⊙ (X·Wu[F_N, D]ᵀ) · Wd[D, F_N]ᵀ → Y[T, D]{U_N}
    """
    gate = column_layer(group, x, Wg, name="gate", weight="Wg")
    up = column_layer(group, x, Wu, name="up", weight="Wu")
    hidden = group.local("h", lambda g, u: silu(g) * u, (gate, up), gate.placement)
    return row_product(group, hidden, Wd, weight="Wd")
