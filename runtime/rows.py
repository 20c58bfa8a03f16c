"""A row of a figure or of a table, its columns named once: where it is made."""

from collections.abc import Iterable, Iterator
from types import SimpleNamespace
from typing import TypeVar

Part = TypeVar("Part")


class Row(SimpleNamespace):
    """Columns by name, in a table's order: `Row(ranks=4, time_ms=0.02)`. Equal by what it holds, never changed."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(vars(self).items()))


def table(columns: str, cells: Iterable[Iterable[object]]) -> list[Row]:
    """Rows of cells in the order of their columns.

    >>> table("ranks time_ms", [(2, 0.01), (4, 0.02)])[1]
    Row(ranks=4, time_ms=0.02)
    """
    names = columns.split()
    return [Row(**dict(zip(names, row, strict=True))) for row in cells]


def stacked(parts: Iterable[tuple[Part, float]]) -> Iterator[tuple[Part, float, float]]:
    """Parts of one bar, one after another: where each begins and ends.

    >>> list(stacked([("weights", 2.0), ("cache", 3.0)]))
    [('weights', 0.0, 2.0), ('cache', 2.0, 5.0)]
    """
    end = 0.0
    for part, length in parts:
        start, end = end, end + length
        yield part, start, end
