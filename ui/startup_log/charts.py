"""The log reader's figures: residuals by quantity, and a residual that shrinks with each rule."""

import altair as alt
import pandas as pd

from core.units import grouped
from ui.figures.style import Chart, over_lines, styled, words
from ui.theme import Look

_ROW = 46
_LEAST = 0.001
_TOLERANCE = 0.5
_TICKS = (0.5, 1, 5, 25, 100, 1000)


def residual_marks(rows: pd.DataFrame, look: Look) -> Chart:
    """One mark a figure, by how many per cent the log is from its prediction; the band is what is let pass.

    Columns: quantity, residual_percent, verdict, logged, unit; a row without a residual has no mark.
    """
    palette = look.palette
    rows = rows[["quantity", "residual_percent", "verdict", "logged", "unit"]].dropna(subset="residual_percent")
    rows = rows.assign(words=[amount(row.logged, row.unit) for row in rows.itertuples()])
    reach = max(2 * _TOLERANCE, 1.15 * float(rows.residual_percent.abs().max()))
    scale = alt.Scale(type="symlog", constant=_TOLERANCE, domain=[-reach, reach])
    ticks = [sign * tick for tick in _TICKS if tick <= reach for sign in (-1, 1)]
    # an axis' own format would round its labels to the step of a linear scale: 25 to 3e+1
    label = "format(datum.value, '~g')"
    axis = alt.Axis(title="logged against predicted, %", values=[0, *ticks], labelExpr=label)
    x = alt.X("residual_percent:Q", scale=scale, axis=axis)
    y = alt.Y(
        "quantity:N", sort=None, axis=alt.Axis(title=None, labelLimit=look.px(220), domain=False, ticks=False)
    )
    colour = alt.condition("datum.verdict == 'off'", alt.value(palette.off), alt.value(palette.ok))
    shape = alt.condition("datum.verdict == 'off'", alt.value("cross"), alt.value("circle"))
    marks = alt.Chart(rows).mark_point(filled=True, size=look.px(110), opacity=1)
    layers = [
        _band(look, scale),
        alt.Chart(pd.DataFrame({"residual_percent": [0.0]})).mark_rule(color=palette.axis).encode(x=x),
        marks.encode(x=x, y=y, color=colour, shape=shape),
        alt.Chart(rows[rows.verdict == "off"])
        .mark_text(**words(look, 13.5, align="left", dx=look.px(10), color=palette.off))
        .encode(x=x, y=y, text=alt.Text("words")),
    ]
    return styled(alt.layer(*layers), look, _ROW * max(2, rows.quantity.nunique()))


def _band(look: Look, scale: alt.Scale) -> alt.Chart:
    """What a size may miss by."""
    data = pd.DataFrame({"low": [-_TOLERANCE], "high": [_TOLERANCE]})
    band = alt.Chart(data).mark_rect(color=look.palette.second_ground)
    return band.encode(x=alt.X("low:Q", scale=scale), x2=alt.X2("high:Q"))


def shrinking_residuals(rows: pd.DataFrame, look: Look) -> Chart:
    """A line a log: the residual after each rule, on a logarithmic axis, named where it begins.

    Columns: log, number, rule, residual_percent.
    """
    palette = look.palette
    shown = rows.assign(shown=rows.residual_percent.clip(lower=_LEAST))
    rules = rows.sort_values("number").drop_duplicates("number").rule.tolist()
    x = alt.X("rule:N", sort=rules, scale=alt.Scale(padding=0.3), axis=alt.Axis(title=None, labelAngle=0))
    axis = alt.Axis(title="residual, %", values=[0.001, 0.01, 0.1, 1], format="~g", grid=True)
    y = alt.Y("shown:Q", scale=alt.Scale(type="log", domain=[_LEAST, 6]), axis=axis)
    base = alt.Chart(shown)
    line = base.mark_line(color=palette.axis, strokeWidth=look.px(1.4)).encode(x=x, y=y, detail=alt.Detail("log:N"))
    dot = base.mark_point(filled=True, opacity=1, size=look.px(80), color=palette.primary).encode(x=x, y=y)
    first = shown[shown.number == 1].sort_values("shown", ascending=False)
    names = [
        over_lines(
            alt.Chart(part).encode(x=x, y=y, text=alt.Text("log")),
            look,
            **words(look, 13, align="left", dx=look.px(4), dy=look.px(side * 12)),
        )
        for part, side in ((first.head(2), -1), (first.tail(-2), 1))
    ]
    return styled(alt.layer(line, dot, *names), look, 320)


def amount(value: float, unit: str) -> str:
    """A figure with its unit, four decimals of a size as the engines print it."""
    number = grouped(round(value)) if float(value).is_integer() else f"{value:.4f}".rstrip("0")
    return f"{number} {unit}"
