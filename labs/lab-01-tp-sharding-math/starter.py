"""Lab 01, tensor-parallel sharding: your code. The tasks are in README.md.

`y = x @ W.T` throughout: x is (T, D), W is (F, D), as torch keeps it, y is (T, F). N = num_ranks.
What no rank holds all of can only be cut, with np.split or by indexing. What a rank makes of its share stays with
it: only `all_reduce` brings the values of different ranks together.
"""

from collections.abc import Callable

import numpy as np

from core.errors import require_divides
from core.ledger import Ledger
from core.sharding_math.attention import attend
from core.sharding_math.collectives import all_reduce

Array = np.ndarray

__all__ = [
    "all_reduce",
    "attend",
    "attention_tp",
    "column_parallel",
    "mlp_tp",
    "relu",
    "require_divides",
    "row_parallel",
]


def relu(values: Array) -> Array:
    """max(0, v) of every entry. Yours to use."""
    return np.maximum(values, 0)


def column_parallel(
    x: Array, W: Array, num_ranks: int, ledger: Ledger | None = None, bias: Array | None = None
) -> Array:
    """`x @ W.T + bias`, each rank making F/N of the outputs.

        X[T, D] · W[F_N, D]ᵀ → Y[T, F_N]

    Cut the F rows of W over the ranks, multiply on each, and return the slices side by side as (T, F).
    Raise IndivisibleError (`require_divides("out_features", F, "num_ranks", N)`) when F does not divide.
    """
    raise NotImplementedError("lab-01, task 1: column_parallel")


def row_parallel(
    x: Array, W: Array, num_ranks: int, ledger: Ledger | None = None, bias: Array | None = None
) -> Array:
    """`x @ W.T + bias`, each rank multiplying D/N of the inputs.

        X[T, D_N] · W[F, D_N]ᵀ → Y[T, F]{U_N} → all-reduce → Y[T, F]

    Cut the columns of x and of W alike; each rank's product has the right shape and the wrong values until
    `all_reduce(partials, ledger)` adds them. Mind where the bias goes.
    Raise IndivisibleError (`require_divides("in_features", D, "num_ranks", N)`) when D does not divide.
    """
    raise NotImplementedError("lab-01, task 2: row_parallel")


def mlp_tp(
    x: Array,
    W1: Array,
    W2: Array,
    num_ranks: int,
    ledger: Ledger | None = None,
    activation: Callable[[Array], Array] = relu,
) -> Array:
    """`activation(x @ W1.T) @ W2.T` with exactly one all-reduce, whatever N above one.

        X[T, D] · W1[F_N, D]ᵀ → H[T, F_N] → activation → · W2[D, F_N]ᵀ → Y[T, D]{U_N} → all-reduce → Y[T, D]

    W1 is (F, D), W2 is (D, F). A rank keeps its slice of H, and `activation` is called on each slice where it was
    made: nobody needs the rest of H, and to put it together would be a gather.
    Raise IndivisibleError (`require_divides("hidden_features", F, "num_ranks", N)`) when F does not divide.
    """
    raise NotImplementedError("lab-01, task 3: mlp_tp")


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
    """Causal grouped-query attention with whole heads distributed over the ranks, and exactly one all-reduce.

        X[T, D] → Q[T, H_N·h], K, V[T, K_N·h] → A[T, H_N·h] → · Wo[D, (H·h)_N]ᵀ → Y[T, D]{U_N} → all-reduce

    Wq is (H·h, D), Wk and Wv are (K·h, D), Wo is (D, H·h), h = head_dim. `attend(q, k, v, head_dim)` is given: it
    pairs each KV head with H/K consecutive query heads. A rank needs the KV heads of its own query heads; where
    there are more ranks than KV heads, several ranks hold the same one.
    Raise IndivisibleError (`require_divides("num_attention_heads", H, "num_ranks", N)`) when H does not divide.
    """
    raise NotImplementedError("lab-01, task 4: attention_tp")
