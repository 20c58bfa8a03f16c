"""Lines over a size: axes of bytes and of time, and names at their ends."""

from collections.abc import Iterable, Sequence
from typing import Any

from ui.figures.style import (
    BINARY_BYTES,
    SECONDS,
    Layer,
    Row,
    Spec,
    Units,
    as_row,
    by,
    layer,
    log,
    over,
    words,
)
from ui.theme import Look

DASHES = ((1, 0), (7, 4), (2, 3), (9, 3, 2, 3))
"""How lines of one ink are told apart, in their order."""


def payloads(field: str, sizes: Iterable[float], title: str | None) -> Spec:
    """Bytes on a logarithmic axis, from the smallest to the largest, in powers of 1024."""
    sizes = list(sizes)
    ticks = [2.0**power for power in (3, 9, 13, 18, 24, 30)]
    return log(field, [min(sizes), max(sizes)], BINARY_BYTES, title=title, ticks=ticks, base=2)


def times(field: str, seconds: Iterable[float], look: Look, units: Units = SECONDS, **axis: Any) -> Spec:
    """Times on a logarithmic axis with air at both ends, each number in its own unit."""
    seconds = [value for value in seconds if value == value]  # NaN is not itself
    ends = [0.2 * min(seconds), 1.8 * max(seconds)]
    return log(field, ends, units, grid=True, line=False, labelPadding=look.px(9), **axis)


def lines(look: Look, rows: Sequence[Row], x: Spec, y: Spec, series: str, **mark: Any) -> Layer:
    """A line a series, in ink and told apart by dashes unless a colour is given."""
    names = list(dict.fromkeys(as_row(row)[series] for row in rows))
    plain = {"color": look.palette.text, "strokeWidth": look.px(3)}
    if "color" not in mark and "strokeDash" not in mark:
        dashes = [list(DASHES[index % len(DASHES)]) for index in range(len(names))]
        mark["strokeDash"] = by(series, dict(zip(names, dashes, strict=True)))
    return layer("line", rows, x=x, y=y, detail=series, **{**plain, **mark})


def ends(rows: Iterable[Row], series: str, x: str, *, last: bool = True) -> list[dict[str, Any]]:
    """Each series' row at the end of its line, or at the beginning, in the order of the series."""
    latest: dict[Any, dict[str, Any]] = {}
    for row in map(as_row, rows):
        held = latest.get(row[series])
        if held is None or (row[x] > held[x] if last else row[x] < held[x]):
            latest[row[series]] = row
    return list(latest.values())


def names(look: Look, rows: Sequence[Row], x: Spec, y: Spec, field: str, **mark: Any) -> list[Layer]:
    """Names of lines at some of their points, each on its own ground: a line may pass under."""
    return over(look, rows, x=x, y=y, text=field, **words(look, 14, **{"fontWeight": 600, **mark}))
