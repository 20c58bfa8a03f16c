"""One all-reduce against its payload: a link's line, what was measured beside it, and names clear of both."""

from math import log2, sqrt

import altair as alt
import pandas as pd

from ui.figures.style import Chart, styled, words
from ui.theme import Look

_NAME, _NAME_PROJECTED = 0.16, 0.2
"""The part of the axis's length that a name under a line takes, on a laptop and when projected."""


def time_against_payload(
    model: pd.DataFrame, measured: pd.DataFrame, marks: pd.DataFrame, residuals: pd.DataFrame, look: Look
) -> Chart:
    """One all-reduce, log-log: the model as a line in the colour of the term that rules, measurements as circles.

    `model` has link, payload_bytes, time_us, rules ("latency" or "bandwidth"); `measured` payload_bytes, time_us;
    `marks` payload_bytes, name: the payloads worth pointing at; `residuals` payload_bytes, time_us, name, above:
    why a circle is off the line.
    """
    palette = look.palette
    x = payload_axis("payload_bytes", model.payload_bytes, "payload of one all-reduce")
    y = _time_axis(pd.concat([model.time_us, measured.time_us]), look)
    rules = alt.Scale(domain=["latency", "bandwidth"], range=[palette.latency, palette.bandwidth])
    pointer = alt.Chart(marks)
    dots = alt.Chart(measured).mark_point(
        size=look.px(7) ** 2,
        filled=True,
        fill=palette.ground,
        stroke=palette.text,
        strokeWidth=look.px(1.6),
        opacity=1,
    )
    layers = [
        pointer.mark_rule(strokeDash=[2, 4], strokeWidth=look.px(1.5), color=palette.text).encode(x=x),
        *_payload_names(pointer, model.payload_bytes, x, look),
        alt.Chart(model)
        .mark_line(strokeWidth=look.px(4), strokeCap="round")
        .encode(
            x=x, y=y, color=alt.Color("rules:N", scale=rules), detail=[alt.Detail("link"), alt.Detail("rules")]
        ),
        dots.encode(
            x=x, y=y, tooltip=[alt.Tooltip("machine:N"), alt.Tooltip("payload_bytes:Q"), alt.Tooltip("time_us:Q")]
        ),
        *_residual_names(residuals, x, y, look),
        *_regimes(model, measured, marks, x, y, look),
        *_line_names(model, measured, x, y, look),
    ]
    return styled(alt.layer(*layers), look, 216 if look.present else 330)


def _line_names(model: pd.DataFrame, measured: pd.DataFrame, x: alt.X, y: alt.Y, look: Look) -> list[alt.Chart]:
    """What each line is called, under its beginning, or over it where circles lie under."""
    layers = []
    for _, line in model.groupby("link"):
        start = line.loc[[line.payload_bytes.idxmin()]]
        near = _under(measured, line) < 16 * start.payload_bytes.item()
        text = words(look, 15, align="left", fontWeight=600, dx=look.px(4), dy=look.px(-12 if near.any() else 17))
        layers.append(alt.Chart(start).mark_text(**text).encode(x=x, y=y, text=alt.Text("name:N")))
    return layers


def _payload_names(pointer: alt.Chart, sizes: "pd.Series[int]", x: alt.X, look: Look) -> list[alt.Chart]:
    """What each payload is called, at the top of its rule, on the side where the axis is longer."""
    middle = sqrt(float(sizes.min()) * float(sizes.max()))
    return [
        pointer.transform_filter(f"datum.payload_bytes {half} {middle}")
        .mark_text(**words(look, 14, align=align, fontWeight=600, dx=look.px(dx)))
        .encode(x=x, y=alt.YValue(look.px(8)), text=alt.Text("name:N"))
        for half, align, dx in (("<", "left", 7), (">=", "right", -7))
    ]


def _residual_names(residuals: pd.DataFrame, x: alt.X, y: alt.Y, look: Look) -> list[alt.Chart]:
    """What each residual is called: over a circle above the line and under one below it, on the side with room."""
    first = f"datum.payload_bytes < {2**12}"
    # a phone has room for a short name alone
    base = alt.Chart(residuals).transform_filter(f"width > {look.px(420)} || length(datum.name) < 10")
    said = words(look, 13.5, color=look.palette.muted)
    sides = ((f"!({first})", "right", -3), (first, "left", 0))
    return [
        base.transform_filter(f"{where} && {side}")
        .mark_text(**{**said, "align": align, "dx": look.px(dx), "dy": look.px(dy)})
        .encode(x=x, y=y, text=alt.Text("name:N"))
        for where, align, dx in sides
        for side, dy in (("datum.above", -13), ("!datum.above", 15))
    ]


