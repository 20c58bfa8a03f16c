"""Lab 02's figures: a token as two ranks lived it, a token taken apart, and two arms of a run beside each other."""

from typing import Any

import altair as alt
import pandas as pd

from ui.figures.style import Chart, styled, words
from ui.theme import Look

_BAR = 36
_ROW = 68
_KINDS = ("one", "all", "ranks")
_NAME, _LINE, _GAP = 24, 13, 8


def token_timeline(slices: pd.DataFrame, look: Look, end_ms: float) -> Chart:
    """One decode step, a row a rank: work, and the collectives it stood in.

    Columns: rank, kind ("work", "sum", "gather"), start_ms, end_ms, label.
    """
    rows = _placed(slices, "rank", look)
    layers = [
        _bars(rows[rows.kind == "work"], look, end_ms, look.palette.compute, look.palette.axis),
        _bars(rows[rows.kind == "sum"], look, end_ms, look.palette.latency, look.palette.ground),
        _bars(rows[rows.kind == "gather"], look, end_ms, look.palette.ground, look.palette.latency),
        _inside(rows[rows.kind == "sum"], look, end_ms, 14, look.palette.on_latency),
        _names(rows, "rank", look),
    ]
    return styled(alt.layer(*layers), look, _ROW * rows["rank"].nunique())


def letters(parts: pd.DataFrame, look: Look) -> Chart:
    """A bar a letter: its work below, its waiting in collectives above; the chosen letter is marked.

    Columns: number, letter, part ("work", "inside"), time_ms, chosen.
    """
    palette = look.palette
    names = parts.drop_duplicates("number")
    axis = alt.Axis(
        title=None,
        labelAngle=0,
        tickSize=0,
        labelFontSize=look.px(15),
        labelColor=palette.text,
        labelExpr=f"{names.letter.tolist()!r}[datum.value]",
    )
    x = alt.X("number:O", axis=axis, scale=alt.Scale(paddingInner=0.25))
    y = alt.Y("time_ms:Q", axis=alt.Axis(title="ms a letter", tickCount=4, domain=False, tickSize=0))
    colours = alt.Scale(domain=["work", "inside"], range=[palette.compute, palette.latency])
    order = alt.Order("part:N", sort="descending")
    bars = alt.Chart(parts).mark_bar().encode(x=x, y=y, color=alt.Color("part:N", scale=colours), order=order)
    chosen = parts[parts.chosen].groupby("number", as_index=False).time_ms.sum()
    mark = {"shape": "triangle-down", "size": look.px(9) ** 2, "filled": True, "color": palette.text, "opacity": 1}
    flag = alt.Chart(chosen).mark_point(**mark, yOffset=look.px(-9)).encode(x=x, y=y)
    return styled(alt.layer(bars, flag), look, 120)


def stacked_bars(parts: pd.DataFrame, look: Look) -> Chart:
    """Bars of stretches from zero: work, sums, sleep, and what nothing explains, hatched.

    Columns: bar, kind ("work", "sum", "slept", "waiting"), start_ms, end_ms, words.
    """
    rows, palette = _placed(parts, "bar", look), look.palette
    end_ms = 1.02 * float(parts.end_ms.max())
    fills = {
        "work": (palette.compute, palette.axis),
        "sum": (palette.latency, palette.ground),
        "slept": (palette.ground, palette.text),
        "waiting": (palette.hatch_ground, palette.hatch),
    }
    layers = [
        _bars(rows[rows.kind == kind], look, end_ms, fill, edge)
        for kind, (fill, edge) in fills.items()
        if (rows.kind == kind).any()
    ]
    if (rows.kind == "waiting").any():
        layers.append(_hatch(rows[rows.kind == "waiting"], look, end_ms))
    layers += [_stretch_words(rows, look, end_ms, kind) for kind in fills if (rows.kind == kind).any()]
    layers.append(_names(rows, "bar", look))
    return styled(alt.layer(*layers), look, _ROW * rows["bar"].nunique())


