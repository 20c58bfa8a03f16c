"""The planner's figures: latency against throughput, and what fills each rank's memory."""

import altair as alt
import pandas as pd

from ui.figures.style import Chart, styled, words
from ui.theme import Look, mix

_BAR = 34
_OVER = 24
_UNDER = 26
_KEY = 28

PARTS = ("tables", "attention", "MLP", "experts", "activation", "non-torch", "graphs", "KV cache")
_INK = {
    "tables": 0.72,
    "attention": 0.37,
    "MLP": 0.29,
    "experts": 0.21,
    "activation": 0.15,
    "non-torch": 0.10,
    "graphs": 0.06,
}
"""Shades from dark to light: what is read every token, then what is only there. Words on them read at 7:1."""
_LESS_IN_THE_DARK = 0.68


def latency_against_throughput(dots: pd.DataFrame, marks: pd.DataFrame, slo_ms: float | None, look: Look) -> Chart:
    """A line a plan, from one sequence to all that fit; the front over them; the plans pointed at.

    `dots` has plan, concurrency, itl_ms, tokens_per_s, on_front; `marks` role ("shown" or "pinned"), name, itl_ms,
    tokens_per_s, low_ms, high_ms. Left and up is better. `slo_ms` stands as a line that good plans are left of.
    """
    times = pd.concat([dots.itl_ms, marks.low_ms, marks.high_ms])
    x, y = _times("itl_ms", times), _rates(pd.concat([dots.tokens_per_s, marks.tokens_per_s]))
    palette = look.palette
    base = alt.Chart(dots)
    front = dots[dots.on_front].sort_values("itl_ms")
    starts = dots.sort_values("concurrency").drop_duplicates("plan")
    named = _apart(starts[~starts.plan.isin(marks.name)])
    layers = [
        *_target(slo_ms, x, look),
        base.mark_line(strokeWidth=look.px(1.4), color=palette.axis).encode(x=x, y=y, detail=alt.Detail("plan:N")),
        base.mark_point(filled=True, size=look.px(4) ** 2, color=palette.axis, opacity=1).encode(
            x=x,
            y=y,
            tooltip=[
                alt.Tooltip("plan:N"),
                alt.Tooltip("concurrency:Q"),
                alt.Tooltip("itl_ms:Q"),
                alt.Tooltip("tokens_per_s:Q"),
            ],
        ),
        alt.Chart(front)
        .mark_line(strokeWidth=look.px(3.5), strokeCap="round", color=palette.text)
        .encode(x=x, y=y),
        alt.Chart(named)
        .mark_text(**words(look, 13.5, dy=look.px(12), color=palette.muted))
        .encode(x=x, y=y, text=alt.Text("plan:N")),
        *_pointed_at(marks, times, y, look),
    ]
    return styled(alt.layer(*layers), look, 205 if look.present else 330)


def _apart(starts: pd.DataFrame) -> pd.DataFrame:
    """Lines' lower ends that leave room for a name each: the lowest of those that lie close together."""
    kept: list[int] = []
    for index in starts.sort_values("tokens_per_s").index:
        apart = 1.33 if len(starts.plan[index]) < 10 else 2.0
        ratios = [starts.itl_ms[index] / starts.itl_ms[other] for other in kept]
        if all(ratio > apart or ratio < 1 / apart for ratio in ratios):
            kept.append(index)
    return starts.loc[kept]


def _times(field: str, itl_ms: "pd.Series[float]") -> alt.X:
    ends = [0.8 * float(itl_ms.min()), 1.25 * float(itl_ms.max())]
    ticks = [base * 10**power for power in range(-2, 7) for base in (1, 2, 5)]
    axis = alt.Axis(title="time between two tokens", values=ticks, grid=False, labelExpr="datum.value + ' ms'")
    return alt.X(f"{field}:Q", scale=alt.Scale(type="log", domain=ends, nice=False), axis=axis)


