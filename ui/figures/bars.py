"""Bars: rows of them with captions that fit a phone, what stands in them, their key; and upright stacks."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import inf
from typing import Any

from ui.figures.style import (
    RIGHT,
    Layer,
    Row,
    Spec,
    also,
    as_row,
    at,
    by,
    layer,
    narrower,
    own,
    width_of,
    words,
)
from ui.theme import Look

_PHONE_PLOT = 340
"""Pixels that a figure is wide on a phone, at the least."""

_WIDEST = 1e6
"""No figure is so many pixels wide."""

_EDGES = {"top": -6.5, "middle": 0.0, "bottom": 6.5}
"""Of a patch, from the middle of its line."""

LONG = 20
"""Characters of a name beside which a phone has no room for a sum."""


@dataclass(frozen=True)
class Bands:
    """Where bars stand under one another, in laptop pixels: a caption over each, the bar, what is under it."""

    head: float
    over: float
    bar: float
    under: float

    def height(self, count: int) -> float:
        """Of so many, with the head over the first."""
        return self.head + count * (self.over + self.bar + self.under)

    def place(self, row: Row, number: int, look: Look) -> dict[str, Any]:
        """A row's columns and its band's: `over`, `top`, `middle`, `bottom` and `under`, in pixels as drawn."""
        start = self.height(number)
        top, bottom = start + self.over, start + self.over + self.bar
        return as_row(row) | {
            "over": look.px(start + self.over / 2 - 2),
            "top": look.px(top),
            "middle": look.px((top + bottom) / 2),
            "bottom": look.px(bottom),
            "under": look.px(bottom + 13),
        }

    def placed(self, rows: Iterable[Row], look: Look, name: str = "") -> list[dict[str, Any]]:
        """The rows, each on a band of its own, or one for each value of the column `name`."""
        numbers: dict[Any, int] = {}
        return [
            self.place(row, numbers.setdefault(as_row(row)[name] if name else index, len(numbers)), look)
            for index, row in enumerate(rows)
        ]


def stretch(
    look: Look, rows: Sequence[Row], start: Spec, end: str, fill: str | Spec, edge: str | Spec, **mark: Any
) -> Layer:
    """A part of each bar, from the axis's own field to another."""
    box = {"y": at("top"), "y2": "bottom", "color": fill, "stroke": edge, "strokeWidth": look.px(1)}
    return layer("rect", rows, x=start, x2=end, **box, **mark)


ON_A_LINE = 46
"""Letters of a name and of what its sum comes to that a phone has beside each other."""


def captions(
    look: Look, rows: Sequence[Row], name: str, total: str, detail: str = "", *, long: int = LONG
) -> list[Layer]:
    """Over each bar its name and its sum, under it what it consists of.

    On a phone a long name's sum moves down, but where something stands there: then only what it comes to is said.
    What stands there leaves out its last part, behind a semicolon, where it is longer than the line.
    """
    crowded = f"{narrower(look)} && length(datum.{name}) > {long}"
    come = f"peek(split(datum.{total}, ' = '))"
    ends = f"datum.{detail} && length(datum.{name}) + length({come}) < {ON_A_LINE}" if detail else "false"
    moves = {"sum_px": f"{crowded} && !({ends}) ? datum.under : datum.over"}
    said = f"{crowded} && ({ends}) ? {come} : datum.{total}"
    side = {"x": RIGHT, "y": at("sum_px"), **words(look, 15, align="right", fontWeight=600)}
    limit = {"limit": {"expr": "width"}}
    parts = f"split(datum.{detail}, '; ')"
    long_foot = f"{narrower(look)} && length(datum.{detail} || '') > {ON_A_LINE} && length({parts}) > 2"
    shown = f"{long_foot} ? join(slice({parts}, 0, -1), '; ') : datum.{detail}"
    head = words(look, 16, align="left", fontWeight=600, **limit)
    foot = words(look, 13.5, align="left", color=look.palette.muted, **limit)
    return [
        layer("text", rows, x=0, y=at("over"), text=name, **head),
        layer("text", rows, reckoned=moves, shown=said, **side),
        *([layer("text", rows, x=0, y=at("under"), shown=shown, **foot)] if detail else []),
    ]


def inside(
    look: Look,
    rows: Sequence[Row],
    start: Spec,
    end: str,
    label: str,
    room_px: float | None = None,
    *,
    beside_px: float = 0,
    **mark: Any,
) -> Layer:
    """Words in a part of each bar, where they fit: in `room_px`, or in what their letters take.

    `beside_px` of the plot's width are not the axis's.
    """
    length = f"(datum.{end} - datum.{start['field']}) / span_x * (width - {look.letters(beside_px)})"
    letters = f"length(datum.{label}) * {look.letters(7.4)} + {look.letters(14)}"
    fits = f"{length} > {letters if room_px is None else look.letters(room_px)}"
    text = words(look, 14.5, **{"align": "left", "dx": look.px(8), **mark})
    return layer("text", rows, where=fits, x=start, y=at("middle"), text=label, **text)


