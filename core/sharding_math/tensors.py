"""A tensor as N ranks hold it, in the words of torch.distributed.tensor: Shard(dim), Replicate, Partial."""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from core.errors import OutOfRangeError, require_divides
from core.ledger import Collective

Array: TypeAlias = NDArray[Any]


@dataclass(frozen=True)
class Shard:
    """Rank r holds the r-th of N equal slices along `dim`."""

    dim: int


@dataclass(frozen=True)
class Replicate:
    """Every rank holds the whole tensor."""


@dataclass(frozen=True)
class Copied:
    """As Shard with fewer slices than ranks: `copies` neighbours hold the same one, as with KV heads."""

    dim: int
    copies: int


@dataclass(frozen=True)
class Partial:
    """Every rank holds a full-shaped term of a sum that nobody has taken yet: `{U_N}`."""


Placement: TypeAlias = Shard | Copied | Replicate | Partial
Origin: TypeAlias = Literal["given", "linear", "pointwise", "all_reduce", "all_gather", "reduce_scatter", "claimed"]


@dataclass(frozen=True, eq=False)
class ShardedTensor:
    """One tensor over N ranks: `parts[r]` is what rank r holds, `placement` says what the parts mean.

    `origin` and `sources` say which operation made it, and out of which tensors.
    """

    name: str
    parts: tuple[Array, ...]
    placement: Placement
    origin: Origin = "given"
    sources: tuple[str, ...] = ()

    @property
    def num_ranks(self) -> int:
        return len(self.parts)

    @property
    def shape(self) -> tuple[int, ...]:
        shape = list(self.parts[0].shape)
        if isinstance(self.placement, Shard | Copied):
            shape[self.placement.dim] *= self.num_slices
        return tuple(shape)

    @property
    def num_slices(self) -> int:
        """How many different slices the ranks hold between them: N, unless some are copies."""
        return self.num_ranks // (self.placement.copies if isinstance(self.placement, Copied) else 1)

    def slice_of(self, rank: int) -> int:
        return rank * self.num_slices // self.num_ranks

    def full(self) -> Array:
        """The whole tensor, put together by the reader of the figure: no rank does this, and nothing is sent.

        Raises OutOfRangeError on a sum not yet taken.
        """
        if isinstance(self.placement, Partial) and self.num_ranks > 1:
            raise OutOfRangeError("placement", self.name, "no_value_yet")
        if isinstance(self.placement, Shard | Copied):
            distinct = self.parts[:: self.num_ranks // self.num_slices]
            return np.concatenate(distinct, axis=self.placement.dim)
        return self.parts[0]


@dataclass(frozen=True)
class Trace:
    """What a group of ranks held and sent, in order. The last tensor is the result."""

    num_ranks: int
    entries: tuple[ShardedTensor | Collective, ...]

    @property
    def tensors(self) -> tuple[ShardedTensor, ...]:
        return tuple(entry for entry in self.entries if isinstance(entry, ShardedTensor))

    @property
    def collectives(self) -> tuple[Collective, ...]:
        return tuple(entry for entry in self.entries if isinstance(entry, Collective))

    @property
    def result(self) -> ShardedTensor:
        return self.tensors[-1]

    def tensor(self, name: str) -> ShardedTensor:
        """The tensor of that name. Raises KeyError."""
        return {tensor.name: tensor for tensor in self.tensors}[name]


def split(dim_name: str, array: Array, num_ranks: int, dim: int) -> tuple[Array, ...]:
    """`array` in N equal, read-only slices along `dim`.

    Raises IndivisibleError, which calls the dimension `dim_name`.
    """
    require_divides(dim_name, array.shape[dim], "num_ranks", num_ranks)
    return tuple(read_only(part) for part in np.split(array, num_ranks, axis=dim))


def read_only(array: Array) -> Array:
    """A view that cannot be written through: a log must not change after the fact."""
    view = array.view()
    view.flags.writeable = False
    return view