def _rates(rates: "pd.Series[float]") -> alt.Y:
    ends = [0.45 * float(rates.min()), 1.8 * float(rates.max())]
    title = "tokens/s, sustained"
    ticks = [10**power for power in range(7)]
    axis = alt.Axis(title=title, values=ticks, tickSize=0, domain=False, format=",d")
    return alt.Y("tokens_per_s:Q", scale=alt.Scale(type="log", domain=ends, nice=False), axis=axis)


def _target(slo_ms: float | None, x: alt.X, look: Look) -> list[alt.Chart]:
    """The target as a dashed line with its word."""
    if slo_ms is None:
        return []
    one = alt.Chart(pd.DataFrame({"itl_ms": [slo_ms], "name": [f"target {slo_ms:g} ms"]}))
    return [
        one.mark_rule(strokeDash=[6, 4], strokeWidth=look.px(1.6), color=look.palette.off, clip=True).encode(x=x),
        one.mark_text(**words(look, 13.5, align="left", dx=look.px(6), color=look.palette.off, clip=True)).encode(
            x=x, y=alt.YValue(look.px(8)), text=alt.Text("name")
        ),
    ]


def _pointed_at(marks: pd.DataFrame, times: "pd.Series[float]", y: alt.Y, look: Look) -> list[alt.Chart]:
    """The plan shown, filled, and the one pinned, open, each over the band of what was measured elsewhere."""
    palette, base = look.palette, alt.Chart(marks)
    fill = alt.condition("datum.role == 'shown'", alt.value(palette.primary), alt.value(palette.ground))
    point = {
        "size": look.px(13) ** 2,
        "stroke": palette.text,
        "strokeWidth": look.px(2),
        "opacity": 1,
        "filled": True,
    }
    x, low = _times("itl_ms", times), _times("low_ms", times)
    return [
        base.mark_rule(strokeWidth=look.px(2.5), color=palette.primary).encode(x=low, x2=alt.X2("high_ms"), y=y),
        base.mark_point(**point).encode(
            x=x,
            y=y,
            fill=fill,
            tooltip=[
                alt.Tooltip("role:N"),
                alt.Tooltip("name:N"),
                alt.Tooltip("itl_ms:Q"),
                alt.Tooltip("tokens_per_s:Q"),
            ],
        ),
        base.mark_text(**words(look, 15, align="left", dx=look.px(12), dy=look.px(15), fontWeight=600)).encode(
            x=x, y=y, text=alt.Text("name:N")
        ),
    ]


def memory_bars(parts: pd.DataFrame, labels: pd.DataFrame, look: Look) -> Chart:
    """One bar a kind of rank: each part from the left, a line where the engine's share ends.

    `parts` has place, part, start_gb, end_gb, said; `labels` rank, place, in_words, granted_gb, usable_gb, short.
    """
    bar = 28 if look.present else _BAR
    row = _OVER + bar + _UNDER
    end_gb = 1.02 * float(max(parts.end_gb.max(), labels.usable_gb.max()))
    top = parts.place.map(lambda place: look.px(_KEY + _OVER + row * place))
    drawn = parts.assign(top=top, bottom=top + look.px(bar), middle=top + look.px(bar / 2))
    said = labels.assign(
        over=[look.px(_KEY + row * place + _OVER / 2 - 1) for place in labels.place],
        under=[look.px(_KEY + row * place + _OVER + bar + 12) for place in labels.place],
        top=[look.px(_KEY + _OVER + row * place - 4) for place in labels.place],
        bottom=[look.px(_KEY + _OVER + bar + row * place + 4) for place in labels.place],
    )
    layers = [*_segments(drawn, end_gb, look), *_limits(said, end_gb, look), *_key(parts, look)]
    return styled(alt.layer(*layers), look, _KEY + row * len(labels))


def _gb_axis(field: str, end_gb: float) -> alt.X:
    axis = alt.Axis(grid=False, title=None, labelExpr="datum.label + ' GB'", tickCount=6, labelOverlap="greedy")
    return alt.X(f"{field}:Q", scale=alt.Scale(domain=[0, end_gb], nice=False), axis=axis)


def _y(field: str) -> alt.Y:
    return alt.Y(f"{field}:Q", scale=None, axis=None)