def arms(runs: pd.DataFrame, look: Look) -> Chart:
    """Least, median and 95th percentile of a decode step at TP=1 (open) and at TP=N (filled), by model.

    Between the two, grey, one process on all threads, where it was timed. A model's runs at TP=N stand on lines of
    their own, each with what is between its ranks and how many times it takes as long.
    Columns: model, between, kind ("one", "all", "ranks"), min_ms, median_ms, p95_ms, times.
    """
    rows, height = _lined(runs, look)
    low, high = 0.7 * float(rows.min_ms.min()), 1.4 * float(rows.p95_ms.max())
    scale = alt.Scale(type="log", domain=[low, high], nice=False)
    axis = alt.Axis(grid=False, title="ms a token", format="~g", tickCount=6)
    kinds = [kind for kind in _KINDS if (rows.kind == kind).any()]
    layers = [_arm(rows[rows.kind == kind], kind, scale, axis, look) for kind in kinds]
    ranks = rows[rows.kind == "ranks"]
    ranks = ranks.assign(
        label=[" ".join(filter(None, pair)) for pair in zip(ranks.between, ranks.times, strict=True)]
    )
    crowded = ranks.p95_ms > low * (high / low) ** 0.75
    layers += [
        _beside(ranks[~crowded], "p95_ms", scale, look, align="left", dx=look.px(8)),
        _beside(ranks[crowded], "min_ms", scale, look, align="right", dx=look.px(-8)),
        _names(rows, "model", look),
    ]
    return styled(alt.layer(*layers), look, height)


def _lined(runs: pd.DataFrame, look: Look) -> tuple[pd.DataFrame, float]:
    """Each arm on its line under its model's name, in px from the top; the height in px of a laptop."""
    top, places = 0.0, []
    for _, rows in runs.groupby("model", sort=False):
        ordered = rows.sort_values("kind", key=lambda kind: kind.map(_KINDS.index), kind="stable")
        named = ordered.kind.where(ordered.kind != "ranks", ordered.run)
        number = named.map({name: line for line, name in enumerate(named.unique())})
        line = top + _NAME + _LINE * (number + 0.5)
        places.append(ordered.assign(name_at=look.px(top + _NAME / 2), line=line.map(look.px)))
        top += _NAME + _LINE * named.nunique() + _GAP
    return pd.concat(places), top


def _beside(rows: pd.DataFrame, end: str, scale: alt.Scale, look: Look, **mark: Any) -> alt.Chart:
    """What is between the ranks, beside an end of their bar."""
    text = alt.Chart(rows).mark_text(**words(look, 14, **mark))
    return text.encode(x=alt.X(f"{end}:Q", scale=scale), y=_y("line"), text="label:N")


def _arm(rows: pd.DataFrame, kind: str, scale: alt.Scale, axis: alt.Axis, look: Look) -> alt.LayerChart:
    palette = look.palette
    base = alt.Chart(rows).encode(y=_y("line"))
    fill = {"one": palette.ground, "all": palette.axis, "ranks": palette.text}[kind]
    circle = {"size": look.px(10) ** 2, "filled": True, "fill": fill, "stroke": palette.text, "opacity": 1}
    span = base.mark_rule(strokeWidth=look.px(3), color=palette.axis)
    return alt.layer(
        span.encode(x=alt.X("min_ms:Q", scale=scale, axis=axis), x2=alt.X2("p95_ms")),
        base.mark_point(strokeWidth=look.px(2), **circle).encode(x=alt.X("median_ms:Q", scale=scale)),
    )


def _placed(table: pd.DataFrame, by: str, look: Look) -> pd.DataFrame:
    """A row of the figure for each value of `by`, its name over its bar."""
    order = {name: row for row, name in enumerate(table[by].unique())}
    top = table[by].map(order) * look.px(_ROW)
    bar_top, bar_end = top + look.px(_ROW - _BAR - 6), top + look.px(_ROW - 6)
    return table.assign(name_at=top + look.px(13), bar_top=bar_top, bar_end=bar_end, middle=(bar_top + bar_end) / 2)


def _x(field: str, end_ms: float) -> alt.X:
    axis = alt.Axis(grid=False, title=None, labelExpr="datum.label + ' ms'", tickCount=7)
    return alt.X(f"{field}:Q", scale=alt.Scale(domain=[0, end_ms], nice=False), axis=axis)


