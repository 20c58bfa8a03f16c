"""Lab 03's figures: the step and its bill on one axis of time, and one all-reduce against its payload."""

from math import log2, sqrt

import altair as alt
import pandas as pd

from ui.charts.style import Chart, styled, words
from ui.theme import Look

_KEY = 26
_OVER = 24
_UNDER = 28
_GAP = 16


def bill_bars(bills: pd.DataFrame, look: Look, end_ms: float) -> Chart:
    """One bar a link: compute, then latency, then bandwidth, from zero to `end_ms`.

    Columns: name, detail, compute_ms, latency_ms, bandwidth_ms, in_words, measured_ms (NaN for none), measured.
    Over a bar stand its link and its sum in words, the sum under it where a phone has no room; a measured bill is a
    tick that stands over the bar.
    """
    bar = 20 if look.present else 36
    row = _OVER + bar + (_UNDER if (bills.detail + bills.measured).any() else 10 if look.present else _GAP)
    rows = bills.assign(
        top=[look.px(_KEY + i * row) for i in range(len(bills))],
        after_latency=bills.compute_ms + bills.latency_ms,
        end=bills.compute_ms + bills.latency_ms + bills.bandwidth_ms,
    )
    rows["bar_top"] = rows.top + look.px(_OVER)
    rows["bar_end"] = rows.bar_top + look.px(bar)
    rows["middle"] = rows.bar_top + look.px(bar / 2)
    rows["over"] = rows.top + look.px(_OVER / 2 - 3)
    rows["under"] = rows.bar_end + look.px(13)
    layers = [
        *_segments(rows, look, end_ms),
        *_captions(rows, look, end_ms),
        *_measured(rows, look, end_ms),
        *_key(look, rows),
    ]
    return styled(alt.layer(*layers), look, _KEY + row * len(bills))


def _x(field: str, end_ms: float) -> alt.X:
    axis = alt.Axis(grid=False, title=None, labelExpr="datum.label + ' ms'", tickCount=6)
    return alt.X(f"{field}:Q", scale=alt.Scale(domain=[0, end_ms], nice=False), axis=axis)


def _y(field: str) -> alt.Y:
    return alt.Y(f"{field}:Q", scale=None, axis=None)


def _segments(rows: pd.DataFrame, look: Look, end_ms: float) -> list[alt.Chart]:
    palette, base = look.palette, alt.Chart(rows.assign(zero=0.0))

    def bar(start: str, end: str, fill: str, edge: str) -> alt.Chart:
        return base.mark_rect(color=fill, stroke=edge, strokeWidth=look.px(1)).encode(
            x=_x(start, end_ms), x2=end, y=_y("bar_top"), y2=alt.Y2("bar_end")
        )

    return [
        bar("zero", "compute_ms", palette.compute, palette.axis),
        bar("compute_ms", "after_latency", palette.latency, palette.ground),
        bar("after_latency", "end", palette.bandwidth, palette.ground),
    ]


def _captions(rows: pd.DataFrame, look: Look, end_ms: float) -> list[alt.Chart]:
    """Over a bar its link and its sum, under it the link's constants; inside, what fits."""
    palette, base = look.palette, alt.Chart(rows)

    def fits(shown: str, length: str, px: float) -> alt.Chart:
        room = f"datum.{length} / {end_ms} * width > {look.px(px)}"
        return base.transform_calculate(shown=f"{room} ? datum.{shown} : ''")

    crowded = f"width < {look.px(520)} && length(datum.name) > 20"
    in_words = words(look, 15, align="right", fontWeight=600)
    everything = alt.ExprRef("width")
    return [
        base.mark_text(**words(look, 16, align="left", fontWeight=600, limit=everything)).encode(
            x=alt.XValue(0), y=_y("over"), text=alt.Text("name")
        ),
        base.transform_filter(f"!({crowded})")
        .mark_text(**in_words)
        .encode(x=alt.XValue("width"), y=_y("over"), text=alt.Text("in_words")),
        base.transform_filter(crowded)
        .mark_text(**in_words)
        .encode(x=alt.XValue("width"), y=_y("under"), text=alt.Text("in_words")),
        base.mark_text(**words(look, 13.5, align="left", color=palette.muted, limit=everything)).encode(
            x=alt.XValue(0), y=_y("under"), text=alt.Text("detail")
        ),
        fits("compute", "compute_ms", 118)
        .mark_text(**words(look, 14.5, align="left", dx=look.px(8)))
        .encode(x=alt.XValue(0), y=_y("middle"), text=alt.Text("shown:N")),
        fits("waiting", "latency_ms", 132)
        .mark_text(**words(look, 14.5, align="left", dx=look.px(10), fontWeight=600, color=palette.on_latency))
        .encode(x=_x("compute_ms", end_ms), y=_y("middle"), text=alt.Text("shown:N")),
    ]


