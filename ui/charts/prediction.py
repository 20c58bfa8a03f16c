"""One number line: what the learner said, the truth, and the error between them."""

import altair as alt
import pandas as pd

from ui.charts.style import Chart, serif, styled, words
from ui.theme import Look


def prediction_line(
    said: float | None, truth: float | None, look: Look, *, high: float, axis: str, unit: str, digits: int = 1
) -> Chart:
    """An axis from 0 to `high`; an open circle where the learner said, and after the reveal the truth upright.

    `truth=None` draws the question alone. The bar between the two is the error.
    """
    x = alt.X("value:Q", scale=alt.Scale(domain=[0, high], nice=False)).axis(
        orient="bottom",
        grid=False,
        title=None,
        offset=0,
        labelExpr=f"datum.label + (datum.value == {high} ? ' {unit}' : '')",
    )
    mid, p = look.px(46), look.palette
    layers = [alt.Chart(pd.DataFrame({"value": [0.0]})).mark_point(opacity=0).encode(x=x)]
    if truth is not None and said is not None:
        error = pd.DataFrame(
            {"value": [said], "end": [truth], "at": [(said + truth) / 2], "text": [_gap(said, truth, unit)]}
        )
        base = alt.Chart(error)
        layers.append(base.mark_rule(strokeWidth=look.px(5), color=p.text).encode(x=x, x2="end", y=alt.value(mid)))
        layers.append(
            base.mark_text(**words(look, 14.5, color=p.muted)).encode(
                x="at:Q", y=alt.value(mid + look.px(-14)), text="text"
            )
        )
    if said is not None:
        base = alt.Chart(pd.DataFrame({"value": [said], "text": [f"you said {said:g} {unit}"]}))
        layers.append(
            base.mark_point(
                shape="circle",
                size=look.px(15) ** 2,
                filled=True,
                fill=p.ground,
                stroke=p.text,
                strokeWidth=look.px(2.5),
                opacity=1,
            ).encode(x=x, y=alt.value(mid))
        )
        layers.append(
            base.mark_text(**words(look, 16, align=_align(said, truth, high))).encode(
                x=x, y=alt.value(mid - look.px(32)), text="text"
            )
        )
    if truth is not None:
        base = alt.Chart(pd.DataFrame({"value": [truth], "text": [f"{truth:.{digits}f} {unit}"]}))
        layers.append(
            base.mark_tick(
                orient="vertical", size=look.px(32), thickness=look.px(5), color=p.text, opacity=1
            ).encode(x=x, y=alt.value(mid))
        )
        layers.append(
            base.mark_text(**serif(look, 23, fontWeight=600, align=_align(truth, said, high))).encode(
                x=x, y=alt.value(mid - look.px(32)), text="text"
            )
        )
    layers.append(
        alt.Chart(pd.DataFrame({"text": [axis]}))
        .mark_text(**words(look, 13.5, align="right", color=p.muted))
        .encode(x=alt.value("width"), y=alt.value(mid - look.px(12)), text="text")
    )
    return styled(alt.layer(*layers), look, 46)


def _gap(said: float, truth: float, unit: str) -> str:
    points = abs(round(truth - said))
    name = "points" if unit == "%" else "off"
    return f"{points} {name} {'low' if said < truth else 'high'}" if points else "right"


def _align(value: float, other: float | None, high: float) -> str:
    """Which way a label leans: inside the axis, and away from a neighbour that is near."""
    if other is not None and abs(value - other) < 0.16 * high and value != other:
        return "right" if value < other else "left"
    return "left" if value < 0.08 * high else "right" if value > 0.92 * high else "center"
