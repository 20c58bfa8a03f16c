"""Start here's figures: two bars on one axis, a pass against its tokens, a model over its GPUs."""

import altair as alt
import pandas as pd

from ui.figures.style import Chart, styled, words
from ui.theme import Look

_ROW, _BAR, _OVER = 68, 30, 26


def two_part_bars(bars: pd.DataFrame, look: Look, unit: str, *, names: tuple[str, str] | None = None) -> Chart:
    """Bars from zero on one axis. Columns: name, first, second, in_words.

    With `names` the parts are latency and bandwidth, in their colours and named under the first bar; without, there
    is one part, compute.
    """
    palette = look.palette
    rows = bars.assign(end=bars["first"] + bars["second"], top=_tops(len(bars), look), zero=0.0)
    rows["bottom"] = rows.top + look.px(_BAR)
    x = _axis(unit, 1.02 * float(rows.end.max()))
    first = palette.latency if names else palette.compute
    layers = [
        _part(rows, "zero", "first", x, first, palette.axis if names is None else palette.ground, look),
        _part(rows, "first", "end", x, palette.bandwidth, palette.ground, look),
        *_captions(rows, look),
        *(_key(names, look) if names else []),
    ]
    return styled(alt.layer(*layers), look, _ROW * len(bars) + (_OVER if names else 0))


def _tops(count: int, look: Look) -> list[float]:
    """Where each bar begins, its caption above it."""
    return [look.px(_OVER + row * _ROW) for row in range(count)]


def _axis(title: str, end: float) -> alt.X:
    axis = alt.Axis(grid=False, title=None, tickCount=6, labelExpr=f"datum.label + ' {title}'", labelOverlap=True)
    return alt.X("value:Q", scale=alt.Scale(domain=[0, end], nice=False), axis=axis)


def _part(rows: pd.DataFrame, start: str, end: str, x: alt.X, fill: str, edge: str, look: Look) -> alt.Chart:
    data = rows.assign(value=rows[start], to=rows[end])[["value", "to", "top", "bottom"]]
    mark = alt.Chart(data[data.to > data.value]).mark_rect(color=fill, stroke=edge, strokeWidth=look.px(1))
    return mark.encode(x=x, x2=alt.X2("to"), y=_y("top"), y2=alt.Y2("bottom"))


def _y(field: str) -> alt.Y:
    return alt.Y(f"{field}:Q", scale=None, axis=None)


def _captions(rows: pd.DataFrame, look: Look) -> list[alt.Chart]:
    """Over each bar its name, and at the end of the line its sum in words."""
    base = alt.Chart(rows.assign(over=rows.top - look.px(_OVER / 2)))
    return [
        base.mark_text(**words(look, 15.5, align="left", fontWeight=600)).encode(
            x=alt.XValue(0), y=_y("over"), text=alt.Text("name")
        ),
        base.mark_text(**words(look, 15, align="right")).encode(
            x=alt.XValue("width"), y=_y("over"), text=alt.Text("in_words")
        ),
    ]


def _key(names: tuple[str, str], look: Look) -> list[alt.Chart]:
    """The two colours in words, under the last bar."""
    palette, y = look.palette, alt.YValue(look.px(2 * _ROW + _OVER / 2 - 6))
    layers = []
    for name, fill, ink, left in zip(
        names,
        (palette.latency, palette.bandwidth),
        (palette.latency_text, palette.bandwidth_text),
        (0, 92),
        strict=True,
    ):
        one = alt.Chart(pd.DataFrame({"name": [name]}))
        sign = one.mark_tick(orient="vertical", size=look.px(13), thickness=look.px(12), color=fill, opacity=1)
        word = one.mark_text(**words(look, 14.5, align="left", fontWeight=600, color=ink))
        layers += [
            sign.encode(x=alt.XValue(look.px(left + 6)), y=y),
            word.encode(x=alt.XValue(look.px(left + 18)), y=y, text=alt.Text("name")),
        ]
    return layers


