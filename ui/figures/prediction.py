"""One number line: what the learner said, the truth, and the error between them."""

import altair as alt
import pandas as pd

from ui.figures.style import Chart, serif, styled, words
from ui.theme import Look

_LINE = 46
_LABEL = 14
_OVER, _UNDER = 21, 7


def prediction_line(
    said: float | None, truth: float | None, look: Look, *, high: float, unit: str, digits: int = 1
) -> Chart:
    """An axis from 0 to `high`; an open circle where the learner said, and after the reveal the truth upright.

    `truth=None` draws the question alone. The bar between the two is the error.
    """
    x = _scale(high, unit, look)
    layers = [_ground(look, x)]
    if said is not None and truth is not None:
        layers += _error(said, truth, high, unit, look, x)
    if said is not None:
        layers += _said(said, truth, high, unit, look, x)
    if truth is not None:
        layers += _truth(truth, said, high, f"{truth:.{digits}f} {unit}", look, x)
    return styled(alt.layer(*layers), look, _LINE)


def _scale(high: float, unit: str, look: Look) -> alt.X:
    axis = alt.Axis(
        values=[high * tenth / 10 for tenth in range(11)],
        grid=False,
        title=None,
        labelOverlap=True,
        labelPadding=look.px(6),
        labelExpr=f"datum.label + (datum.value == {high} ? ' {unit}' : '')",
    )
    return alt.X("value:Q", scale=alt.Scale(domain=[0, high], nice=False), axis=axis)


def _ground(look: Look, x: alt.X) -> alt.Chart:
    """The line itself, which stands before anything is said."""
    return alt.Chart(pd.DataFrame({"value": [0.0]})).mark_point(opacity=0).encode(x=x, y=_at(look))


def _error(said: float, truth: float, high: float, unit: str, look: Look, x: alt.X) -> list[alt.Chart]:
    at, align, dx, above = _beside(said, truth, high)
    bar = alt.Chart(pd.DataFrame({"value": [said], "end": [truth]}))
    word = alt.Chart(pd.DataFrame({"value": [at], "text": [_gap(said, truth, unit)]}))
    if abs(said - truth) < 0.35 * high:  # a phone has no room for them between the marks
        word = word.transform_filter(f"width > {look.px(420)}")
    return [
        bar.mark_rule(strokeWidth=look.px(5), color=look.palette.text).encode(x=x, x2=alt.X2("end"), y=_at(look)),
        word.mark_text(**words(look, 14.5, align=align, dx=look.px(dx), color=look.palette.muted)).encode(
            x=x, y=_at(look, above), text=alt.Text("text")
        ),
    ]


def _said(said: float, truth: float | None, high: float, unit: str, look: Look, x: alt.X) -> list[alt.Chart]:
    base = alt.Chart(pd.DataFrame({"value": [said], "text": [f"you said {said:g} {unit}"]}))
    circle = base.mark_point(
        shape="circle",
        size=look.px(15) ** 2,
        fill=look.palette.ground,
        stroke=look.palette.text,
        strokeWidth=look.px(2.5),
        opacity=1,
    )
    label = base.mark_text(**words(look, 16, align=_lean(said, truth, high)))
    return [circle.encode(x=x, y=_at(look)), label.encode(x=x, y=_at(look, _LINE - _LABEL), text=alt.Text("text"))]


def _truth(truth: float, said: float | None, high: float, text: str, look: Look, x: alt.X) -> list[alt.Chart]:
    base = alt.Chart(pd.DataFrame({"value": [truth], "text": [text]}))
    upright = base.mark_rule(strokeWidth=look.px(5), color=look.palette.text)
    label = base.mark_text(**serif(look, 23, fontWeight=600, align=_lean(truth, said, high)))
    ends = {"y": _at(look, _OVER), "y2": alt.Y2Value(look.px(_LINE + _UNDER))}
    return [upright.encode(x=x, **ends), label.encode(x=x, y=_at(look, _LINE - _LABEL), text=alt.Text("text"))]


def _beside(said: float, truth: float, high: float) -> tuple[float, str, int, int]:
    """Where the error's words stand, how they lean, how far and how high: over its bar, or beside a short one."""
    low, top = min(said, truth), max(said, truth)
    if top - low > 0.09 * high:
        return (said + truth) / 2, "center", 0, 16
    return (low, "right", -14, 12) if low > high - top else (top, "left", 14, 12)


def _at(look: Look, above: float = 0) -> object:
    return alt.YValue(look.px(_LINE - above))


def _gap(said: float, truth: float, unit: str) -> str:
    points = abs(round(truth - said))
    name = "" if unit != "%" else "point " if points == 1 else "points "
    return f"{points} {name}{'low' if said < truth else 'high'}" if points else "right"


def _lean(value: float, other: float | None, high: float) -> str:
    """Which way a label leans: inside the axis, and away from a neighbour that is near."""
    if other is not None and abs(value - other) < 0.28 * high and value != other:
        return "right" if value < other else "left"
    return "left" if value < 0.14 * high else "right" if value > 0.86 * high else "center"
