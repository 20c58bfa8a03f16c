"""One all-reduce against its payload: a link's line, what was measured beside it, and names clear of both."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from math import log2, sqrt
from operator import itemgetter
from typing import Any

from runtime.prose import named
from runtime.prose import said as phrase
from ui.figures.dots import dashed, dot
from ui.figures.lines import ends, payloads, times
from ui.figures.style import (
    MICROSECONDS,
    PHONE,
    Figure,
    Layer,
    Row,
    Spec,
    by,
    each,
    figure,
    kept,
    layer,
    narrower,
    own,
    rows_of,
    words,
)
from ui.theme import Look

_NAME, _NAME_PROJECTED = 0.16, 0.2
"""The part of the axis's length that a name under a line takes, on a laptop and when projected."""
_LONG_NAME, _CLOSE = 16, 2.5
"""Letters that a phone has for a line's name; how many times as long leaves room for one between two lines."""

_NAMED = each("align", "dx")
"""A name beside a place, on the side that has room for it."""

Rows = Sequence[dict[str, Any]]


@kept
def time_against_payload(
    model: Iterable[Row], measured: Iterable[Row], marks: Iterable[Row], residuals: Iterable[Row], look: Look
) -> Figure:
    """One all-reduce, log-log: the model as a line in the colour of the term that rules, measurements as circles.

    `model` has link, name, payload_bytes, time_us, rules ("latency" or "bandwidth"); `measured` machine,
    payload_bytes, time_us; `marks` payload_bytes, name: the payloads worth pointing at; `residuals` payload_bytes,
    time_us, name, above: why a circle is off the line.
    """
    line, circles, palette = rows_of(model), rows_of(measured), look.palette
    sizes = [row["payload_bytes"] for row in line]
    pointers = _named_beside(rows_of(marks), sqrt(min(sizes) * max(sizes)), look)
    x = payloads("payload_bytes", sizes, phrase("shell", "figure.payload"))
    y = times("time_us", [row["time_us"] for row in (*line, *circles)], look, MICROSECONDS)
    colours = by("rules", {"latency": palette.latency, "bandwidth": palette.bandwidth})
    layers = [
        layer("rule", pointers, x=x, **dashed(look, (2, 4), color=palette.text)),
        layer("text", pointers, x=x, y=look.px(8), text="name", **_NAMED, **words(look, 14, fontWeight=600)),
        layer(
            "line",
            line,
            x=x,
            y=y,
            color=colours,
            detail=[{"field": "link", "type": "nominal"}, {"field": "rules", "type": "nominal"}],
            strokeWidth=look.px(4),
            strokeCap="round",
        ),
        layer("point", circles, x=x, y=y, tooltip=["machine", "payload_bytes", "time_us"], **dot(look, 7)),
        _residual_names(rows_of(residuals), x, y, look),
        _regimes(line, circles, pointers, x, y, look),
        _line_names(line, circles, x, y, look),
    ]
    return figure(layers, look, 216 if look.present else 330)


def _line_names(line: Rows, measured: Rows, x: Spec, y: Spec, look: Look) -> Layer:
    """What each line is called, under its beginning, or over it where circles or another line lie under.

    On a phone the line rises through a name over it: with circles there it stands under them, a long one in short.
    """
    rows, phone = [], narrower(look, PHONE)
    shown = f"{phone} && length(datum.name) > {_LONG_NAME} ? peek(split(datum.name, ', ')) : datum.name"
    starts = ends(line, "link", "payload_bytes", last=False)
    for start in starts:
        whole = [row for row in line if row["link"] == start["link"]]
        near = any(size < 16 * start["payload_bytes"] for size in _under(measured, whole))
        apart = [start["time_us"] / other["time_us"] for other in starts if other is not start]
        upper, lower = (any(1 <= gap < _CLOSE for gap in gaps) for gaps in (apart, [1 / gap for gap in apart]))
        under = 26 if near else 17
        wide, narrow = -12 if upper or (near and not lower) else under, -12 if upper else under
        rows.append({**start, "wide": look.px(wide), "narrow": look.px(narrow)})
    dy = {"expr": f"{phone} ? datum.narrow : datum.wide"}
    text = words(look, 15, align="left", fontWeight=600, dx=look.px(4), dy=dy)
    return layer("text", rows, x=x, y=y, shown=shown, **text)