def measured_tick(
    look: Look, rows: Sequence[Row], end: Spec, measured: str, said: str = "", detail: str = ""
) -> list[Layer]:
    """An upright over each bar where a machine's own time puts its end, and how far from the modelled one.

    `end` is the axis of the modelled end. Under the bar stands what was measured: all of it where `detail`, which
    begins the same line, leaves room; else what is before its first comma, but for that of a decimal, or, with no
    room for that either, before what is in brackets.
    """
    known = [
        {**row, "tick_top": row["top"] - look.px(3), "tick_bottom": row["bottom"] + look.px(4)}
        for row in map(as_row, rows)
        if row[measured] is not None and row[measured] == row[measured]  # NaN is not itself
    ]
    ink, muted = look.palette.text, look.palette.muted
    far = f"datum.{measured} - datum.{end['field']} > 0.03 * span_x"
    leader = {"strokeDash": [1.5, 4], "strokeWidth": look.px(1.5), "color": muted}
    tick = {"y": at("tick_top"), "y2": "tick_bottom", "strokeWidth": look.px(3), "color": ink}
    whole, first = f"datum.{said}", f"split(datum.{said}, ', ')[0]"
    beside = f"length(datum.{detail} || '')" if detail else "0"
    fits = "(length({}) + " + beside + f") * {look.letters(6.1)} + {look.letters(20)} < width"
    least = f"{fits.format(first)} ? {first} : split({first}, ' (')[0]"
    shown = f"!({narrower(look)}) && {fits.format(whole)} ? {whole} : {least}"
    foot = words(look, 13.5, align="right", color=muted)
    return [
        layer("rule", known, where=far, x=end, x2=measured, y=at("middle"), **leader),
        layer("rule", known, x=also(end, measured), **tick),
        *([layer("text", known, x=RIGHT, y=at("under"), shown=shown, **foot)] if said else []),
    ]


@dataclass(frozen=True)
class Sign:
    """One entry of a colour key: a patch `width` laptop pixels wide and its word."""

    name: str
    fill: str
    ink: str
    width: float = 12
    edge: str = ""


def key(
    look: Look, signs: Iterable[Sign], *, size: float = 14.5, weight: int = 600, gap: float = 14
) -> tuple[Layer, ...]:
    """What each fill is, in words over the first bar: on one line, or on two where a phone has no room for all."""
    return _key(look, tuple(signs), size, weight, gap)


@lru_cache(maxsize=256)
def _key(look: Look, signs: Sequence[Sign], size: float, weight: int, gap: float) -> tuple[Layer, ...]:
    """The same for whatever is drawn under it."""
    one, wide = _lined(look, signs, size, gap, inf)
    two, _ = _lined(look, signs, size, gap, look.px(_PHONE_PLOT))
    if wide <= look.px(_PHONE_PLOT):
        rows = [{**row, "from": 0, "below": _WIDEST} for row in one]
    else:
        rows = [{**row, "from": wide, "below": _WIDEST} for row in one]
        rows += [{**row, "from": 0, "below": wide} for row in two]
    fits = "datum.from <= width && width < datum.below && datum.end <= width"
    patch = {"x": at("left"), "x2": "right", "y": at("top"), "y2": "bottom"}
    font = {**words(look, size, align="left", fontWeight=weight), "color": own("ink")}
    return (
        layer("rect", rows, where=fits, **patch, color=own("fill"), stroke=own("edge"), strokeWidth=look.px(1)),
        layer("text", rows, where=fits, x=at("word"), y=at("middle"), text="name", **font),
    )


def _lined(look: Look, signs: Sequence[Sign], size: float, gap: float, room: float) -> tuple[list[Row], float]:
    """The signs one behind the other, on a second line from where `room` is full, and where the last ends."""
    rows: list[Row] = []
    left = end = 0.0
    second = False
    for sign in signs:
        end = left + sign.width + 6 + width_of(sign.name, size)
        if look.letters(end) > room and rows and not second:
            second, left, end = True, 0.0, end - left
        rows.append(
            {
                "name": sign.name,
                "fill": sign.fill,
                "ink": sign.ink,
                "edge": sign.edge or sign.fill,
                "left": look.letters(left),
                "right": look.letters(left + sign.width),
                "word": look.letters(left + sign.width + 6),
                "end": look.letters(end),
                "line": int(second),
            }
        )
        left = end + gap
    middles = [0, 15.5] if second else [9]
    drawn = [{**row, **{name: look.px(middles[row["line"]] + far) for name, far in _EDGES.items()}} for row in rows]
    return drawn, look.letters(end)


def columns(
    look: Look,
    rows: Sequence[Row],
    name: str,
    value: Spec,
    part: str,
    fills: Mapping[str, str],
    tooltip: Sequence[str] = (),
    **axis: Any,
) -> Layer:
    """Upright bars, one a name in the order of the rows, their parts stacked in the order of `fills`."""
    labels = {"title": None, "labelAngle": 0, "tickSize": 0, **axis}
    x = {"field": name, "type": "nominal", "sort": None, "axis": labels}
    order = list(fills)
    stacked = [{**row, "place": order.index(row[part])} for row in map(as_row, rows)]
    style = {"color": by(part, fills), "stroke": look.palette.ground, "strokeWidth": look.px(1)}
    order_by = {"field": "place", "type": "ordinal"}
    return layer("bar", stacked, x=x, y=value, order=order_by, tooltip=[name, part, *tooltip], **style)