def _y(field: str) -> alt.Y:
    return alt.Y(f"{field}:Q", scale=None, axis=None)


def _bars(rows: pd.DataFrame, look: Look, end_ms: float, fill: str, edge: str) -> alt.Chart:
    return (
        alt.Chart(rows)
        .mark_rect(color=fill, stroke=edge, strokeWidth=look.px(1))
        .encode(x=_x("start_ms", end_ms), x2=alt.X2("end_ms"), y=_y("bar_top"), y2=alt.Y2("bar_end"))
    )


def _names(rows: pd.DataFrame, by: str, look: Look) -> alt.Chart:
    one_each = rows.drop_duplicates(by)
    return (
        alt.Chart(one_each)
        .mark_text(**words(look, 15, align="left", fontWeight=600))
        .encode(x=alt.XValue(0), y=_y("name_at"), text=f"{by}:N")
    )


def _inside(rows: pd.DataFrame, look: Look, end_ms: float, room_px: float, color: str) -> alt.Chart:
    """A label in the middle of its stretch, where it fits."""
    placed = rows.assign(centre=(rows.start_ms + rows.end_ms) / 2, length=rows.end_ms - rows.start_ms)
    room = f"datum.length / {end_ms} * width > {look.px(room_px)}"
    return (
        alt.Chart(placed)
        .transform_calculate(shown=f"{room} ? datum.label : ''")
        .mark_text(**words(look, 14, fontWeight=600, color=color))
        .encode(x=_x("centre", end_ms), y=_y("middle"), text=alt.Text("shown:N"))
    )


def _stretch_words(rows: pd.DataFrame, look: Look, end_ms: float, kind: str) -> alt.Chart:
    """What a stretch is: inside it where there is room, else behind the last one of its bar."""
    palette = look.palette
    chosen = rows[(rows.kind == kind) & (rows.words != "")]
    last = rows.groupby("bar").end_ms.transform("max")
    chosen = chosen.assign(
        length=chosen.end_ms - chosen.start_ms,
        chars=chosen.words.str.len(),
        is_last=(chosen.end_ms == last.loc[chosen.index]),
    )
    room = f"(datum.length / {end_ms} * width > datum.chars * {look.px(7.4)} + {look.px(20)})"
    color = palette.on_latency if kind == "sum" else palette.text
    ground = {"stroke": palette.hatch_ground, "strokeWidth": look.px(7)} if kind == "waiting" else {}
    inside = (
        alt.Chart(chosen)
        .transform_calculate(shown=f"{room} ? datum.words : ''")
        .encode(x=_x("start_ms", end_ms), y=_y("middle"), text=alt.Text("shown:N"))
    )
    outside = (
        alt.Chart(chosen)
        .transform_calculate(shown=f"!{room} && datum.is_last ? datum.words : ''")
        .mark_text(**words(look, 14.5, align="left", dx=look.px(10)))
        .encode(x=_x("end_ms", end_ms), y=_y("middle"), text=alt.Text("shown:N"))
    )
    written = words(look, 14.5, align="left", dx=look.px(10), fontWeight=600, color=color)
    behind = [inside.mark_text(**{**written, **ground})] if ground else []
    return alt.layer(*behind, inside.mark_text(**written), outside)


def _hatch(rows: pd.DataFrame, look: Look, end_ms: float) -> alt.Chart:
    """Slanted lines over a stretch, cut off at its ends."""
    lean, step = 0.02 * end_ms, 0.008 * end_ms
    lines = []
    for row in rows.itertuples():
        height = row.bar_end - row.bar_top
        left = row.start_ms - lean
        while left < row.end_ms:
            begin, end = max(left, row.start_ms), min(left + lean, row.end_ms)
            foot = row.bar_end - height * (begin - left) / lean
            head = row.bar_end - height * (end - left) / lean
            lines.append({"start_ms": begin, "end_ms": end, "foot": foot, "head": head})
            left += step
    return (
        alt.Chart(pd.DataFrame(lines))
        .mark_rule(strokeWidth=look.px(1.2), color=look.palette.hatch)
        .encode(x=_x("start_ms", end_ms), x2=alt.X2("end_ms"), y=_y("foot"), y2=alt.Y2("head"))
    )