def pass_against_tokens(curve: pd.DataFrame, marks: pd.DataFrame, look: Look) -> Chart:
    """Both times of a pass, log-log: memory is flat, arithmetic climbs, and they cross once.

    `curve` has engine ("memory" or "arithmetic"), tokens, time_ms; `marks` tokens, name.
    """
    palette = look.palette
    ends = [float(curve.tokens.min()), float(curve.tokens.max())]
    axis = alt.Axis(values=[1, 8, 64, 512, 4096], grid=False, title="tokens in one pass")
    x = alt.X("tokens:Q", scale=alt.Scale(type="log", base=2, domain=ends), axis=axis)
    times = alt.Axis(
        values=[0.1, 1, 10, 100], title=None, tickSize=0, domain=False, labelExpr="datum.value + ' ms'"
    )
    y = alt.Y("time_ms:Q", scale=alt.Scale(type="log", domain=_room(curve.time_ms), nice=False), axis=times)
    dashes = alt.StrokeDash("engine:N", scale=alt.Scale(domain=["memory", "arithmetic"], range=[[1, 0], [7, 4]]))
    pointer = alt.Chart(marks)
    layers = [
        pointer.mark_rule(strokeDash=[2, 4], strokeWidth=look.px(1.5), color=palette.muted).encode(x=x),
        *_mark_names(marks, x, look),
        alt.Chart(curve)
        .mark_line(strokeWidth=look.px(3.5), color=palette.text)
        .encode(x=x, y=y, strokeDash=dashes, detail=alt.Detail("engine:N")),
        *_line_names(curve, x, y, look),
    ]
    return styled(alt.layer(*layers), look, 165 if look.present else 280)


def _line_names(curve: pd.DataFrame, x: alt.X, y: alt.Y, look: Look) -> list[alt.Chart]:
    """What each line is: over the flat one where it begins, under the climbing one a little further on."""
    named = (("memory", "read the weights", 1, -14), ("arithmetic", "multiply", 8, 18))
    return [
        alt.Chart(curve[(curve.engine == engine) & (curve.tokens == tokens)].assign(said=said))
        .mark_text(**words(look, 15, align="left", fontWeight=600, dx=look.px(8), dy=look.px(down)))
        .encode(x=x, y=y, text=alt.Text("said"))
        for engine, said, tokens, down in named
    ]


def _mark_names(marks: pd.DataFrame, x: alt.X, look: Look) -> list[alt.Chart]:
    """The pointers' names at the head of the figure, the first leaning into it."""
    y = alt.YValue(look.px(6))
    return [
        alt.Chart(rows)
        .mark_text(**words(look, 14, align=lean, dx=look.px(gap)))
        .encode(x=x, y=y, text=alt.Text("name"))
        for rows, lean, gap in ((marks[:1], "left", 6), (marks[1:], "right", -6))
    ]


def _room(times_ms: "pd.Series[float]") -> list[float]:
    return [0.5 * float(times_ms.min()), 2.0 * float(times_ms.max())]


def model_over_gpus(shares: pd.DataFrame, capacity_gb: float, look: Look) -> Chart:
    """What each GPU would hold, against what it can: a bar past the line does not fit, and is dashed.

    Columns: name, weights_gb, fits, in_words.
    """
    palette = look.palette
    rows = shares.assign(top=_tops(len(shares), look), zero=0.0, value=shares.weights_gb)
    rows["bottom"] = rows.top + look.px(_BAR)
    x = _axis("GB", 1.05 * float(rows.weights_gb.max()))
    limit = alt.Chart(rows.assign(value=capacity_gb, over=rows.top - look.px(5), under=rows.bottom + look.px(5)))
    named = alt.Chart(pd.DataFrame({"value": [capacity_gb], "name": ["a GPU's memory"]}))
    base = alt.Chart(rows[["value", "zero", "top", "bottom", "fits"]])

    def bars(fits: bool, fill: str, dash: list[int]) -> alt.Chart:
        mark = base.transform_filter(f"datum.fits == {str(fits).lower()}").mark_rect(
            color=fill, stroke=palette.axis, strokeWidth=look.px(1.5), strokeDash=dash
        )
        return mark.encode(x=x, x2=alt.X2("zero"), y=_y("top"), y2=alt.Y2("bottom"))

    height = _ROW * len(shares)
    layers = [
        bars(True, palette.compute, [1, 0]),
        bars(False, palette.hatch_ground, [5, 4]),
        limit.mark_rule(strokeWidth=look.px(3), color=palette.text).encode(x=x, y=_y("over"), y2=alt.Y2("under")),
        named.mark_text(**words(look, 14, align="left", dx=look.px(6), fontWeight=600)).encode(
            x=x, y=alt.YValue(look.px(height - 12)), text=alt.Text("name")
        ),
        *_captions(rows, look),
    ]
    return styled(alt.layer(*layers), look, height)
