"""Gradients of the two cuts: each layer owes its sum in the pass where the other does not.

Megatron-LM calls the pair f and g: f is the identity forward and an all-reduce backward, before a column-parallel
layer; g is an all-reduce forward and the identity backward, after a row-parallel one.
Source: Shoeybi et al. 2019, arXiv 1909.08053, section 3.
"""

from dataclasses import dataclass

from core.errors import OutOfRangeError
from core.sharding_math.group import Group
from core.sharding_math.tensors import Array, Partial, Placement, Replicate, Shard, ShardedTensor


@dataclass(frozen=True, eq=False)
class LinearGradients:
    """The input's as the layer before needs it, and the weight's as the rank keeps it: cut as W is, never sent."""

    input: ShardedTensor
    weight: ShardedTensor


def column_backward(group: Group, x: ShardedTensor, W: ShardedTensor, dy: ShardedTensor) -> LinearGradients:
    """Gradients of a column-parallel layer: one all-reduce, for every rank used all of x.

    dX[T, D]{U_N} = dY[T, F_N] · W[F_N, D] → all-reduce;  dW[F_N, D] = dY[T, F_N]ᵀ · X[T, D]
    """
    _require_placements(x, Replicate(), dy, Shard(-1))
    partial = group.claim("partial dx", _each(dy, W), Partial(), (dy.name, W.name))
    dx = group.all_reduce("dx", partial, layer="column-parallel", why="every rank used all of x")
    return LinearGradients(dx, group.claim("dW", _outer(dy, x), Shard(0), (dy.name, x.name)))


def row_backward(group: Group, x: ShardedTensor, W: ShardedTensor, dy: ShardedTensor) -> LinearGradients:
    """Gradients of a row-parallel layer: nothing is sent, for y, and so dY, is on every rank.

    dX[T, D_N] = dY[T, F] · W[F, D_N];  dW[F, D_N] = dY[T, F]ᵀ · X[T, D_N]
    """
    _require_placements(x, Shard(-1), dy, Replicate())
    dx = group.claim("dx", _each(dy, W), Shard(-1), (dy.name, W.name))
    return LinearGradients(dx, group.claim("dW", _outer(dy, x), Shard(1), (dy.name, x.name)))


def _each(dy: ShardedTensor, W: ShardedTensor) -> list[Array]:
    return [dy_r @ W_r for dy_r, W_r in zip(dy.parts, W.parts, strict=True)]


def _outer(dy: ShardedTensor, x: ShardedTensor) -> list[Array]:
    return [dy_r.T @ x_r for dy_r, x_r in zip(dy.parts, x.parts, strict=True)]


def _require_placements(x: ShardedTensor, x_is: Placement, dy: ShardedTensor, dy_is: Placement) -> None:
    for tensor, placement in ((x, x_is), (dy, dy_is)):
        if tensor.placement != placement:
            raise OutOfRangeError("placement", f"{tensor.name}: {tensor.placement}", f"must be {placement}")
