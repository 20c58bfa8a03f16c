"""Lab 02's bench: a token against a model's width with the crossover, and TP=2 against two replicas."""

import altair as alt
import pandas as pd

from ui.figures.style import Chart, styled, words
from ui.theme import Look

_ROW = 54


def token_against_width(lines: pd.DataFrame, dots: pd.DataFrame, marks: pd.DataFrame, look: Look) -> Chart:
    """Both arms over the width, log-log: lines as predicted, circles as measured, the crossover and its band.

    `lines` has hidden_size, single_ms, token_ms, token_fast_ms, token_slow_ms; `dots` arm, single, hidden_size,
    time_ms, min_ms, p95_ms; `marks` hidden_size, low, high, in_words, or no row.
    """
    palette = look.palette
    x, y = _width_axis("hidden_size", lines), _time_axis("single_ms", lines, dots)
    base = alt.Chart(lines)
    band = base.mark_area(color=palette.muted, opacity=0.22).encode(
        x=x, y=_time_axis("token_fast_ms", lines, dots), y2=alt.Y2("token_slow_ms")
    )
    single = base.mark_line(strokeWidth=look.px(2.5), strokeDash=[6, 4], color=palette.text).encode(x=x, y=y)
    token = base.mark_line(strokeWidth=look.px(4), color=palette.text).encode(
        x=x, y=_time_axis("token_ms", lines, dots)
    )
    layers = [band, single, token, *_measured(dots, lines, look), *_names(lines, dots, look)]
    if len(marks):
        layers = [*_crossover(marks, lines, look), *layers]
    return styled(alt.layer(*layers), look, 210 if look.present else 330)


def replicas_or_tp(duels: pd.DataFrame, look: Look) -> Chart:
    """A row for each way of asking and link: how many times as much TP=2 serves as two replicas do.

    Columns: asked, kind, link, gain, tp_wins, in_words. The upright line is a draw.
    """
    palette, row, below = look.palette, 36 if look.present else _ROW, 18 if look.present else 22
    placed = duels.assign(
        name_at=[look.px(34 + row * place) for place in range(len(duels))],
        line_at=[look.px(34 + row * place + below) for place in range(len(duels))],
        name=duels.asked + ", " + duels.link,
        short=duels.kind + ", " + duels.link,
        draw=1.0,
    )
    low, high = min(0.5, float(duels.gain.min())) / 1.3, max(2.0, float(duels.gain.max())) * 1.3
    scale = alt.Scale(type="log", domain=[low, high], nice=False)
    axis = alt.Axis(grid=False, title=None, values=[0.1, 0.2, 0.5, 1, 2, 4], labelExpr="datum.label + ' ×'")
    x, base = alt.X("gain:Q", scale=scale, axis=axis), alt.Chart(placed)
    line_at, name_at = (alt.Y(f"{name}:Q", scale=None, axis=None) for name in ("line_at", "name_at"))
    circle = {
        "size": look.px(11) ** 2,
        "filled": True,
        "stroke": palette.text,
        "strokeWidth": look.px(2),
        "opacity": 1,
    }
    fill = alt.condition(alt.datum.tp_wins, alt.value(palette.text), alt.value(palette.ground))
    narrow, draw = f"width < {look.px(620)}", look.px(14 if look.present else 20)
    sides = pd.DataFrame({"draw": [1.0, 1.0], "side": ["two replicas serve more", "TP=2 serves more"]})
    side = alt.Chart(sides)
    left, right = (
        words(look, 14, align=align, color=palette.muted, dx=dx * look.px(8))
        for align, dx in (("right", -1), ("left", 1))
    )
    layers = [
        base.mark_tick(size=draw, thickness=look.px(1.5), color=palette.text, opacity=1).encode(
            x=alt.X("draw:Q", scale=scale), y=line_at
        ),
        base.mark_rule(strokeWidth=look.px(3), color=palette.axis).encode(
            x=alt.X("draw:Q", scale=scale, axis=axis), x2=alt.X2("gain"), y=line_at
        ),
        base.mark_point(**circle).encode(x=x, y=line_at, fill=fill),
        base.transform_calculate(shown=f"{narrow} ? datum.short : datum.name")
        .mark_text(**words(look, 15, align="left", fontWeight=600))
        .encode(x=alt.XValue(0), y=name_at, text=alt.Text("shown:N")),
        base.transform_calculate(shown=f"{narrow} ? split(datum.in_words, ',')[0] : datum.in_words")
        .mark_text(**words(look, 14, align="right"))
        .encode(x=alt.XValue("width"), y=name_at, text=alt.Text("shown:N")),
        side.transform_filter("datum.side[0] === 't'")
        .mark_text(**left)
        .encode(x=alt.X("draw:Q", scale=scale), y=alt.YValue(look.px(10)), text=alt.Text("side:N")),
        side.transform_filter("datum.side[0] === 'T'")
        .mark_text(**right)
        .encode(x=alt.X("draw:Q", scale=scale), y=alt.YValue(look.px(10)), text=alt.Text("side:N")),
    ]
    return styled(alt.layer(*layers), look, 34 + row * len(duels))


