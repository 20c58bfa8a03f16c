"""Lab 04's charts: the bubble against the microbatches, and the formulas it is mistaken for."""

import altair as alt
import pandas as pd

from ui.figures.style import Chart, serif, styled, words
from ui.theme import Look

_ROW = 56


def bubble_curve(curve: pd.DataFrame, marks: pd.DataFrame, budget_percent: float, look: Look) -> Chart:
    """The bubble as a share of time against m, both axes fixed, with the budget as a line across.

    `curve` has series ("now" or "pinned"), microbatches, bubble_percent; `marks` has series (also "budget"),
    microbatches, bubble_percent, text.
    """
    return styled(
        alt.layer(*_budget_line(budget_percent, look), *_lines(curve, look), *_marks(marks, look)),
        look,
        250 if look.present else 320,
    )


def _x() -> alt.X:
    axis = alt.Axis(values=[2**power for power in range(11)], grid=False, title="microbatches m", format="d")
    return alt.X("microbatches:Q", scale=alt.Scale(type="log", base=2, domain=[1, 1024]), axis=axis)


def _y() -> alt.Y:
    axis = alt.Axis(
        values=[0, 25, 50, 75, 100], title=None, labelExpr="datum.value + ' %'", domain=False, tickSize=0
    )
    return alt.Y("bubble_percent:Q", scale=alt.Scale(domain=[0, 100]), axis=axis)


def _budget_line(budget_percent: float, look: Look) -> list[alt.Chart]:
    line = pd.DataFrame({"bubble_percent": [budget_percent], "text": [f"budget {budget_percent:g} %"]})
    base = alt.Chart(line).encode(y=_y())
    dash = {"strokeDash": [6, 4], "strokeWidth": look.px(1.5), "color": look.palette.muted}
    label = words(look, 14, align="left", color=look.palette.muted, dx=look.px(6), dy=look.px(-11))
    return [base.mark_rule(**dash), base.mark_text(**label).encode(x=alt.XValue(0), text=alt.Text("text"))]


def _lines(curve: pd.DataFrame, look: Look) -> list[alt.Chart]:
    styles = {
        "pinned": {"color": look.palette.axis, "strokeWidth": look.px(2.5), "strokeDash": [2, 4]},
        "now": {"color": look.palette.text, "strokeWidth": look.px(3.5), "strokeCap": "round"},
    }
    return [
        alt.Chart(rows).mark_line(**style).encode(x=_x(), y=_y())
        for series, style in styles.items()
        if len(rows := curve[curve.series == series])
    ]


def _marks(marks: pd.DataFrame, look: Look) -> list[alt.Chart]:
    """The budget's upright stands under the open circles; each has its words beside it."""
    layers = []
    for series in ("pinned", "budget", "now"):
        rows = marks[marks.series == series]
        if len(rows):
            base = alt.Chart(rows).encode(x=_x(), y=_y())
            layers += [
                _symbol(base, series, look),
                base.mark_text(**_label(series, look)).encode(text=alt.Text("text")),
            ]
    return layers


def _symbol(base: alt.Chart, series: str, look: Look) -> alt.Chart:
    palette = look.palette
    if series == "budget":
        return base.mark_tick(
            orient="vertical", size=look.px(30), thickness=look.px(4), color=palette.text, opacity=1
        )
    stroke = palette.text if series == "now" else palette.axis
    size, width = look.px(13) ** 2, look.px(2.5)
    return base.mark_point(size=size, stroke=stroke, strokeWidth=width, filled=True, fill=palette.ground, opacity=1)


def _label(series: str, look: Look) -> dict[str, object]:
    if series == "budget":
        return serif(look, 20, fontWeight=600, dy=look.px(-30))
    if series == "pinned":
        return words(look, 15, align="right", color=look.palette.muted, dx=look.px(-12), dy=look.px(15))
    return words(look, 15, align="left", fontWeight=600, dx=look.px(13), dy=look.px(-13))


