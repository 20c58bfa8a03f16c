"""Floating point as a sharded layer meets it: formats, the order of a sum, and distance in ulps.

An ulp is the gap from a number to the next one its format can hold. Two sums of the same products in another
order may land some ulps apart; on whole numbers that fit the format they cannot differ.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

import numpy as np

from core.errors import UnknownNameError
from core.sharding_math.tensors import Array

SumOrder: TypeAlias = Literal["ring", "tree", "rank"]
SUM_ORDERS: tuple[SumOrder, ...] = ("ring", "tree", "rank")


@dataclass(frozen=True)
class Precision:
    """A number format: what is stored, what products are added up in, and how wide it is on the link.

    bfloat16 is kept in float32 with the low 16 bits zero, so it stores no more than the format can.
    """

    name: str
    element_bytes: int
    storage: type[np.floating[Any]]
    accumulator: type[np.floating[Any]]

    def rounded(self, values: Array) -> Array:
        """`values` rounded to the nearest number of the format, ties to even."""
        stored = values.astype(self.storage)
        return _round_to_bfloat16(stored) if self.name == "bfloat16" else stored

    def add(self, a: Array, b: Array) -> Array:
        """`a + b`, rounded once to the format, as one hop of a collective does."""
        return self.rounded(a.astype(self.accumulator) + b.astype(self.accumulator))


PRECISIONS: Mapping[str, Precision] = MappingProxyType(
    {
        precision.name: precision
        for precision in (
            Precision("float64", 8, np.float64, np.float64),
            Precision("float32", 4, np.float32, np.float32),
            Precision("float16", 2, np.float16, np.float32),
            Precision("bfloat16", 2, np.float32, np.float32),
        )
    }
)
"""16-bit matmuls add up in float32 and round once at the end, as tensor cores do."""


def precision(name: str) -> Precision:
    """A number format by its torch name. Raises UnknownNameError."""
    if name not in PRECISIONS:
        raise UnknownNameError("number_format", name, PRECISIONS)
    return PRECISIONS[name]


def _round_to_bfloat16(values: Array) -> Array:
    """float32 to the nearest value whose low 16 bits are zero, ties to even. Finite values only."""
    bits = values.astype(np.float32).view(np.uint32).astype(np.uint64)
    rounded = (bits + 0x7FFF + ((bits >> np.uint64(16)) & np.uint64(1))) & np.uint64(0xFFFF0000)
    return rounded.astype(np.uint32).view(np.float32)


def matmul(x: Array, W: Array) -> Array:
    """`x @ W.T`, each dot product added up in the order of the contracted dimension, in the arrays' own type.

        y[t, f] = ((x[t, 0]·W[f, 0]) + x[t, 1]·W[f, 1]) + …

    The order is stated because a library's is not: BLAS picks one by shape and processor, and two shapes of the
    same product may then differ in the last bit. `x` is (T, D), `W` is (F, D).
    """
    products = x[..., np.newaxis, :] * W  # (T, F, D)
    return np.asarray(np.add.accumulate(products, axis=-1)[..., -1])  # (T, F)


def rounded_matmul(x: Array, W: Array, fmt: Precision) -> Array:
    """`x @ W.T` in a number format: added up in its accumulator, rounded once at the end."""
    return fmt.rounded(matmul(x.astype(fmt.accumulator), W.astype(fmt.accumulator)))


def sum_in_order(parts: Sequence[Array], order: SumOrder, add: Callable[[Array, Array], Array] = np.add) -> Array:
    """Σ over ranks, added pairwise in the order a collective would.

    `rank`: 0 + 1 + 2 + …; `ring`: chunk c starts at rank c+1 and ends at rank c, as a ring reduce-scatter passes
    it on; `tree`: neighbours first, then pairs of pairs.
    Source: Patarasuk & Yuan 2009 for the ring.
    """
    if order == "tree":
        return _tree_sum(list(parts), add)
    if order == "rank":
        return reduce(add, parts)
    chunks = [np.array_split(part.reshape(-1), len(parts)) for part in parts]
    sums = [_ring_chunk_sum(chunks, c, add) for c in range(len(parts))]
    return np.concatenate(sums).reshape(parts[0].shape)


def _ring_chunk_sum(chunks: list[list[Array]], c: int, add: Callable[[Array, Array], Array]) -> Array:
    """Chunk `c` as it travels: rank c+1 first, rank c last."""
    ranks = len(chunks)
    return reduce(add, [chunks[(c + 1 + hop) % ranks][c] for hop in range(ranks)])


def _tree_sum(parts: list[Array], add: Callable[[Array, Array], Array]) -> Array:
    """Neighbours are added until one is left; an odd one waits a level."""
    while len(parts) > 1:
        paired = [add(a, b) for a, b in zip(parts[::2], parts[1::2], strict=False)]
        parts = paired + parts[len(paired) * 2 :]
    return parts[0]


@dataclass(frozen=True)
class LargestError:
    """Where two tensors differ most, counted in steps of their format."""

    ulps: int
    index: tuple[int, ...]
    entries_apart: int
    entries: int


def largest_error(a: Array, b: Array, fmt: Precision | None = None) -> LargestError:
    """The largest distance in ulps between entries of `a` and `b`, the first place it occurs, and how many differ.

    For whole-number arrays the distance is the difference itself.
    """
    apart = ulps_apart(a, b, fmt)
    where = np.unravel_index(int(np.argmax(apart)), apart.shape)
    return LargestError(int(apart.max()), tuple(int(i) for i in where), int((apart > 0).sum()), apart.size)


def ulps_apart(a: Array, b: Array, fmt: Precision | None = None) -> Array:
    """How many steps of the format lie between each entry of `a` and of `b`; +0 and -0 are one number."""
    if not np.issubdtype(a.dtype, np.floating):
        return np.asarray(np.abs(a - b))
    unused_bits = 16 if fmt is not None and fmt.name == "bfloat16" else 0
    return np.asarray(np.abs(_place_on_line(a) - _place_on_line(b)) >> unused_bits)


def _place_on_line(values: Array) -> Array:
    """Each float's place among all floats of its type, counted from zero: neighbours differ by one."""
    width = values.dtype.itemsize
    bits = np.ascontiguousarray(values).view(f"i{width}").astype(np.int64)
    magnitude = bits & np.int64(2 ** (8 * width - 1) - 1)
    return np.where(bits < 0, -magnitude, magnitude)
