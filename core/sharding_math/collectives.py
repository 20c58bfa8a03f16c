"""Collectives over simulated ranks: a list with one array a rank goes in, what every rank receives comes out.

Each call writes one line in the ledger, and none when there is one rank.
"""

from collections.abc import Sequence

import numpy as np

from core.errors import OutOfRangeError
from core.ledger import Collective, Ledger, Op
from core.sharding_math.held import let_go
from core.sharding_math.numerics import Precision, SumOrder, sum_in_order
from core.sharding_math.tensors import Array


def all_reduce(
    parts: Sequence[Array],
    ledger: Ledger | None = None,
    *,
    layer: str = "",
    why: str = "",
    order: SumOrder = "ring",
    fmt: Precision | None = None,
) -> Array:
    """Σ over ranks of `parts`, as every rank receives it. The payload is one part: all have the full shape.

    The order of the sum is stated, for in floating point it shows; every hop rounds to the format.
    """
    parts = let_go(parts)
    _require_like(parts)
    _record(ledger, "all_reduce", parts, _nbytes(parts[0], fmt), layer, why)
    return sum_in_order(parts, order, np.add if fmt is None else fmt.add)


def all_gather(
    parts: Sequence[Array],
    ledger: Ledger | None = None,
    *,
    dim: int = -1,
    layer: str = "",
    why: str = "",
    fmt: Precision | None = None,
) -> Array:
    """The slices of all ranks put together along `dim`, as every rank receives them. The payload is the whole."""
    parts = let_go(parts)
    _record(ledger, "all_gather", parts, sum(_nbytes(part, fmt) for part in parts), layer, why)
    return np.concatenate(parts, axis=dim)


def reduce_scatter(
    parts: Sequence[Array],
    ledger: Ledger | None = None,
    *,
    dim: int = 0,
    layer: str = "",
    why: str = "",
    order: SumOrder = "ring",
    fmt: Precision | None = None,
) -> tuple[Array, ...]:
    """Σ over ranks of `parts`, slice r along `dim` to rank r. The payload is one part: the sum's full shape.

    Half of an all-reduce; an all-gather of the slices is the other half.
    """
    parts = let_go(parts)
    _require_like(parts)
    _record(ledger, "reduce_scatter", parts, _nbytes(parts[0], fmt), layer, why)
    total = sum_in_order(parts, order, np.add if fmt is None else fmt.add)
    return tuple(np.split(total, len(parts), axis=dim))


def _require_like(parts: Sequence[Array]) -> None:
    """A sum takes one array a rank, all of one shape."""
    if not len(parts):
        raise OutOfRangeError("parts", "[]", "no_array")
    shapes = {np.shape(part) for part in parts}
    if len(shapes) > 1:
        raise OutOfRangeError("parts", sorted(shapes), "shapes_differ")


def _record(
    ledger: Ledger | None, op: Op, parts: Sequence[Array], payload_bytes: int, layer: str, why: str
) -> None:
    if ledger is not None:
        ledger.record(Collective(op, payload_bytes, len(parts), layer, why))


def _nbytes(array: Array, fmt: Precision | None) -> int:
    """Bytes on the link: the format's width, not that of the array that emulates it."""
    return array.size * (array.itemsize if fmt is None else fmt.element_bytes)
