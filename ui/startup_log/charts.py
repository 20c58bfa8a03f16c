"""The log reader's figures: residuals by quantity, and a residual that shrinks with each rule."""

from collections.abc import Iterable

from runtime.prose import named
from runtime.prose import said as phrase
from runtime.quantities import grouped, local
from ui.figures.dots import rules
from ui.figures.lines import names
from ui.figures.style import PLAIN, Figure, Row, either, figure, kept, layer, linear, log, rows_of, words
from ui.theme import Look

_ROW = 46
_LEAST = 0.001
_TOLERANCE = 0.5
_TICKS = (0.5, 1, 5, 25, 100, 1000)


@kept
def residual_marks(rows: Iterable[Row], look: Look) -> Figure:
    """One mark a figure, by how many per cent the log is from its prediction; the band is what is let pass.

    Columns: quantity, residual_percent, verdict, logged, unit; a row without a residual has no mark.
    """
    palette = look.palette
    marks = [
        {**row, "words": amount(row["logged"], row["unit"])}
        for row in rows_of(rows)
        if row["residual_percent"] is not None
    ]
    reach = max([2 * _TOLERANCE, *(1.15 * abs(row["residual_percent"]) for row in marks)])
    ticks = [0, *(sign * tick for tick in _TICKS if tick <= reach for sign in (-1, 1))]
    title = phrase("startup_log", "says.logged_against_predicted")
    x = linear("residual_percent", [-reach, reach], PLAIN, title=title, ticks=ticks, grid=True)
    x |= {"scale": {"type": "symlog", "constant": _TOLERANCE, "domain": [-reach, reach]}}
    labels = {"title": None, "labelLimit": look.px(220), "domain": False, "ticks": False}
    y = {"field": "quantity", "type": "nominal", "sort": None, "axis": labels}
    off = "datum.verdict == 'off'"
    band = [{"residual_percent": -_TOLERANCE, "high": _TOLERANCE}]
    mark = {"color": either(off, palette.off, palette.ok), "shape": either(off, "cross", "circle")}
    beside = words(look, 13.5, align="left", dx=look.px(10), color=palette.off)
    layers = [
        layer("rect", band, x=x, x2="high", color=palette.second_ground),
        rules(look, "x", x, [0.0], strokeWidth=1, color=palette.axis),
        layer("point", marks, x=x, y=y, filled=True, size=look.px(110), opacity=1, **mark),
        layer("text", marks, where=off, x=x, y=y, text="words", **beside),
    ]
    return figure(layers, look, _ROW * max(2, len({row["quantity"] for row in marks})))


@kept
def shrinking_residuals(rows: Iterable[Row], look: Look) -> Figure:
    """A line a log: the residual after each rule, on a logarithmic axis, named where it begins.

    Columns: log, number, rule, residual_percent.
    """
    palette = look.palette
    points = [
        {**row, "shown": max(_LEAST, row["residual_percent"]), "rule": named("startup_log", row["rule"])}
        for row in rows_of(rows)
    ]
    order = list(dict.fromkeys(row["rule"] for row in sorted(points, key=lambda row: row["number"])))
    labels = {"title": None, "labelAngle": 0}
    x = {"field": "rule", "type": "nominal", "sort": order, "scale": {"padding": 0.3}, "axis": labels}
    y = log(
        "shown",
        [_LEAST, 6],
        PLAIN,
        title=phrase("startup_log", "says.residual_percent"),
        ticks=[0.001, 0.01, 0.1, 1],
        grid=True,
    )
    first = sorted((row for row in points if row["number"] == 1), key=lambda row: -row["shown"])
    name = {"fontSize": look.font(13), "fontWeight": "normal", "align": "left", "dx": look.px(4)}
    layers = [
        layer("line", points, x=x, y=y, detail="log", color=palette.axis, strokeWidth=look.px(1.4)),
        layer("point", points, x=x, y=y, filled=True, opacity=1, size=look.px(80), color=palette.primary),
        *names(look, first[:2], x, y, "log", **name, dy=look.px(-12)),
        *names(look, first[2:], x, y, "log", **name, dy=look.px(12)),
    ]
    return figure(layers, look, 320, padding={"right": 24})


def amount(value: float, unit: str) -> str:
    """A figure with its unit, four decimals of a size as the engines print it."""
    number = grouped(round(value)) if float(value).is_integer() else local(f"{value:.4f}".rstrip("0"))
    return f"{number} {named('startup_log', unit)}"
