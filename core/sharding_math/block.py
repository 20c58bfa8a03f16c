"""A decoder layer over ranks: norm, attention, norm, gated MLP, two residuals, and exactly two sums.

Letters: T tokens, D hidden, F the MLP's width.
"""

from dataclasses import dataclass

import numpy as np

from core.sharding_math.attention import AttentionWeights, attention_product
from core.sharding_math.group import Group
from core.sharding_math.layers import all_reduced, gated_mlp_product
from core.sharding_math.tensors import Array, ShardedTensor

EPSILON = 1e-6


@dataclass(frozen=True, eq=False)
class BlockWeights:
    """One decoder layer: two norms (D,), attention, and a gated MLP: Wg, Wu (F, D), Wd (D, F)."""

    norm1: Array
    attention: AttentionWeights
    norm2: Array
    Wg: Array
    Wu: Array
    Wd: Array


def rms_norm(x: Array, gain: Array) -> Array:
    """x / √(mean(x²) + ε) · gain along the last dimension. It needs a whole row, so a row is never cut for it."""
    return np.asarray(x / np.sqrt(np.mean(np.square(x), axis=-1, keepdims=True) + EPSILON) * gain)


def block_layer(group: Group, x: ShardedTensor, weights: BlockWeights) -> ShardedTensor:
    """One decoder layer: two all-reduces at any N above one, none at one. Norms and residuals are replicated.

    x ← x + attention(norm(x));  x ← x + mlp(norm(x))
    """
    attention = attention_product(group, norm(group, x, weights.norm1), weights.attention)
    x = add(group, x, all_reduced(group, attention, layer="attention"))
    mlp = gated_mlp_product(group, norm(group, x, weights.norm2), weights.Wg, weights.Wu, weights.Wd)
    return add(group, x, all_reduced(group, mlp, layer="MLP"))


def norm(group: Group, x: ShardedTensor, gain: Array) -> ShardedTensor:
    """RMSNorm of whatever whole rows a rank holds; the gain is replicated."""
    return group.local("norm(x)", lambda rows: rms_norm(rows, gain), (x,), x.placement)


def add(group: Group, x: ShardedTensor, y: ShardedTensor) -> ShardedTensor:
    """The residual: every rank adds what it holds of both."""
    return group.local("x + y", np.add, (x, y), x.placement)
