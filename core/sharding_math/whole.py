"""A tensor that no rank holds: it can be cut, and only a rank's share of it computes."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from core.errors import OutOfRangeError
from core.sharding_math.tensors import Array, read_only

_MOVES: frozenset[Callable[..., Any]] = frozenset(
    {
        *(np.split, np.array_split, np.hsplit, np.vsplit, np.transpose, np.swapaxes, np.moveaxis, np.reshape),
        *(np.roll, np.take, np.copy, np.ravel, np.squeeze, np.expand_dims, np.shape, np.size, np.ndim),
    }
)
"""What may be done with a whole tensor: entries change their place, none is computed with."""


class Whole:
    """`values` before the cut, to be held in at least `num_shares` pieces.

    Indexing, `np.split`, `.T` and the like give views of it. A view of at most 1/num_shares of the entries is a
    rank's share: a plain read-only array, noted in `shares`. Any arithmetic on more than that is refused.
    """

    def __init__(self, name: str, values: Array, num_shares: int) -> None:
        entries = np.arange(values.size).reshape(values.shape)
        self.name, self._values, self._entries, self._num_shares = name, values, entries, num_shares
        self._size = values.size
        self.shares: list[frozenset[int]] = []
        """The entries of each share that was taken, numbered in the order of rows."""

    shape = property(lambda self: self._values.shape)
    ndim = property(lambda self: self._values.ndim)
    size = property(lambda self: self._values.size)
    dtype = property(lambda self: self._values.dtype)

    @property
    def T(self) -> Any:  # noqa: N802
        """The transpose, no less whole."""
        return self._moved(np.transpose)

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, key: Any) -> Any:
        return self._piece(self._values[key], self._entries[key])

    def reshape(self, *shape: Any) -> Any:
        return self._piece(self._values.reshape(*shape), self._entries.reshape(*shape))

    def transpose(self, *axes: Any) -> Any:
        return self._piece(self._values.transpose(*axes), self._entries.transpose(*axes))

    def copy(self) -> Any:
        return self

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
        values, entries = (move(part, *args, **options) for part in (self._values, self._entries))
        if isinstance(values, list | tuple) and values and isinstance(values[0], np.ndarray):
            return [self._piece(*both) for both in zip(values, entries, strict=True)]
        return self._piece(values, entries) if isinstance(values, np.ndarray) else values

    def _piece(self, values: Any, entries: Any) -> Any:
        """A rank's share as a plain array; anything larger stays whole, under the same list of shares."""
        if np.size(values) * self._num_shares <= self._size:
            self.shares.append(frozenset(np.ravel(entries).tolist()))
            return read_only(values) if isinstance(values, np.ndarray) else values
        larger = Whole(self.name, values, self._num_shares)
        larger._entries, larger._size, larger.shares = entries, self._size, self.shares
        return larger

    def _refuse(self, *_: object, **__: object) -> Any:
        raise OutOfRangeError(
            self.name,
            f"{list(self.shape)}, {self.size} of {self._size} entries",
            f"is more than one rank holds: cut it into {self._num_shares} shares and multiply each",
        )

    def __array_function__(
        self, function: Callable[..., Any], types: Sequence[type], args: Sequence[Any], options: dict[str, Any]
    ) -> Any:
        if function in _MOVES and args and args[0] is self:
            return self._moved(function, *args[1:], **options)
        return self._refuse()

    __array__ = __array_ufunc__ = __matmul__ = __rmatmul__ = __add__ = __radd__ = __mul__ = __rmul__ = _refuse
    __sub__ = __rsub__ = __neg__ = __truediv__ = _refuse
