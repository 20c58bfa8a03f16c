"""The two cuts of a linear layer, the MLP they make, and an embedding cut by vocabulary, on a group of ranks.

A layer takes tensors as the ranks hold them and weights as they are before the cut, (out, in).
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from core.sharding_math.group import Group
from core.sharding_math.tensors import Array, Partial, ShardedTensor

Activation: TypeAlias = Callable[[Array], Array]


def relu(values: Array) -> Array:
    """max(0, v) of every entry."""
    return np.maximum(values, 0)


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


def embedding_layer(group: Group, token_ids: Array, table: Array) -> ShardedTensor:
    """Look-ups in a table whose rows are cut over ranks, padded with zeros until they divide: one all-reduce.

        E[V_N, D] looked up at the ids a rank has, zeros at the others → X[T, D]{U_N} → all-reduce → X[T, D]

    For each token all terms but one are zero, so the sum is exact in any format.
    """
    ids = group.replicate("token", token_ids[:, np.newaxis])
    padding = np.zeros((-table.shape[0] % group.num_ranks, table.shape[1]), table.dtype)
    shards = group.shard("E", np.concatenate([table, padding]), 0, "vocab_size")
    rows = [_masked_rows(part, token_ids, rank) for rank, part in enumerate(shards.parts)]
    partial = group.claim("own rows", rows, Partial(), (shards.name, ids.name))
    return group.all_reduce("x", partial, layer="embedding", why="one rank has each token's row")


def _masked_rows(part: Array, token_ids: Array, rank: int) -> Array:
    """The rows of the ids this rank holds, and zeros for the others."""
    local = token_ids - rank * part.shape[0]
    mine = (local >= 0) & (local < part.shape[0])
    return np.where(mine[:, np.newaxis], part[np.where(mine, local, 0)], 0)
