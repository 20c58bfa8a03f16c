"""Lab 03's own table: by how much a model misses each size of it."""

import altair as alt
import pandas as pd

from ui.figures.style import Chart, styled, words
from ui.figures.time_against_payload import payload_axis
from ui.theme import Look


def errors_by_size(errors: pd.DataFrame, bulge_bytes: tuple[int, int], look: Look) -> Chart:
    """Modelled over measured time by size, as a percentage off; the bulge is a band with its name.

    `errors` has model, size_bytes, error_percent: the first model open circles on a line, a second one filled.
    """
    palette = look.palette
    models = list(dict.fromkeys(errors.model))
    x = payload_axis("size_bytes", errors.size_bytes, "size of a message")
    axis = alt.Axis(
        title=None,
        labelExpr="(datum.value > 0 ? '+' : '') + datum.value + ' %'",
        tickCount=5,
        tickSize=0,
        domain=False,
    )
    reach = max(20.0, 1.15 * float(errors.error_percent.abs().max()))
    y = alt.Y("error_percent:Q", scale=alt.Scale(domain=[-reach, reach], nice=False), axis=axis)
    base = alt.Chart(errors)
    fills = alt.Scale(domain=models, range=[palette.ground, palette.text][: len(models)])
    dash = alt.Scale(domain=models, range=[[1, 0], [5, 4]][: len(models)])
    ends = errors.loc[errors.groupby("model").size_bytes.idxmin()].assign(
        shown=lambda t: t.model, place=[look.px(16 + 20 * i) for i in range(len(models))]
    )
    layers = [
        *_band(errors, bulge_bytes, x, look),
        alt.Chart(pd.DataFrame({"error_percent": [0.0]}))
        .mark_rule(strokeWidth=look.px(1.5), color=palette.axis)
        .encode(y=y),
        base.mark_line(strokeWidth=look.px(1.5), color=palette.text).encode(
            x=x, y=y, strokeDash=alt.StrokeDash("model:N", scale=dash, legend=None)
        ),
        base.mark_point(
            size=look.px(7) ** 2, filled=True, stroke=palette.text, strokeWidth=look.px(1.6), opacity=1
        ).encode(
            x=x,
            y=y,
            fill=alt.Fill("model:N", scale=fills, legend=None),
            tooltip=[alt.Tooltip("model:N"), alt.Tooltip("size_bytes:Q"), alt.Tooltip("error_percent:Q")],
        ),
        *_key(ends, fills, look),
    ]
    return styled(alt.layer(*layers), look, 190 if look.present else 230)


def _band(errors: pd.DataFrame, bulge_bytes: tuple[int, int], x: alt.X, look: Look) -> list[alt.Chart]:
    """The bulge, as far as the sizes reach into it."""
    low, high = max(bulge_bytes[0], int(errors.size_bytes.min())), min(bulge_bytes[1], int(errors.size_bytes.max()))
    if low >= high:
        return []
    span = alt.Chart(pd.DataFrame({"size_bytes": [low], "high": [high], "name": ["the known bulge"]}))
    return [
        span.mark_rect(color=look.palette.hairline, opacity=0.35).encode(x=x, x2=alt.X2("high:Q")),
        span.mark_text(**words(look, 13.5, align="left", dx=look.px(7), color=look.palette.muted)).encode(
            x=x, y=alt.YValue(look.px(10)), text=alt.Text("name:N")
        ),
    ]


def _key(models: pd.DataFrame, fills: alt.Scale, look: Look) -> list[alt.Chart]:
    """Which circle is which model; one alone needs no key."""
    if len(models) < 2:
        return []
    base = alt.Chart(models)
    y = alt.Y("place:Q", scale=None, axis=None)
    sign = base.mark_point(
        size=look.px(7) ** 2, filled=True, stroke=look.palette.text, strokeWidth=look.px(1.6), opacity=1
    )
    return [
        sign.encode(x=alt.XValue(look.px(10)), y=y, fill=alt.Fill("model:N", scale=fills, legend=None)),
        base.mark_text(**words(look, 14, align="left")).encode(
            x=alt.XValue(look.px(20)), y=y, text=alt.Text("shown:N")
        ),
    ]
