"""Arrays that live on ranks: what one rank holds meets what another holds by a collective, and by nothing else."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from core.errors import OutOfRangeError, Remark, ShardlabError, remark
from core.sharding_math.tensors import Array

_TOGETHER: frozenset[Callable[..., Any]] = frozenset(
    {np.concatenate, np.hstack, np.vstack, np.column_stack, np.dstack, np.block, np.append}
)
"""What puts arrays side by side into one that is wider; `np.stack` keeps them apart, a rank each."""


class Held(np.ndarray):
    """An array, the ranks that hold it, and, while it is a share of a tensor itself, that tensor.

    What is computed of it is held by the ranks that hold all of its parts. A plain array is on every rank.
    """

    ranks: frozenset[int]
    share_of: Any
    side_by_side: bool

    @classmethod
    def of_share(cls, values: Array, ranks: frozenset[int], whole: Any) -> "Held":
        share = values.view(cls)
        share.ranks, share.share_of, share.side_by_side = ranks, whole, whole.side_by_side
        return share

    def __array_finalize__(self, source: Any) -> None:
        self.ranks = getattr(source, "ranks", frozenset())
        self.share_of = getattr(source, "share_of", None)
        self.side_by_side = getattr(source, "side_by_side", True)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
        held = list(_held_in(inputs))
        ranks = _common_to(held)
        if ranks is None:
            raise OutOfRangeError("ranks", _listed(held), "one_value_each")
        if ufunc in (np.matmul, np.multiply):  # the reference adds products up in a stated order
            _note_met(inputs)
        if out is not None:
            options["out"] = tuple(_plain(one) for one in out)
        try:
            made = getattr(ufunc, method)(*map(_plain, inputs), **options)
        except ValueError as error:
            raise _named(ufunc, inputs, error) from None
        return out[0] if out is not None else _on(ranks, made, held)

    def __array_function__(
        self, function: Callable[..., Any], types: Iterable[Any], args: Iterable[Any], options: Any
    ) -> Any:
        args = tuple(args)
        held = list(_held_in((*args, *options.values())))
        ranks = _common_to(held)
        if ranks is None and function in _TOGETHER and not all(one.side_by_side for one in held):
            raise OutOfRangeError("ranks", _listed(held), "slice_each", function=function.__name__)
        if function in (np.dot, np.einsum):
            _note_met(args)
        made = function(*_plain(args), **_plain(dict(options)))
        return made if ranks is None else _on(ranks, made, held)


def let_go(parts: Iterable[Any]) -> list[Any]:
    """The parts as plain arrays: what a collective has handed round is on every rank."""
    return [_plain(part) for part in parts]


def _held_in(values: Any) -> Iterator[Held]:
    """Every held array in arguments, and in the lists among them."""
    for one in values:
        if isinstance(one, Held):
            yield one
        elif isinstance(one, list | tuple):
            yield from _held_in(one)


def _common_to(held: Sequence[Held]) -> frozenset[int] | None:
    """The ranks that hold all of them; None where no rank does."""
    known = [one.ranks for one in held if one.ranks]
    common = frozenset.intersection(*known) if known else frozenset()
    return None if known and not common else common


def _plain(value: Any) -> Any:
    if isinstance(value, Held):
        return value.view(np.ndarray)
    if type(value) in (list, tuple):
        return type(value)(_plain(one) for one in value)
    if type(value) is dict:
        return {name: _plain(one) for name, one in value.items()}
    return value


def _on(ranks: frozenset[int], made: Any, held: Sequence[Held]) -> Any:
    """A result as the ranks hold it."""
    if isinstance(made, list | tuple):
        return type(made)(_on(ranks, one, held) for one in made) if type(made) in (list, tuple) else made
    if type(made) is not np.ndarray or not made.ndim:
        return made
    result = made.view(Held)
    result.ranks, result.side_by_side = ranks, all(one.side_by_side for one in held)
    if len(held) == 1 and np.may_share_memory(made, held[0]):  # moved or cut again, it is a share still
        result.share_of = held[0].share_of
    return result


def _note_met(inputs: Sequence[Any]) -> None:
    """Tell a share of inputs where it is multiplied with columns cut out of an array that has every rank's."""
    for share in _held_in(inputs):
        whole = share.share_of
        if whole is None or whole.dim != 1:
            continue
        width = whole.cut_shape[1]
        for other in inputs:
            cut = type(other) is np.ndarray and other.ndim > 1 and other.size > 1 and other.shape[-1] < width
            if cut and other.strides[0] == width * other.itemsize:  # a row of it is part of a row with all of them
                whole.met.append(f"{other.shape[-1]} of {width}")


class _ShapesError(ShardlabError):
    """numpy's ValueError of shapes that do not fit, in our words."""


def _named(ufunc: Any, inputs: Sequence[Any], error: ValueError) -> ValueError:
    """An error of shapes that do not fit, with the shape of the tensor that a share is of."""
    shapes = [np.shape(one) for one in inputs]
    whole = next((one.share_of for one in _held_in(inputs) if one.share_of is not None), None)
    if ufunc is np.matmul and all(shapes):
        rows = shapes[1][-2] if len(shapes[1]) > 1 else shapes[1][0]
        columns = shapes[0][-1]
        if whole is None:
            return _ShapesError("raised.product", columns=columns, rows=rows)
        shape = list(whole.cut_shape)
        return _ShapesError("raised.product_of", columns=columns, rows=rows, whole=whole.name, shape=shape)
    if ufunc is np.add and len(shapes) == 2 and min(map(len, shapes)) == 1:
        (bias,), (*_, width) = sorted(shapes, key=len)
        return _ShapesError("raised.bias_cut", width=width, bias=bias)
    return error


def _listed(held: Sequence[Held]) -> Remark:
    *ranks, last = sorted({min(one.ranks) for one in held if one.ranks})
    return remark("errors.ranks_and", ranks=", ".join(map(str, ranks)), last=last)