def _named_beside(pointers: Rows, middle: float, look: Look) -> Rows:
    """Payloads, each with the side of its rule that its name is on: where the axis is longer."""
    sides = {True: {"align": "left", "dx": look.px(7)}, False: {"align": "right", "dx": look.px(-7)}}
    return [{**row, **sides[row["payload_bytes"] < middle]} for row in pointers]


def _residual_names(residuals: Rows, x: Spec, y: Spec, look: Look) -> Layer:
    """What each residual is called: over a circle above the line and under one below it, on the side with room."""
    room = f"!({narrower(look, PHONE)}) || length(datum.name) < 10"  # a phone has room for a short name alone
    sides = {True: {"align": "left", "dx": 0}, False: {"align": "right", "dx": look.px(-3)}}
    rows = [
        {**row, **sides[row["payload_bytes"] < 2**12], "dy": look.px(-13 if row["above"] else 15)}
        for row in residuals
    ]
    text = {**words(look, 13.5, color=look.palette.muted), **_NAMED, **each("dy")}
    return layer("text", rows, where=room, x=x, y=y, text="name", **text)


def _regimes(line: Rows, measured: Rows, marks: Rows, x: Spec, y: Spec, look: Look) -> Layer:
    """`latency rules` and `bandwidth rules`, once, each under a line, in their own inks; a phone has no room."""
    inks = {"latency": look.palette.latency_text, "bandwidth": look.palette.bandwidth_text}
    sizes = [row["payload_bytes"] for row in line]
    reach = (max(sizes) / min(sizes)) ** (_NAME_PROJECTED if look.present else _NAME)
    starts = []
    for rule, ink in sorted(inks.items(), reverse=True):
        if parts := _long_enough([row for row in line if row["rules"] == rule]):
            in_the_way = [*_under(measured, parts), *(row["payload_bytes"] for row in marks)]
            start = {
                **_clear_of(in_the_way, parts, max(sizes), reach),
                "said": phrase("shell", "figure.rules", rule=named("shell", rule)),
                "ink": ink,
            }
            starts.append(start)
    text = words(look, 14, align="left", dx=look.px(12), dy=look.px(16), fontWeight=600, color=own("ink"))
    return layer("text", starts, where=f"!({narrower(look, PHONE)})", x=x, y=y, text="said", **text)


def _long_enough(parts: Rows) -> Rows:
    """Of the stretches of line that one term rules, the upper one, unless another is more than twice as long."""
    links = {row["link"]: [other for other in parts if other["link"] == row["link"]] for row in parts}
    octaves = {link: _octaves([row["payload_bytes"] for row in rows]) for link, rows in links.items()}
    if not parts:
        return []
    upper = max(parts, key=lambda row: row["time_us"])["link"]
    longest = max(octaves, key=lambda link: octaves[link])
    return links[upper if 2 * octaves[upper] >= octaves[longest] else longest]


def _octaves(sizes: Sequence[float]) -> float:
    return log2(max(sizes) / min(sizes))


def _clear_of(in_the_way: Sequence[float], line: Rows, end_bytes: float, reach: float) -> dict[str, Any]:
    """The row nearest the line's middle from which a name meets neither what is in the way nor the axis's end."""
    middle = line[len(line) // 2]["payload_bytes"]

    def clear(size: float) -> bool:
        return size * reach <= end_bytes and not any(size < other < size * reach for other in in_the_way)

    free = [row for row in line if clear(row["payload_bytes"])] or line
    return min(free, key=lambda row: abs(log2(row["payload_bytes"] / middle)))


def _under(measured: Rows, line: Rows) -> list[float]:
    """Payloads of the circles that lie close under a line."""
    line = sorted(line, key=itemgetter("payload_bytes"))
    sizes, shaded = [point["payload_bytes"] for point in line], []
    for row in measured:
        at = bisect_left(sizes, row["payload_bytes"])
        beside = line[max(0, at - 1) : at + 1]
        on_line = min(beside, key=lambda point: abs(point["payload_bytes"] - row["payload_bytes"]))
        if 0.4 * on_line["time_us"] <= row["time_us"] <= 0.97 * on_line["time_us"]:
            shaded.append(row["payload_bytes"])
    return shaded