def _fills(look: Look) -> list[str]:
    palette = look.palette
    shares = (share * (_LESS_IN_THE_DARK if palette.dark and share < 0.5 else 1) for share in _INK.values())
    return [*(mix(palette.text, palette.ground, share) for share in shares), palette.primary]


def _segments(drawn: pd.DataFrame, end_gb: float, look: Look) -> list[alt.Chart]:
    palette, base = look.palette, alt.Chart(drawn)
    colours = alt.Scale(domain=list(PARTS), range=_fills(look))
    inks = {"tables": palette.ground, "KV cache": palette.on_primary}
    room = f"(datum.end_gb - datum.start_gb) / {end_gb} * width > {look.px(7.6)} * length(datum.said) + 10"
    texts = drawn.assign(ink=[inks.get(part, palette.text) for part in drawn.part])
    return [
        base.mark_rect(stroke=palette.ground, strokeWidth=look.px(1)).encode(
            x=_gb_axis("start_gb", end_gb),
            x2=alt.X2("end_gb"),
            y=_y("top"),
            y2=alt.Y2("bottom"),
            color=alt.Color("part:N", scale=colours),
            tooltip=[alt.Tooltip("rank:N"), alt.Tooltip("part:N"), alt.Tooltip("end_gb:Q", format=".3s")],
        ),
        alt.Chart(texts)
        .transform_calculate(shown=f"{room} ? datum.said : ''")
        .mark_text(**words(look, 13.5, align="left", dx=look.px(6)))
        .encode(
            x=_gb_axis("start_gb", end_gb),
            y=_y("middle"),
            text=alt.Text("shown:N"),
            color=alt.Color("ink:N", scale=None),
        ),
    ]


def _limits(said: pd.DataFrame, end_gb: float, look: Look) -> list[alt.Chart]:
    """Names over the bars, sums under them, and the line that the engine may fill up to; red where it is passed."""
    palette, base = look.palette, alt.Chart(said)
    colour = alt.condition("datum.short", alt.value(palette.off), alt.value(palette.text))
    sums = base.transform_calculate(
        shown="width < 520 ? datum.in_words : 'weights + overhead + KV = ' + datum.in_words"
    )
    return [
        base.mark_text(**words(look, 15, align="left", fontWeight=600)).encode(
            x=alt.XValue(0), y=_y("over"), text=alt.Text("rank:N")
        ),
        sums.mark_text(**words(look, 13.5, align="left", color=palette.muted)).encode(
            x=alt.XValue(0), y=_y("under"), text=alt.Text("shown:N")
        ),
        base.mark_rule(strokeWidth=look.px(3)).encode(
            x=_gb_axis("granted_gb", end_gb), y=_y("top"), y2=alt.Y2("bottom"), color=colour
        ),
    ]


def _key(parts: pd.DataFrame, look: Look) -> list[alt.Chart]:
    """What each shade is, in words, over the first bar; only what some rank has, as far as there is room."""
    fills = dict(zip(PARTS, _fills(look), strict=True))
    names = [part for part in PARTS if (parts.part == part).any()]
    widths = [look.px(28 + 7.2 * len(name)) for name in names]
    starts = [sum(widths[:place]) for place in range(len(names))]
    entries = pd.DataFrame({"name": names, "fill": [fills[name] for name in names], "left": starts})
    entries = entries.assign(
        sign=entries.left + look.px(6), word=entries.left + look.px(17), end=entries.left + widths
    )
    base = alt.Chart(entries).transform_filter("datum.end < width")
    sign = base.mark_tick(orient="vertical", size=look.px(13), thickness=look.px(12), opacity=1)
    y = alt.YValue(look.px(9))
    return [
        sign.encode(x=alt.X("sign:Q", scale=None, axis=None), y=y, color=alt.Color("fill:N", scale=None)),
        base.mark_text(**words(look, 13.5, align="left")).encode(
            x=alt.X("word:Q", scale=None, axis=None), y=y, text=alt.Text("name:N")
        ),
    ]
