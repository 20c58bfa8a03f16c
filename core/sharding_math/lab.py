"""The labs' functions: a linear layer cut two ways, and the pairs of cuts that make an MLP and attention.

`y = x @ W.T` throughout, W is (out, in). T tokens, D in_features, F out_features or the MLP's width, N ranks.
The arrays may be of any numeric type; a caller who wants the log of what every rank held uses the layers
on a Group and asks it for its trace.
"""

from core.ledger import Ledger
from core.sharding_math.attention import AttentionWeights, attention_product
from core.sharding_math.collectives import all_gather, all_reduce
from core.sharding_math.group import Group
from core.sharding_math.layers import Activation, all_reduced, column_layer, mlp_layer, relu, row_layer
from core.sharding_math.tensors import Array

__all__ = ["all_gather", "all_reduce", "attention_tp", "column_parallel", "mlp_tp", "relu", "row_parallel"]


def column_parallel(
    x: Array, W: Array, num_ranks: int, ledger: Ledger | None = None, bias: Array | None = None
) -> Array:
    """`x @ W.T + bias` with the out_features cut over the ranks; the slices of y side by side.

        X[T, D] · W[F_N, D]ᵀ → Y[T, F_N]

    Costs nothing as long as the next layer takes the slices as they are: only the reader sees them side by side.
    It is W.T whose columns are cut, hence the name; in W, (out, in), they are rows. Raises IndivisibleError.
    """
    group = Group(num_ranks, ledger)
    y = column_layer(group, group.replicate("x", x), W)
    return (y if bias is None else group.add_bias("y + bias", y, bias)).full()


def row_parallel(
    x: Array, W: Array, num_ranks: int, ledger: Ledger | None = None, bias: Array | None = None
) -> Array:
    """`x @ W.T + bias` with the in_features of x and W cut over the ranks; one all-reduce adds the terms.

        X[T, D_N] · W[F, D_N]ᵀ → Y[T, F]{U_N} → all-reduce → Y[T, F]

    The bias comes after the sum: added before it, it would arrive N times. Raises IndivisibleError.
    """
    group = Group(num_ranks, ledger)
    y = row_layer(group, group.shard("x", x, -1, "in_features"), W)
    return (y if bias is None else group.add_bias("y + bias", y, bias)).full()


def mlp_tp(
    x: Array, W1: Array, W2: Array, num_ranks: int, ledger: Ledger | None = None, activation: Activation = relu
) -> Array:
    """`activation(x @ W1.T) @ W2.T`, column-parallel then row-parallel: one all-reduce at any N above one.

        X[T, D] · W1[F_N, D]ᵀ → H[T, F_N] → σ → · W2[D, F_N]ᵀ → Y[T, D]{U_N} → all-reduce → Y[T, D]

    The slices that the first layer leaves are the slices the second one wants, and σ acts on whole entries of H,
    so nothing is sent in between. Raises IndivisibleError.
    """
    group = Group(num_ranks, ledger)
    return mlp_layer(group, group.replicate("x", x), W1, W2, activation).full()


def attention_tp(
    x: Array,
    Wq: Array,
    Wk: Array,
    Wv: Array,
    Wo: Array,
    head_dim: int,
    num_ranks: int,
    ledger: Ledger | None = None,
) -> Array:
    """Causal grouped-query attention with the heads distributed over the ranks: one all-reduce at any N above one.

        X[T, D] → Q[T, H_N·h], K, V[T, K_N·h] → A[T, H_N·h] → · Wo[D, (H·h)_N]ᵀ → Y[T, D]{U_N} → all-reduce

    Each rank has the KV heads that its query heads use; above their number, neighbours hold copies of one.
    Raises IndivisibleError when the heads do not divide, OutOfRangeError when the KV heads cannot be distributed.
    """
    group = Group(num_ranks, ledger)
    weights = AttentionWeights(Wq, Wk, Wv, Wo, head_dim)
    return all_reduced(group, attention_product(group, group.replicate("x", x), weights), layer="attention").full()
