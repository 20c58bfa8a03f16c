"""Lab 03's bars: the step and its bill on one axis of time."""

import altair as alt
import pandas as pd

from ui.figures.style import Chart, styled, words
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


def axis_end_ms(bills: pd.DataFrame) -> float:
    """Where the axis of these bills ends: the longest of them, measured or modelled, and a little air."""
    ends = bills.compute_ms + bills.latency_ms + bills.bandwidth_ms
    return 1.02 * float(max(ends.max(), bills.measured_ms.fillna(0).max()))
