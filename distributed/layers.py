"""Three shardings of a weight, one class each: by output features, by input features, by vocabulary rows.

Sizes are fixed when a layer is made; `forward` reads as the equation. Weights are (out, in), as torch keeps them.
Letters: N ranks, T tokens, D in features, F out features, V vocabulary. D_N is D/N; {U_N} is a sum over the ranks
that has not been taken yet.
Source: Shoeybi et al. 2019 (Megatron-LM), section 3; nano-vLLM nanovllm/layers/linear.py, one class a sharding.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.errors import require_divides
from distributed.collectives import Group


@dataclass(frozen=True)
class Cut:
    """What a parameter is a part of: a tensor `full_size` long along `dim`, and which part.

    `shard` is the part's number where that is not the rank's own.
    """

    dim: int
    full_size: int
    shard: int | None = None


def cut_of(parameter: nn.Parameter) -> Cut | None:
    """How a rank's parameter was cut; None where every rank has it whole."""
    return parameter.__dict__.get("cut")


def set_cut(parameter: nn.Parameter, cut: Cut | None) -> None:
    """Keep how a parameter was cut beside it: PyTorch's stand-ins for tensors would lose a subclass."""
    parameter.__dict__["cut"] = cut


def sharded(*shape: int, dim: int, full_size: int) -> nn.Parameter:
    """An empty parameter for one rank's part of a tensor that is `full_size` long along `dim`."""
    parameter = nn.Parameter(torch.empty(*shape))
    set_cut(parameter, Cut(dim, full_size))
    return parameter


def full_shape(parameter: nn.Parameter) -> list[int]:
    """The shape of the tensor that a rank's parameter is a part of, or the whole of."""
    shape = list(parameter.shape)
    if cut := cut_of(parameter):
        shape[cut.dim] = cut.full_size
    return shape


def part_of(parameter: nn.Parameter, rank: int) -> tuple[slice, ...]:
    """Where a rank's part lies in the whole tensor, short of rows where padding stands behind the last one."""
    cut = cut_of(parameter)
    if cut is None:
        return (slice(None),)
    size = parameter.shape[cut.dim]
    start = min((rank if cut.shard is None else cut.shard) * size, cut.full_size)
    return (slice(None),) * cut.dim + (slice(start, min(start + size, cut.full_size)),)


def shard_of(full: Tensor, parameter: nn.Parameter, group: Group) -> Tensor:
    """This rank's part of `full`."""
    return full[part_of(parameter, group.rank)]


@torch.no_grad()
def fill(parameter: nn.Parameter, part: Tensor) -> None:
    """Copy `part` to the front of `parameter`; the rows behind it are padding, and zero."""
    parameter.zero_()
    parameter[tuple(slice(n) for n in part.shape)].copy_(part)


class ColumnParallelLinear(nn.Module):
    """A linear layer cut by output features: each rank computes its own part of y, and nothing is sent.

    X[T, D] · W[F_N, D]ᵀ + b[F_N] → Y[T, F_N]
    """

    def __init__(self, in_features: int, out_features: int, group: Group, bias: bool = True) -> None:
        super().__init__()
        self.group = group
        features = require_divides("out_features", out_features, "tp_size", group.size)
        self.weight = sharded(features, in_features, dim=0, full_size=out_features)
        self.bias = sharded(features, dim=0, full_size=out_features) if bias else None

    def load_full(self, weight: Tensor, bias: Tensor | None = None) -> None:
        """Keep this rank's rows of W[F, D], and its part of b[F]."""
        fill(self.weight, shard_of(weight, self.weight, self.group))
        if bias is not None and self.bias is not None:
            fill(self.bias, shard_of(bias, self.bias, self.group))

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight, self.bias)  # (T, F/N)


class RowParallelLinear(nn.Module):
    """A linear layer cut by input features: each rank has one term of the sum, and one all-reduce takes it.

    X[T, D_N] · W[F, D_N]ᵀ → Y[T, F]{U_N} → Y[T, F] + b[F]

    The bias is whole on every rank and added once, after the sum: added before, it would arrive N times.
    """

    def __init__(self, in_features: int, out_features: int, group: Group, bias: bool = True) -> None:
        super().__init__()
        self.group = group
        features = require_divides("in_features", in_features, "tp_size", group.size)
        self.weight = sharded(out_features, features, dim=1, full_size=in_features)
        self.bias = nn.Parameter(torch.empty(out_features)) if bias else None

    def load_full(self, weight: Tensor, bias: Tensor | None = None) -> None:
        """Keep this rank's columns of W[F, D], and the whole of b[F]."""
        fill(self.weight, shard_of(weight, self.weight, self.group))
        if bias is not None and self.bias is not None:
            fill(self.bias, bias)

    def forward(self, x: Tensor) -> Tensor:
        y = F.linear(x, self.weight)  # (T, F), a partial sum
        y = self.group.all_reduce(y, "row_parallel", "sum of partial products")
        return y if self.bias is None else y + self.bias


class ShardedEmbedding(nn.Module):
    """A look-up table cut by vocabulary rows: one rank finds the row, the others give zeros, an all-reduce adds.

    E[V_N, D], tokens[T] → Y[T, D]{U_N} → Y[T, D]

    V is padded up to a multiple of N. As the tied output head: X[T, D] · E[V_N, D]ᵀ → [T, V_N], gathered.
    """

    def __init__(self, vocab_size: int, hidden_size: int, group: Group) -> None:
        super().__init__()
        self.group = group
        self.vocab_size = vocab_size
        self.rows = -(-vocab_size // group.size)
        self.first_row = group.rank * self.rows
        self.weight = sharded(self.rows, hidden_size, dim=0, full_size=vocab_size)

    def load_full(self, weight: Tensor) -> None:
        """Keep this rank's rows of E[V, D], zeros where the vocabulary has ended."""
        fill(self.weight, shard_of(weight, self.weight, self.group))

    def forward(self, tokens: Tensor) -> Tensor:
        row = tokens - self.first_row
        mine = (row >= 0) & (row < self.rows)
        y = F.embedding(row.where(mine, 0), self.weight) * mine.unsqueeze(-1)  # (T, D), zeros for others' tokens
        return self.group.all_reduce(y, "embedding", "one rank has the row")

    def logits(self, x: Tensor) -> Tensor:
        """The score of every token of the vocabulary, on every rank; those of the padding are cut off."""
        y = F.linear(x, self.weight)  # (T, V/N)
        return self.group.all_gather(y, "head", "every rank picks the same token")[..., : self.vocab_size]