def _measured(dots: pd.DataFrame, lines: pd.DataFrame, look: Look) -> list[alt.Chart]:
    """Open circles for one process, full ones for both, with the spread of the second."""
    palette, x = look.palette, _width_axis("hidden_size", lines)
    circle = {
        "size": look.px(9) ** 2,
        "filled": True,
        "stroke": palette.text,
        "strokeWidth": look.px(1.8),
        "opacity": 1,
    }
    spread = alt.Chart(dots[~dots.single]).mark_rule(strokeWidth=look.px(2), color=palette.axis)
    circles = [
        alt.Chart(dots[dots.single == single])
        .mark_point(fill=palette.ground if single else palette.text, **circle)
        .encode(
            x=x,
            y=_time_axis("time_ms", lines, dots),
            tooltip=[alt.Tooltip("arm"), alt.Tooltip("hidden_size"), alt.Tooltip("time_ms")],
        )
        for single in (True, False)
    ]
    return [spread.encode(x=x, y=_time_axis("min_ms", lines, dots), y2=alt.Y2("p95_ms")), *circles]


def _names(lines: pd.DataFrame, dots: pd.DataFrame, look: Look) -> list[alt.Chart]:
    """Each line by its arm, at its left end, where the two lie farthest apart."""
    first = lines.iloc[[2]]
    named = []
    for field, arm, dy in (("single_ms", "TP=1", 15), ("token_ms", dots.loc[~dots.single, "arm"].iloc[0], -15)):
        mark = words(look, 15, align="left", fontWeight=600, dy=look.px(dy))
        text = alt.Chart(first.assign(arm=arm)).mark_text(**mark)
        named.append(
            text.encode(
                x=_width_axis("hidden_size", lines), y=_time_axis(field, lines, dots), text=alt.Text("arm:N")
            )
        )
    return named


def _crossover(marks: pd.DataFrame, lines: pd.DataFrame, look: Look) -> list[alt.Chart]:
    """The band of widths as a ground, its middle as a dotted rule, and the words at the top, left of it."""
    palette, base = look.palette, alt.Chart(marks)
    x = _width_axis("hidden_size", lines)
    return [
        base.mark_rect(color=palette.second_ground).encode(x=_width_axis("low", lines), x2=alt.X2("high")),
        base.mark_rule(strokeDash=[2, 4], strokeWidth=look.px(1.5), color=palette.text).encode(x=x),
        base.mark_text(**words(look, 14, align="right", fontWeight=600, dx=look.px(-8))).encode(
            x=x, y=alt.YValue(look.px(10)), text=alt.Text("in_words:N")
        ),
    ]


def _width_axis(field: str, lines: pd.DataFrame) -> alt.X:
    ends = [float(lines.hidden_size.min()), float(lines.hidden_size.max()) * 1.06]
    axis = alt.Axis(values=[64, 256, 1024, 4096], grid=False, title="hidden size, two layers", format="d")
    return alt.X(f"{field}:Q", scale=alt.Scale(type="log", base=2, domain=ends, nice=False), axis=axis)


def _time_axis(field: str, lines: pd.DataFrame, dots: pd.DataFrame) -> alt.Y:
    low = min(float(lines.single_ms.min()), float(dots.min_ms.min())) / 2.4
    high = max(float(lines.token_slow_ms.max()), float(dots.p95_ms.max())) * 1.8
    axis = alt.Axis(
        values=[0.1, 1, 10, 100, 1000], title=None, tickSize=0, domain=False, labelExpr="datum.value + ' ms'"
    )
    return alt.Y(f"{field}:Q", scale=alt.Scale(type="log", domain=[low, high], nice=False), axis=axis)
