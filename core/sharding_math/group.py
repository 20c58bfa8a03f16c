"""A group of simulated ranks: it shards, multiplies, talks, and logs every tensor and every collective.

Everything a figure draws is read from the log; nothing is drawn that no rank computed.
"""

from collections.abc import Callable, Sequence

import numpy as np

from core.errors import OutOfRangeError, Remark, remark, require_divides, require_positive
from core.ledger import Collective, Ledger
from core.sharding_math.collectives import all_gather, all_reduce, reduce_scatter
from core.sharding_math.numerics import Precision, SumOrder, matmul, rounded_matmul
from core.sharding_math.tensors import (
    Array,
    Copied,
    Origin,
    Partial,
    Placement,
    Replicate,
    Shard,
    ShardedTensor,
    Trace,
    read_only,
    split,
)


class Group:
    """N ranks that share a ledger, a number format and an order of summing.

    Without a format, arrays are computed in the type they came in. A method takes the name of the tensor it makes.
    """

    def __init__(
        self,
        num_ranks: int,
        ledger: Ledger | None = None,
        fmt: Precision | None = None,
        order: SumOrder = "ring",
    ) -> None:
        require_positive(num_ranks=num_ranks)
        self.num_ranks, self.fmt, self.order = num_ranks, fmt, order
        self.ledger = Ledger() if ledger is None else ledger
        self._log: list[ShardedTensor | Collective] = []

    def trace(self) -> Trace:
        return Trace(self.num_ranks, tuple(self._log))

    def shard(self, name: str, array: Array, dim: int, dim_name: str) -> ShardedTensor:
        """Slice r of N along `dim` to rank r. Raises IndivisibleError, in terms of `dim_name`."""
        return self._hold(name, split(dim_name, self._in_format(array), self.num_ranks, dim), Shard(dim))

    def replicate(self, name: str, array: Array) -> ShardedTensor:
        return self._hold(name, (read_only(self._in_format(array)),) * self.num_ranks, Replicate())

    def linear(self, name: str, x: ShardedTensor, W: ShardedTensor) -> ShardedTensor:
        """`x @ W.T` on every rank, with what that rank holds. Nothing is sent.

            X[T, D]   · W[F_N, D]ᵀ → Y[T, F_N]        column-parallel
            X[T, D_N] · W[F, D_N]ᵀ → Y[T, F]{U_N}     row-parallel

        Raises OutOfRangeError for placements that no rank could multiply.
        """
        placement = linear_placement(x.placement, W.placement)
        parts = tuple(self._matmul(x_r, W_r) for x_r, W_r in zip(x.parts, W.parts, strict=True))
        return self._hold(name, parts, placement, "linear", (x.name, W.name))

    def pointwise(self, name: str, fn: Callable[[Array], Array], x: ShardedTensor) -> ShardedTensor:
        """`fn` of every entry, on every rank.

        Raises OutOfRangeError on a sum not yet taken: fn(a + b) is not fn(a) + fn(b).
        """
        self._refuse_partial(x, remark("errors.reduce_pointwise"))
        return self._hold(name, tuple(fn(part) for part in x.parts), x.placement, "pointwise", (x.name,))

    def local(
        self, name: str, fn: Callable[..., Array], inputs: Sequence[ShardedTensor], placement: Placement
    ) -> ShardedTensor:
        """`fn` of what each rank holds of `inputs`. The caller says what the results are together.

        Raises OutOfRangeError when an input is a sum not yet taken.
        """
        for tensor in inputs:
            self._refuse_partial(tensor, remark("errors.reduce_used"))
        parts = tuple(self._in_format(fn(*held)) for held in zip(*(tensor.parts for tensor in inputs), strict=True))
        return self._hold(name, parts, placement, "pointwise", tuple(tensor.name for tensor in inputs))

    def hold(self, name: str, parts: Sequence[Array], placement: Placement) -> ShardedTensor:
        """Parts that were cut some other way than by equal slices."""
        return self._hold(name, tuple(self._in_format(part) for part in parts), placement)

    def add_bias(self, name: str, x: ShardedTensor, bias: Array) -> ShardedTensor:
        """`x + bias`: each rank adds the entries of the columns it holds.

        Raises OutOfRangeError on a sum not yet taken: N ranks would add it N times.
        """
        self._refuse_partial(x, remark("errors.bias_times", ranks=x.num_ranks))
        biases = split("bias", bias, self.num_ranks, 0) if x.placement == Shard(-1) else (bias,) * self.num_ranks
        parts = tuple(part + share for part, share in zip(x.parts, biases, strict=True))
        return self._hold(name, parts, x.placement, "pointwise", (x.name,))

    def all_reduce(self, name: str, x: ShardedTensor, layer: str = "", why: str = "") -> ShardedTensor:
        """Σ over ranks of a partial tensor, to every rank: one ledger line.

        Y[T, F]{U_N} → Y[T, F]
        """
        since = len(self.ledger)
        y = all_reduce(x.parts, self.ledger, layer=layer, why=why, order=self.order, fmt=self.fmt)
        self._log += self.ledger.entries[since:]
        return self._hold(name, (y,) * self.num_ranks, Replicate(), "all_reduce", (x.name,))

    def reduce_scatter(
        self, name: str, x: ShardedTensor, dim: int, dim_name: str, layer: str = "", why: str = ""
    ) -> ShardedTensor:
        """Σ over ranks of a partial tensor, slice r of it to rank r: one ledger line.

        Y[T, F]{U_N} → Y[T_N, F]
        """
        require_divides(dim_name, x.shape[dim], "num_ranks", self.num_ranks)
        since = len(self.ledger)
        parts = reduce_scatter(x.parts, self.ledger, dim=dim, layer=layer, why=why, order=self.order, fmt=self.fmt)
        self._log += self.ledger.entries[since:]
        return self._hold(name, parts, Shard(dim), "reduce_scatter", (x.name,))

    def all_gather(self, name: str, x: ShardedTensor, layer: str = "", why: str = "") -> ShardedTensor:
        """Every rank's slice to every rank: one ledger line.

        Y[T, F_N] → Y[T, F]
        """
        if not isinstance(x.placement, Shard):
            raise OutOfRangeError("placement", x.name, "nothing_to_gather")
        since = len(self.ledger)
        y = all_gather(x.parts, self.ledger, dim=x.placement.dim, layer=layer, why=why, fmt=self.fmt)
        self._log += self.ledger.entries[since:]
        return self._hold(name, (y,) * self.num_ranks, Replicate(), "all_gather", (x.name,))

    def claim(
        self, name: str, parts: Sequence[Array], placement: Placement, sources: tuple[str, ...]
    ) -> ShardedTensor:
        """Parts that are said to be `placement`, whether they are or not: how a mistake enters the log."""
        return self._hold(name, tuple(parts), placement, "claimed", sources)

    def _hold(
        self,
        name: str,
        parts: tuple[Array, ...],
        placement: Placement,
        origin: Origin = "given",
        sources: tuple[str, ...] = (),
    ) -> ShardedTensor:
        tensor = ShardedTensor(name, tuple(map(read_only, parts)), placement, origin, sources)
        self._log.append(tensor)
        return tensor

    @staticmethod
    def _refuse_partial(tensor: ShardedTensor, remedy: Remark) -> None:
        if isinstance(tensor.placement, Partial):
            raise OutOfRangeError("placement", tensor.name, "partial_sum", remedy=remedy)

    def _in_format(self, array: Array) -> Array:
        return self.fmt.rounded(array) if self.fmt and np.issubdtype(array.dtype, np.floating) else array

    def _matmul(self, x: Array, W: Array) -> Array:
        return matmul(x, W) if self.fmt is None else rounded_matmul(x, W, self.fmt)


def linear_placement(x: Placement, W: Placement) -> Placement:
    """What `x @ W.T` is, given what `x` and `W` (out, in) are. `x` is cut along its last dimension, or not at all.

    Raises OutOfRangeError where a rank would lack what it must multiply.
    """
    rules: dict[tuple[Placement, Placement], Placement] = {
        (Replicate(), Replicate()): Replicate(),
        (Replicate(), Shard(0)): Shard(-1),
        (Shard(-1), Shard(1)): Partial(),
    }
    if isinstance(W, Copied) and (x, W.dim) == (Replicate(), 0):
        return Copied(-1, W.copies)
    if (x, W) not in rules:
        raise OutOfRangeError("placement", f"{x} @ {W}.T", "no_product")
    return rules[x, W]
