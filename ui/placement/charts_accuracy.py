"""Predicted against published, log-log: on the line they are equal, above it the prediction is too slow."""

import altair as alt
import pandas as pd

from ui.figures.style import Chart, styled, words
from ui.theme import Look


def predicted_against_published(dots: pd.DataFrame, band: tuple[float, float], look: Look) -> Chart:
    """A circle a published time, filled where it tests and open where it was fitted on; a band for eight in ten.

    `dots` has published_ms, predicted_ms, role, chosen, run, source. What is not chosen stands back in grey. `band`
    is in multiples of the prediction.
    """
    palette = look.palette
    ends = [0.6 * float(dots.published_ms.min()), 1.7 * float(dots.published_ms.max())]
    x, y = _axis("published_ms", "published", ends), _axis("predicted_ms", "predicted", ends)
    ink = alt.condition("datum.chosen", alt.value(palette.text), alt.value(palette.axis))
    fill = alt.condition(
        "datum.chosen && datum.role == 'test'", alt.value(palette.primary), alt.value(palette.ground)
    )
    circles = alt.Chart(dots).mark_point(filled=True, size=look.px(7) ** 2, strokeWidth=look.px(1.3), opacity=1)
    layers = [
        *_band(ends, band, look),
        *_equal(ends, look),
        circles.encode(
            x=x,
            y=y,
            fill=fill,
            stroke=ink,
            tooltip=[
                alt.Tooltip("source:N"),
                alt.Tooltip("run:N"),
                alt.Tooltip("published_ms:Q"),
                alt.Tooltip("predicted_ms:Q"),
                alt.Tooltip("role:N"),
            ],
        ),
        *_key(look),
    ]
    return styled(alt.layer(*layers), look, 235 if look.present else 400)


def _axis(field: str, title: str, ends: list[float]) -> "alt.X | alt.Y":
    label = "datum.value >= 1000 ? datum.value/1000 + ' s' : datum.value + ' ms'"
    axis = alt.Axis(title=title, values=[10**power for power in range(-2, 8)], labelExpr=label, tickSize=0)
    scale = alt.Scale(type="log", domain=ends, nice=False)
    make = alt.X if field == "published_ms" else alt.Y
    return make(f"{field}:Q", scale=scale, axis=axis)


def _band(ends: list[float], band: tuple[float, float], look: Look) -> list[alt.Chart]:
    """Where eight in ten published times lie around a prediction, as an area along the line."""
    low, high = band
    edges = pd.DataFrame(
        {
            "published_ms": [ends[0], ends[1]],
            "predicted_ms": [ends[0] / high, ends[1] / high],
            "upper_ms": [ends[0] / low, ends[1] / low],
        }
    )
    area = alt.Chart(edges).mark_area(color=look.palette.hairline, opacity=0.6, clip=True)
    return [
        area.encode(
            x=_axis("published_ms", "published", ends),
            y=_axis("predicted_ms", "predicted", ends),
            y2=alt.Y2("upper_ms"),
        )
    ]


def _equal(ends: list[float], look: Look) -> list[alt.Chart]:
    line = alt.Chart(pd.DataFrame({"published_ms": ends, "predicted_ms": ends}))
    return [
        line.mark_line(strokeWidth=look.px(1.6), color=look.palette.text).encode(
            x=_axis("published_ms", "published", ends), y=_axis("predicted_ms", "predicted", ends)
        )
    ]


def _key(look: Look) -> list[alt.Chart]:
    """What filled and open circles are, in the corner that no prediction reaches."""
    entries = (("test", look.palette.primary), ("fitted on", look.palette.ground))
    return [
        mark for place, (name, fill) in enumerate(entries) for mark in _entry(name, fill, 14 + 20 * place, look)
    ]


def _entry(name: str, fill: str, top: float, look: Look) -> list[alt.Chart]:
    one, y = alt.Chart(pd.DataFrame({"name": [name]})), alt.YValue(look.px(top))
    circle = one.mark_point(
        filled=True,
        size=look.px(7) ** 2,
        fill=fill,
        stroke=look.palette.text,
        strokeWidth=look.px(1.3),
        opacity=1,
    )
    return [
        circle.encode(x=alt.XValue(look.px(14)), y=y),
        one.mark_text(**words(look, 14, align="left")).encode(
            x=alt.XValue(look.px(24)), y=y, text=alt.Text("name")
        ),
    ]