def _measured(rows: pd.DataFrame, look: Look, end_ms: float) -> list[alt.Chart]:
    """A tick over the bar where a machine's own times put the bill; on a phone its time without its machine."""
    known = rows.dropna(subset=["measured_ms"]).assign(
        tick_top=lambda t: t.bar_top - look.px(3), tick_end=lambda t: t.bar_end + look.px(4)
    )
    base = alt.Chart(known)
    leader = base.transform_filter(f"datum.measured_ms - datum.end > {0.03 * end_ms}")
    said = base.transform_calculate(
        shown=f"width < {look.px(520)} ? split(datum.measured, ',')[0] : datum.measured"
    )
    return [
        leader.mark_rule(strokeDash=[1.5, 4], strokeWidth=look.px(1.5), color=look.palette.muted).encode(
            x=_x("end", end_ms), x2=alt.X2("measured_ms"), y=_y("middle")
        ),
        base.mark_rule(strokeWidth=look.px(3), color=look.palette.text).encode(
            x=_x("measured_ms", end_ms), y=_y("tick_top"), y2=alt.Y2("tick_end")
        ),
        said.mark_text(**words(look, 13.5, align="right", color=look.palette.muted)).encode(
            x=alt.XValue("width"), y=_y("under"), text=alt.Text("shown:N")
        ),
    ]


def _key(look: Look, rows: pd.DataFrame) -> list[alt.Chart]:
    """What each colour is, in words, over the first bar; only what some bar has."""
    p = look.palette
    entries = [
        ("compute", p.compute, p.text, 12, 88, bool((rows.compute_ms > 0).any())),
        ("latency", p.latency, p.latency_text, 12, 78, bool((rows.latency_ms > 0).any())),
        ("bandwidth", p.bandwidth, p.bandwidth_text, 12, 97, True),
        ("measured", p.text, p.text, 3, 0, bool(rows.measured_ms.notna().any())),
    ]
    layers, left = [], 0
    for name, fill, ink, width, advance, there in entries:
        if there:
            layers += _key_entry(name, fill, ink, left, look, width)
            left += advance
    return layers


def _key_entry(name: str, fill: str, ink: str, left: float, look: Look, width: float = 12) -> list[alt.Chart]:
    one, y = alt.Chart(pd.DataFrame({"name": [name]})), alt.YValue(look.px(9))
    sign = one.mark_tick(orient="vertical", size=look.px(13), thickness=look.px(width), color=fill, opacity=1)
    word = one.mark_text(**words(look, 14.5, align="left", fontWeight=600, color=ink))
    return [
        sign.encode(x=alt.XValue(look.px(left + width / 2)), y=y),
        word.encode(x=alt.XValue(look.px(left + width + 6)), y=y, text=alt.Text("name")),
    ]


def bills_by_ranks(bars: pd.DataFrame, look: Look) -> Chart:
    """The bill at each number of ranks, latency under bandwidth. Columns: ranks, term, order, time_ms."""
    return styled(alt.layer(term_bars(bars, look)), look, 180)


def term_bars(bars: pd.DataFrame, look: Look) -> alt.Chart:
    """Stacked bars in the two colours, as a layer. Columns: ranks, term, order, time_ms."""
    palette = look.palette
    colours = alt.Scale(domain=["latency", "bandwidth"], range=[palette.latency, palette.bandwidth])
    return (
        alt.Chart(bars)
        .mark_bar(stroke=palette.ground, strokeWidth=look.px(1))
        .encode(
            x=alt.X("ranks:N", sort=None, axis=alt.Axis(title=None, labelAngle=0, tickSize=0)),
            y=alt.Y("time_ms:Q", axis=alt.Axis(title="ms a step", tickCount=4, domain=False, tickSize=0)),
            color=alt.Color("term:N", scale=colours),
            order=alt.Order("order:O"),
            tooltip=[alt.Tooltip("ranks:N"), alt.Tooltip("term:N"), alt.Tooltip("time_ms:Q", format=".3s")],
        )
    )


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
        *_regimes(model, measured, x, y, look),
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


def _regimes(model: pd.DataFrame, measured: pd.DataFrame, x: alt.X, y: alt.Y, look: Look) -> list[alt.Chart]:
    """`latency rules` and `bandwidth rules`, once, each under a line, in their own inks; a phone has no room."""
    inks = {"latency": look.palette.latency_text, "bandwidth": look.palette.bandwidth_text}
    layers = []
    for rule, parts in model.groupby("rules"):
        at = _clear_of(measured, _long_enough(parts)).assign(said=f"{rule} rules")
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


def _clear_of(measured: pd.DataFrame, line: pd.DataFrame) -> pd.DataFrame:
    """The row nearest the line's middle under which no circle lies where a name would stand: two octaves on."""
    sizes, middle = line.payload_bytes, line.payload_bytes.iloc[len(line) // 2]
    under = _under(measured, line)
    clear = [not under.between(size, 4 * size, "neither").any() for size in sizes]
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


def axis_end_ms(bills: pd.DataFrame) -> float:
    """Where the axis of these bills ends: the longest of them, measured or modelled, and a little air."""
    ends = bills.compute_ms + bills.latency_ms + bills.bandwidth_ms
    return 1.02 * float(max(ends.max(), bills.measured_ms.fillna(0).max()))
