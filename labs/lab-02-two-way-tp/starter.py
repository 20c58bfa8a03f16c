"""Lab 02, two-way tensor parallelism: your code. The tasks are in README.md.

T tokens, D in_features, F out_features, V vocab_size, N ranks; D_N is D/N. Weights are (out, in), as torch keeps
them. `group.rank` and `group.size` say who you are; `group.all_reduce(y)` sums y over the ranks and gives the sum
to each; `group.all_gather(y)` puts the ranks' y side by side along the last dim. The group counts what you call.
"""

from torch import Tensor, nn

from distributed.collectives import Group


class ColumnParallelLinear(nn.Module):
    """A linear layer cut by output features. Nothing is sent.

    X[T, D] · W[F_N, D]ᵀ + b[F_N] → Y[T, F_N]

    Refuse, with core.errors.require_divides, a layer that does not divide.
    """

    def __init__(self, in_features: int, out_features: int, group: Group, bias: bool = True) -> None:
        raise NotImplementedError("lab-02, task 1: ColumnParallelLinear")

    def load_full(self, weight: Tensor, bias: Tensor | None = None) -> None:
        """Keep this rank's part of W[F, D] and of b[F], as `self.weight` and `self.bias`."""
        raise NotImplementedError("lab-02, task 1: ColumnParallelLinear.load_full")

    def forward(self, x: Tensor) -> Tensor:
        """This rank's features of y."""
        raise NotImplementedError("lab-02, task 1: ColumnParallelLinear.forward")


class RowParallelLinear(nn.Module):
    """A linear layer cut by input features: one all-reduce sums the ranks' terms. The bias is added once.

    X[T, D_N] · W[F, D_N]ᵀ → Y[T, F]{U_N} → Y[T, F] + b[F]
    """

    def __init__(self, in_features: int, out_features: int, group: Group, bias: bool = True) -> None:
        raise NotImplementedError("lab-02, task 2: RowParallelLinear")

    def load_full(self, weight: Tensor, bias: Tensor | None = None) -> None:
        """Keep this rank's part of W[F, D], and what it needs of b[F]."""
        raise NotImplementedError("lab-02, task 2: RowParallelLinear.load_full")

    def forward(self, x: Tensor) -> Tensor:
        """The whole y, on every rank."""
        raise NotImplementedError("lab-02, task 2: RowParallelLinear.forward")


class ShardedEmbedding(nn.Module):
    """A look-up table cut by vocabulary rows, padded with zeros until they divide; tied, it is the output head too.

    E[V_N, D], tokens[T] → Y[T, D]{U_N} → Y[T, D]
    """

    def __init__(self, vocab_size: int, hidden_size: int, group: Group) -> None:
        raise NotImplementedError("lab-02, task 3: ShardedEmbedding")

    def load_full(self, weight: Tensor) -> None:
        """Keep this rank's rows of E[V, D]."""
        raise NotImplementedError("lab-02, task 3: ShardedEmbedding.load_full")

    def forward(self, tokens: Tensor) -> Tensor:
        """Each token's row, on every rank: the rank that has it gives it, the others give zeros."""
        raise NotImplementedError("lab-02, task 3: ShardedEmbedding.forward")

    def logits(self, x: Tensor) -> Tensor:
        """x · Eᵀ for the V tokens that exist, on every rank, by one all-gather."""
        raise NotImplementedError("lab-02, task 3: ShardedEmbedding.logits")


class ParallelMLP(nn.Module):
    """`up_proj`, GELU, `down_proj`, out of your two linear layers: one all-reduce in all.

    X[T, D] → GELU(X·W1ᵀ + b1)[T, F_N] → Y[T, D]
    """

    def __init__(self, hidden_size: int, intermediate_size: int, group: Group, bias: bool = True) -> None:
        raise NotImplementedError("lab-02, task 4: ParallelMLP")

    def forward(self, x: Tensor) -> Tensor:
        """The whole y, on every rank."""
        raise NotImplementedError("lab-02, task 4: ParallelMLP.forward")