def _regimes(
    model: pd.DataFrame, measured: pd.DataFrame, marks: pd.DataFrame, x: alt.X, y: alt.Y, look: Look
) -> list[alt.Chart]:
    """`latency rules` and `bandwidth rules`, once, each under a line, in their own inks; a phone has no room."""
    inks = {"latency": look.palette.latency_text, "bandwidth": look.palette.bandwidth_text}
    reach = (model.payload_bytes.max() / model.payload_bytes.min()) ** (_NAME_PROJECTED if look.present else _NAME)
    layers = []
    for rule, parts in model.groupby("rules"):
        line = _long_enough(parts)
        in_the_way = pd.concat([_under(measured, line), marks.payload_bytes])
        at = _clear_of(in_the_way, line, model.payload_bytes.max(), reach).assign(said=f"{rule} rules")
        text = words(look, 14, align="left", dx=look.px(12), dy=look.px(16), fontWeight=600, color=inks[str(rule)])
        named = alt.Chart(at).transform_filter(f"width > {look.px(420)}")
        layers.append(named.mark_text(**text).encode(x=x, y=y, text=alt.Text("said:N")))
    return layers


def _long_enough(parts: pd.DataFrame) -> pd.DataFrame:
    """Of the stretches of line that one term rules, the upper one, unless another is more than twice as long."""
    octaves = parts.groupby("link").payload_bytes.agg(lambda sizes: log2(sizes.max() / sizes.min()))
    upper = parts.loc[parts.time_us.idxmax(), "link"]
    link = upper if 2 * octaves[upper] >= octaves.max() else octaves.idxmax()
    return parts[parts.link == link]


def _clear_of(in_the_way: "pd.Series[float]", line: pd.DataFrame, end_bytes: float, reach: float) -> pd.DataFrame:
    """The row nearest the line's middle from which a name meets neither what is in the way nor the axis's end."""
    sizes, middle = line.payload_bytes, line.payload_bytes.iloc[len(line) // 2]
    clear = [
        size * reach <= end_bytes and not in_the_way.between(size, size * reach, "neither").any() for size in sizes
    ]
    free = line[clear] if any(clear) else line
    return free.loc[[(free.payload_bytes / middle).map(log2).abs().idxmin()]]


def _under(measured: pd.DataFrame, line: pd.DataFrame) -> "pd.Series[float]":
    """Payloads of the circles that lie close under a line."""
    at = line.set_index("payload_bytes").time_us.groupby(level=0).first()
    times_us = at.reindex(measured.payload_bytes, method="nearest").set_axis(measured.index)
    return measured.payload_bytes[measured.time_us.between(0.4 * times_us, 0.97 * times_us)]


def payload_axis(field: str, sizes: "pd.Series[int]", title: str) -> alt.X:
    """Bytes on a logarithmic axis, from the smallest to the largest, in powers of 1024."""
    ends = [float(sizes.min()), float(sizes.max())]
    units = (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10))
    label = "".join(f"datum.value >= {size} ? datum.value/{size} + ' {name}' : " for name, size in units)
    values = [2**power for power in (3, 9, 13, 18, 24, 30) if ends[0] <= 2**power <= ends[1]]
    axis = alt.Axis(values=values, grid=False, title=title, labelExpr=f"{label}datum.value + ' B'")
    return alt.X(f"{field}:Q", scale=alt.Scale(type="log", base=2, domain=ends, nice=False), axis=axis)


def _time_axis(times_us: "pd.Series[float]", look: Look) -> alt.Y:
    ends = [0.2 * float(times_us.min()), 1.8 * float(times_us.max())]
    axis = alt.Axis(
        values=[10**exponent for exponent in range(8)],
        title=None,
        tickSize=0,
        domain=False,
        labelPadding=look.px(9),
        labelExpr="datum.value >= 1000 ? datum.value/1000 + ' ms' : datum.value + ' µs'",
    )
    return alt.Y("time_us:Q", scale=alt.Scale(type="log", domain=ends, nice=False), axis=axis)
