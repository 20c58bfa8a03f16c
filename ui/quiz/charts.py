"""The score by concept: a bar of what was right, and the line that passes."""

from collections.abc import Iterable

from ui.figures.dots import dashed, rules
from ui.figures.style import FRACTION, Figure, Row, either, figure, kept, layer, linear, rows_of, words
from ui.theme import Look

_ROW = 34


@kept
def score_bars(bars: Iterable[Row], pass_fraction: float, look: Look) -> Figure:
    """One bar a concept on an axis from none to all right; a weak one is hollow, and says so by its outline."""
    ink, rows = look.palette.primary, rows_of(bars)
    labels = {"title": None, "ticks": False, "domain": False, "labelLimit": look.px(170)}
    y = {"field": "concept", "type": "nominal", "sort": None, "axis": labels}
    x = linear("right_fraction", [0, 1.18], FRACTION, ticks=[0, 0.25, 0.5, 0.75, 1])
    bar = {"height": {"band": 0.56}, "stroke": ink, "strokeWidth": look.px(1.5)}
    layers = [
        layer("bar", rows, x=x, y=y, fill=either("datum.weak", look.palette.ground, ink), **bar),
        rules(look, "x", x, [pass_fraction], **dashed(look, (4, 4))),
        layer("text", rows, x=x, y=y, text="in_words", **words(look, 13.5, align="left", dx=look.px(7))),
    ]
    return figure(layers, look, _ROW * len(rows))