def slip_dots(slips: pd.DataFrame, look: Look) -> Chart:
    """One row a formula: its letters, what it is, and what it says on an axis of per cent; the truth stands across.

    More than the whole is drawn at the end of the axis. Columns: formula, what, percent, value, right.
    """
    palette = look.palette
    rows = slips.assign(
        middle=[look.px(_ROW * (i + 0.62)) for i in range(len(slips))],
        over=[look.px(_ROW * (i + 0.22)) for i in range(len(slips))],
        name=slips.formula + ": " + slips.what,
        truth=slips.percent.iloc[0],
        shown=slips.percent.clip(upper=100),
    )
    axis = alt.Axis(grid=False, title=None, labelExpr="datum.value + ' %'", tickCount=5)
    x = alt.X("shown:Q", scale=alt.Scale(domain=[0, 100]), axis=axis)
    base = alt.Chart(rows).encode(y=alt.Y("middle:Q", scale=None, axis=None))
    over = alt.Chart(rows).encode(y=alt.Y("over:Q", scale=None, axis=None))
    layers = [
        alt.Chart(rows.head(1)).mark_rule(strokeWidth=look.px(2.5), color=palette.text).encode(x=x),
        base.mark_rule(strokeWidth=look.px(5), color=palette.text, opacity=0.9).encode(
            x=alt.X("truth:Q"), x2=alt.X2("shown")
        ),
        base.mark_point(
            size=look.px(14) ** 2,
            filled=True,
            fill=palette.ground,
            strokeWidth=look.px(2.5),
            stroke=palette.text,
            opacity=1,
        ).encode(x=x),
        *(
            base.transform_filter(where)
            .mark_text(**serif(look, 19, fontWeight=600, align=align, dx=look.px(dx), dy=look.px(dy)))
            .encode(x=x, text=alt.Text("value"))
            for where, align, dx, dy in (
                ("datum.percent >= datum.truth && datum.percent < 90", "left", 15, 0),
                ("datum.percent < datum.truth", "right", -15, 0),
                ("datum.percent >= datum.truth && datum.percent >= 90", "right", 0, -20),
            )
        ),
        *(
            over.mark_text(**words(look, 14.5, align="left", **halo)).encode(x=alt.XValue(0), text=alt.Text("name"))
            for halo in ({"stroke": palette.ground, "strokeWidth": look.px(5)}, {})
        ),
    ]
    return styled(alt.layer(*layers), look, _ROW * len(slips))


def held_bars(held: pd.DataFrame, look: Look) -> Chart:
    """Activations held at most, a pair of bars a rank: the first schedule outlined, the second filled.

    Columns: name, series ("first" or "second"), rank, held.
    """
    palette = look.palette
    names = held.drop_duplicates("series")
    fills = alt.Scale(domain=["first", "second"], range=[palette.ground, palette.compute])
    x = alt.X("rank:O", axis=alt.Axis(title="rank", labelAngle=0, tickSize=0))
    y = alt.Y("held:Q", axis=alt.Axis(title=None, tickMinStep=1, tickCount=4, domain=False, tickSize=0))
    bars = (
        alt.Chart(held)
        .mark_bar(stroke=palette.text, strokeWidth=look.px(1.2))
        .encode(x=x, xOffset=alt.XOffset("series:N"), y=y, fill=alt.Fill("series:N", scale=fills))
    )
    keys = (
        alt.Chart(names.assign(text=names.name + [": outlined", ": filled"][: len(names)], at=range(len(names))))
        .transform_calculate(y=f"datum.at * {look.px(18)} - {look.px(32)}")
        .mark_text(**words(look, 13.5, align="right", color=palette.muted))
        .encode(x=alt.XValue("width"), y=alt.Y("y:Q", scale=None, axis=None), text=alt.Text("text"))
    )
    return styled(alt.layer(bars, keys).resolve_scale(y="independent"), look, 150)


def serve_curve(curve: pd.DataFrame, column: str, in_flight: int, look: Look) -> Chart:
    """Throughput or the time of a token against the microbatches in flight, with a circle where we stand."""
    palette = look.palette
    x = alt.X(
        "in_flight:Q",
        scale=alt.Scale(nice=False, zero=True),
        axis=alt.Axis(grid=False, title="in flight", tickMinStep=1),
    )
    y = alt.Y(
        f"{column}:Q", scale=alt.Scale(zero=True), axis=alt.Axis(title=None, tickCount=4, domain=False, tickSize=0)
    )
    here = alt.Chart(curve[curve.in_flight == in_flight]).encode(x=x, y=y)
    line = (
        alt.Chart(curve).mark_line(color=palette.text, strokeWidth=look.px(3), strokeCap="round").encode(x=x, y=y)
    )
    dot = here.mark_point(
        size=look.px(13) ** 2,
        filled=True,
        fill=palette.ground,
        stroke=palette.text,
        strokeWidth=look.px(2.5),
        opacity=1,
    )
    return styled(alt.layer(line, dot), look, 180)
