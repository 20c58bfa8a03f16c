"""A room's predictions as heaps along the axis of the guess: one row for each vote, and the truth through all."""

from collections.abc import Sequence
from typing import Any

from runtime.quantities import local
from ui.figures.prediction import axis_of, unit_for
from ui.figures.style import Figure, Row, at, figure, kept, layer, serif, words
from ui.theme import Look

_TOP, _TITLE, _HEAP, _BETWEEN = 22, 20, 62, 10
_BINS, _TOLD = 60, 3

Counts = tuple[tuple[float, int], ...]


@kept
def room_line(
    votes: Sequence[tuple[str, Counts]],
    truth: float | None,
    look: Look,
    *,
    high: float,
    unit: str,
    digits: int = 1,
) -> Figure:
    """Rows of heaps over an axis from 0 to `high`, each under what it is called; after the reveal the truth.

    What lies beyond the axis stands at its end.
    """
    x = axis_of(high, unit, look)
    height = _TOP + len(votes) * (_TITLE + _HEAP) + (len(votes) - 1) * _BETWEEN
    layers = [layer("point", [{"value": 0.0}], x=x, y=look.px(height), opacity=0)]
    tallest = max((count for _, counts in votes for _, count in _heaps(counts, high)), default=1)
    bars, titles = [], []
    for index, (title, counts) in enumerate(votes):
        top = _TOP + index * (_TITLE + _HEAP + _BETWEEN)
        base = top + _TITLE + _HEAP
        titles.append({"said": title, "y": look.px(top + _TITLE / 2)})
        bars += [_bar(value, count, base, tallest, look) for value, count in _heaps(counts, high)]
    faint = look.palette.axis if truth is not None else look.palette.primary
    wide: dict[str, Any] = {"strokeWidth": look.px(7), "color": faint}
    layers += [
        layer("rule", bars, x=x, y=at("y"), y2="base", **wide),
        layer("text", titles, x=0, y=at("y"), text="said", **words(look, 14.5, align="left")),
        layer("text", _told(bars), x=x, y=at("above"), text="count", **words(look, 13.5)),
    ]
    if truth is not None:
        row: list[Row] = [{"value": truth, "said": local(f"{truth:.{digits}f} {unit_for(truth, unit)}")}]
        align = "left" if truth < 0.14 * high else "right" if truth > 0.86 * high else "center"
        upright = {"y": look.px(_TOP), "y2": look.px(height + 7), "strokeWidth": look.px(4)}
        layers += [
            layer("rule", row, x=x, **upright, color=look.palette.text),
            layer("text", row, x=x, y=look.px(8), text="said", **serif(look, 23, fontWeight=600, align=align)),
        ]
    return figure(layers, look, height)


def _heaps(counts: Counts, high: float) -> list[tuple[float, int]]:
    """Counts by bin, where there are more numbers than a wall tells apart; a bin stands at its middle number."""
    binned: dict[int, list[tuple[float, int]]] = {}
    for value, count in counts:
        held = min(high, max(0.0, value))
        binned.setdefault(round(held / high * _BINS), []).append((held, count))
    return [
        (sum(value * count for value, count in heap) / sum(count for _, count in heap), sum(n for _, n in heap))
        for _, heap in sorted(binned.items())
    ]


def _bar(value: float, count: int, base: float, tallest: int, look: Look) -> Row:
    top = base - (_HEAP - 20) * count / tallest
    return {
        "value": value,
        "count": count,
        "base": look.px(base),
        "y": look.px(top),
        "above": look.px(top - 8),
    }


def _told(bars: Sequence[Row]) -> list[Row]:
    """The highest heaps, whose counts are written."""
    return sorted((bar for bar in bars if bar["count"] > 1), key=lambda bar: -bar["count"])[: 2 * _TOLD]
