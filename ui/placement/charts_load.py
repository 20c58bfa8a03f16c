"""The planner under load: the median and the slowest hundredth against the arrival rate, with what was promised."""

from typing import Literal

import altair as alt
import pandas as pd

from ui.figures.style import Chart, styled, words
from ui.theme import Look


def tails(rates: pd.DataFrame, clock: Literal["ttft", "itl"], promise_ms: float, look: Look) -> Chart:
    """Two lines over the arrival rate: half of all stay under the thin one, all but a hundredth under the thick.

    `rates` has requests_per_s, {clock}_p50_ms, {clock}_p99_ms, kept. An open circle breaks a promise, this one or
    the other's.
    """
    palette = look.palette
    p50, p99 = f"{clock}_p50_ms", f"{clock}_p99_ms"
    x, low, high = _x(rates), _y(rates, clock, p50, promise_ms), _y(rates, clock, p99, promise_ms)
    base, ends = alt.Chart(rates), alt.Chart(rates.tail(1))
    fill = alt.condition("datum.kept", alt.value(palette.text), alt.value(palette.ground))
    layers = [
        *_promise(rates, clock, promise_ms, look),
        base.mark_line(strokeWidth=look.px(1.6), color=palette.axis).encode(x=x, y=low),
        base.mark_line(strokeWidth=look.px(3.5), color=palette.text, strokeCap="round").encode(x=x, y=high),
        base.mark_point(
            filled=True, size=look.px(8) ** 2, stroke=palette.text, strokeWidth=look.px(1.6), opacity=1
        ).encode(
            x=x,
            y=high,
            fill=fill,
            tooltip=[alt.Tooltip("requests_per_s:Q"), f"{p99}:Q", f"{p50}:Q", alt.Tooltip("kept:N")],
        ),
        ends.mark_text(**words(look, 14, align="left", dx=look.px(8), dy=look.px(-7), fontWeight=600)).encode(
            x=x, y=high, text=alt.TextValue("p99")
        ),
        ends.mark_text(**words(look, 14, align="left", dx=look.px(8), dy=look.px(8), color=palette.muted)).encode(
            x=x, y=low, text=alt.TextValue("p50")
        ),
    ]
    return styled(alt.layer(*layers), look, 150 if look.present else 220)


def _x(rates: pd.DataFrame) -> alt.X:
    end = 1.08 * float(rates.requests_per_s.max())
    axis = alt.Axis(title="requests arriving a second", grid=False, tickCount=6)
    return alt.X("requests_per_s:Q", scale=alt.Scale(domain=[0, end], nice=False), axis=axis)


def _y(rates: pd.DataFrame, clock: str, field: str, promise_ms: float) -> alt.Y:
    values = [*rates[f"{clock}_p50_ms"], *rates[f"{clock}_p99_ms"], promise_ms]
    ends = [0.7 * max(1e-3, min(values)), 1.5 * max(values)]
    label = "datum.value >= 1000 ? datum.value/1000 + ' s' : datum.value + ' ms'"
    ticks = [base * 10**power for power in range(-2, 7) for base in (1, 3)]
    axis = alt.Axis(title=None, values=ticks, labelExpr=label, tickSize=0, domain=False)
    return alt.Y(f"{field}:Q", scale=alt.Scale(type="log", domain=ends, nice=False), axis=axis)


def _promise(rates: pd.DataFrame, clock: str, promise_ms: float, look: Look) -> list[alt.Chart]:
    """What is promised of the slowest hundredth, dashed, with its words."""
    said = f"{promise_ms / 1e3:g} s" if promise_ms >= 1000 else f"{promise_ms:g} ms"
    one = alt.Chart(pd.DataFrame({"promise_ms": [promise_ms], "name": [f"promised {said}"]}))
    y = _y(rates, clock, "promise_ms", promise_ms)
    return [
        one.mark_rule(strokeDash=[6, 4], strokeWidth=look.px(1.6), color=look.palette.off).encode(y=y),
        one.mark_text(
            **words(look, 13.5, align="left", dx=look.px(6), dy=look.px(-9), color=look.palette.off)
        ).encode(x=alt.XValue(0), y=y, text=alt.Text("name")),
    ]
