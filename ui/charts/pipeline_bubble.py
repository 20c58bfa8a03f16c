"""Lab 04's charts: the bubble against the microbatches, and the formulas it is mistaken for."""

import altair as alt
import pandas as pd

from ui.charts.style import Chart, serif, styled, words
from ui.theme import Look

_ROW = 56


def bubble_curve(curve: pd.DataFrame, marks: pd.DataFrame, budget_percent: float, look: Look) -> Chart:
    """The bubble as a share of time against m, both axes fixed, with the budget as a line across.

    `curve` has series ("now" or "pinned"), microbatches, bubble_percent; `marks` has series (also "budget"),
    microbatches, bubble_percent, text.
    """
    return styled(
        alt.layer(*_budget_line(budget_percent, look), *_lines(curve, look), *_marks(marks, look)), look, 320
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
    return [base.mark_rule(**dash), base.mark_text(**label).encode(x=alt.value(0), text="text")]


def _lines(curve: pd.DataFrame, look: Look) -> list[alt.Chart]:
    def line(series: str, **mark: object) -> alt.Chart:
        return alt.Chart(curve[curve.series == series]).mark_line(**mark).encode(x=_x(), y=_y())

    return [
        line("pinned", color=look.palette.axis, strokeWidth=look.px(2.5), strokeDash=[2, 4]),
        line("now", color=look.palette.text, strokeWidth=look.px(3.5), strokeCap="round"),
    ]


def _marks(marks: pd.DataFrame, look: Look) -> list[alt.Chart]:
    palette = look.palette
    dot = {"filled": True, "fill": palette.ground, "strokeWidth": look.px(2.5), "opacity": 1}

    def dots(series: str, stroke: str) -> alt.Chart:
        base = alt.Chart(marks[marks.series == series]).encode(x=_x(), y=_y())
        return base.mark_point(size=look.px(13) ** 2, stroke=stroke, **dot)

    def labels(series: str, **text: object) -> alt.Chart:
        base = alt.Chart(marks[marks.series == series]).encode(x=_x(), y=_y(), text="text")
        return base.mark_text(**{**words(look, 15, align="left", dx=look.px(13), dy=look.px(-13)), **text})

    budget = alt.Chart(marks[marks.series == "budget"]).encode(x=_x(), y=_y())
    tick = budget.mark_tick(
        orient="vertical", size=look.px(30), thickness=look.px(4), color=palette.text, opacity=1
    )
    return [
        dots("pinned", palette.axis),
        tick,
        dots("now", palette.text),
        labels("pinned", color=palette.muted, align="right", dx=look.px(-12), dy=look.px(15)),
        labels("budget", **serif(look, 20, fontWeight=600, align="center", dx=0, dy=look.px(-30))),
        labels("now", fontWeight=600),
    ]


def slip_dots(slips: pd.DataFrame, look: Look) -> Chart:
    """One row a formula: its letters, what it is, and what it says on an axis of per cent; the truth stands across.

    Columns: formula, what, percent, value, right.
    """
    palette = look.palette
    rows = slips.assign(
        middle=[look.px(_ROW * (i + 0.62)) for i in range(len(slips))],
        over=[look.px(_ROW * (i + 0.22)) for i in range(len(slips))],
        name=slips.formula + ": " + slips.what,
        truth=slips.percent.iloc[0],
    )
    axis = alt.Axis(grid=False, title=None, labelExpr="datum.value + ' %'", tickCount=5)
    x = alt.X("percent:Q", scale=alt.Scale(domain=[0, 100]), axis=axis)
    base = alt.Chart(rows).encode(y=alt.Y("middle:Q", scale=None, axis=None))
    over = alt.Chart(rows).encode(y=alt.Y("over:Q", scale=None, axis=None))
    layers = [
        alt.Chart(rows.head(1)).mark_rule(strokeWidth=look.px(2.5), color=palette.text).encode(x=x),
        base.mark_rule(strokeWidth=look.px(5), color=palette.text, opacity=0.9).encode(
            x=alt.X("truth:Q"), x2="percent"
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
            base.transform_filter(f"datum.percent {side} datum.truth")
            .mark_text(**serif(look, 19, fontWeight=600, align=align, dx=look.px(dx)))
            .encode(x=x, text="value")
            for side, align, dx in ((">=", "left", 15), ("<", "right", -15))
        ),
        *(
            over.mark_text(**words(look, 14.5, align="left", **halo)).encode(x=alt.value(0), text="name")
            for halo in ({"stroke": palette.ground, "strokeWidth": look.px(5)}, {})
        ),
    ]
    return styled(alt.layer(*layers), look, _ROW * len(slips))
