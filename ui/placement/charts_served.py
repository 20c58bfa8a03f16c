"""Served times against what was predicted: a line a system and model, blind above, by constants of others below."""

from collections.abc import Iterable

from runtime.prose import said
from ui.figures.dots import dot, key, rules
from ui.figures.style import (
    BOTTOM,
    PLAIN,
    RIGHT,
    Figure,
    Row,
    decades,
    either,
    figure,
    kept,
    layer,
    linear,
    log,
    own,
    rows_of,
    words,
)
from ui.theme import Look

_LINE = 34
_KEY_PX = 46
"""Down to where the key stands, which nothing is to be drawn through."""
_LEAST_PX, _MOST_PX = 4, 15
"""Across: a dot of one time, and of as many as any dot stands for."""


@kept
def served_off(dots: Iterable[Row], lines: Iterable[Row], look: Look) -> Figure:
    """Dots at measured over predicted: open ones told blind, filled ones by constants their model had no part in.

    `dots` has told, position, ratio and count, `lines` position, line and own: one's own system is in full ink. A
    dot is as large as the times it stands for; at 1 a prediction is right, in the shade within a quarter.
    """
    palette, names, found = look.palette, rows_of(lines), rows_of(dots)
    most = max((row["count"] for row in found), default=1)
    wide = _MOST_PX - _LEAST_PX
    rows = [
        {
            **row,
            "at": row["position"] + (0.08 if row["told"] == "blind" else 0.42),
            "area": round(look.px(_LEAST_PX + wide * (row["count"] / most) ** 0.5) ** 2),
        }
        for row in found
    ]
    labels = [{"line": row["line"], "own": row["own"], "at": row["position"]} for row in names]
    ticks = decades(1, 2, 3, 5, 7)
    x = log("ratio", [0.24, 4.2], PLAIN, title=said("placement", "beside.axis"), ticks=ticks, grid=True)
    y = linear("at", [len(names) - 0.1, -2.0], PLAIN, ticks=[], line=False)
    circle = dot(look, 7, width=1.1) | {
        "fill": either("datum.told === 'now'", palette.primary, palette.ground),
        "size": own("area"),
    }
    label = words(look, 13, align="left", dy=look.px(-9)) | {
        "color": either("datum.own", palette.text, palette.muted)
    }
    entries = (
        (said("placement", "served.now"), palette.primary),
        (said("placement", "served.blind"), palette.ground),
    )
    below = {"y": look.px(_KEY_PX), "y2": BOTTOM}
    layers = [
        layer("rect", [{"ratio": 0.8, "end": 1.25}], x=x, x2="end", color=palette.hairline, opacity=0.6, **below),
        rules(look, "x", x, [1.0], color=palette.text, **below),
        layer("rule", labels, x=0, x2=RIGHT, y=y, strokeWidth=look.px(0.5), color=palette.hairline),
        layer("point", rows, x=x, y=y, tooltip=["told", "ratio", "count"], **circle),
        layer("text", labels, x=look.px(2), y=y, text="line", **label),
        *key(look, entries),
    ]
    return figure(layers, look, _LINE * (len(names) + 2))
