"""A tensor that no rank holds: it can be cut, and a rank's share of it computes on that rank alone.

A share is an array that knows its ranks. What is made of it lives with them too, until a collective, which is in
the ledger, hands it to all.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from core.errors import OutOfRangeError, remark
from core.sharding_math.held import Held
from core.sharding_math.tensors import Array, read_only

_MOVES: frozenset[Callable[..., Any]] = frozenset(
    {
        *(np.split, np.array_split, np.hsplit, np.vsplit, np.transpose, np.swapaxes, np.moveaxis, np.reshape),
        *(np.roll, np.take, np.copy, np.ravel, np.squeeze, np.expand_dims, np.shape, np.size, np.ndim),
        *(np.atleast_1d, np.atleast_2d, np.permute_dims, np.zeros_like, np.ones_like, np.empty_like),
    }
)
"""What may be done with a whole tensor: entries change their place, none is computed with."""

_COPIES = ("asarray", "asanyarray", "array", "ascontiguousarray", "asfortranarray")


class Whole:
    """`values` before the cut, to be held in at least `num_shares` pieces.

    Indexing, `np.split`, `.T` and the like give views of it. A view of at most 1/num_shares of the entries is a
    rank's share: a read-only array, noted in `shares`. Any arithmetic on more than that is refused.

    With the `dim` it is to be cut along, a share knows its ranks, of `num_ranks`; where fewer shares than ranks
    are due, several hold one. `side_by_side`: what ranks made of their shares may be put together, for a reader.
    """

    def __init__(
        self,
        name: str,
        values: Array,
        num_shares: int,
        dim: int | None = None,
        num_ranks: int = 0,
        side_by_side: bool = False,
    ) -> None:
        entries = np.arange(values.size).reshape(values.shape)
        self.name, self._values, self._entries, self._num_shares = name, values, entries, num_shares
        self._size, self.cut_shape, self.side_by_side = values.size, values.shape, side_by_side
        self.dim = dim if dim is not None and values.shape[dim] % num_shares == 0 else None
        self._num_ranks = num_ranks or num_shares
        self.shares: list[frozenset[int]] = []
        """The entries of each share that was taken, numbered in the order of rows."""
        self.met: list[str] = []
        """What a share was multiplied with that no rank holds: part of an array with other ranks' values in it."""

    shape = property(lambda self: self._values.shape)
    ndim = property(lambda self: self._values.ndim)
    size = property(lambda self: self._values.size)
    dtype = property(lambda self: self._values.dtype)
    itemsize = property(lambda self: self._values.itemsize)
    nbytes = property(lambda self: self._values.nbytes)

    @property
    def T(self) -> Any:  # noqa: N802
        """The transpose, no less whole."""
        return self._moved(np.transpose)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"{self.name}{list(self.shape)}, to be cut into {self._num_shares} shares"

    def __getitem__(self, key: Any) -> Any:
        return self._piece(self._values[key], self._entries[key])

    def reshape(self, *shape: Any) -> Any:
        return self._piece(self._values.reshape(*shape), self._entries.reshape(*shape))

    def transpose(self, *axes: Any) -> Any:
        return self._piece(self._values.transpose(*axes), self._entries.transpose(*axes))

    def swapaxes(self, first: int, second: int) -> Any:
        return self._moved(np.swapaxes, first, second)

    def copy(self, *_: object, **__: object) -> Any:
        return self

    view = copy

    def astype(self, dtype: Any, **_: object) -> Any:
        """The same tensor: its entries have the one type that the lab computes in."""
        return self if np.dtype(dtype) == self.dtype else self._refuse()

    def is_cut_along(self, dim: int, finer: bool = False) -> bool:
        """Whether the shares taken are those of `num_shares` equal slices along a dim, each at least once.

        With `finer`, a slice may have been taken in several pieces.
        """
        parts = np.split(np.arange(self._size).reshape(self.shape), self._num_shares, axis=dim)
        slices = {frozenset(part.ravel().tolist()) for part in parts}
        if not finer:
            return slices == set(self.shares)
        within_one = all(any(share <= one for one in slices) for share in self.shares)
        return within_one and len(frozenset().union(*self.shares)) == self._size

    def _moved(self, move: Callable[..., Any], *args: Any, **options: Any) -> Any:
        if move.__name__.endswith("s_like") or move is np.empty_like:
            return move(self._values, *args, **options)
        values, entries = (move(part, *args, **options) for part in (self._values, self._entries))
        if isinstance(values, list | tuple) and values and isinstance(values[0], np.ndarray):
            return [self._piece(*both) for both in zip(values, entries, strict=True)]
        return self._piece(values, entries) if isinstance(values, np.ndarray) else values

    def _piece(self, values: Any, entries: Any) -> Any:
        """A rank's share as an array of its own; anything larger stays whole, under the same list of shares."""
        if np.size(values) * self._num_shares <= self._size:
            self.shares.append(frozenset(np.ravel(entries).tolist()))
            ranks = self._ranks_of(entries)
            if not isinstance(values, np.ndarray):
                return values
            return Held.of_share(read_only(values), ranks, self) if ranks else read_only(values)
        larger = Whole(self.name, values, self._num_shares)
        larger._entries, larger._size, larger._num_ranks = entries, self._size, self._num_ranks
        larger.cut_shape, larger.dim, larger.side_by_side = self.cut_shape, self.dim, self.side_by_side
        larger.shares, larger.met = self.shares, self.met
        return larger

    def _ranks_of(self, entries: Any) -> frozenset[int]:
        """The ranks that hold a piece; none where it lies across the cut."""
        if self.dim is None or not np.size(entries):
            return frozenset()
        along = np.unravel_index(np.ravel(entries), self.cut_shape)[self.dim]
        shares = np.unique(along // (self.cut_shape[self.dim] // self._num_shares))
        if len(shares) > 1:
            return frozenset()
        ranks = range(self._num_ranks)
        return frozenset(rank for rank in ranks if rank * self._num_shares // self._num_ranks == shares[0])

    def _refuse(self, *_: object, **__: object) -> Any:
        held = remark("errors.of_entries", shape=list(self.cut_shape), entries=self.size, all=self._size)
        raise OutOfRangeError(self.name, held, "more_than_a_rank", shares=self._num_shares)

    def __array_function__(
        self, function: Callable[..., Any], types: Sequence[type], args: Sequence[Any], options: dict[str, Any]
    ) -> Any:
        if function in _MOVES and args and args[0] is self:
            return self._moved(function, *args[1:], **options)
        return self._refuse()

    __array__ = __array_ufunc__ = __matmul__ = __rmatmul__ = __add__ = __radd__ = __mul__ = __rmul__ = _refuse
    __sub__ = __rsub__ = __neg__ = __truediv__ = _refuse


@contextmanager
def kept_whole() -> Iterator[None]:
    """Let `np.asarray` and its like give back what they get, for the time of a call, where it is whole or held.

    They turn anything into a plain array, which knows no ranks; NumPy lets no argument of theirs have a say.
    """
    given = {name: getattr(np, name) for name in _COPIES}
    for name, convert in given.items():
        setattr(np, name, _passing(convert, copies=name == "array"))
    try:
        yield
    finally:
        for name, convert in given.items():
            setattr(np, name, convert)


def _passing(convert: Callable[..., Any], copies: bool) -> Callable[..., Any]:
    """A converter that hands on whole tensors and held ones."""

    def converted(a: Any, dtype: Any = None, *args: Any, **options: Any) -> Any:
        if not isinstance(a, Whole | Held):
            return convert(a, dtype, *args, **options)
        made = a if dtype is None else a.astype(dtype)
        return made.copy() if copies else made

    return converted
