"""The strategy page's figures: memory by strategy, saved against paid, prefill apart from decode."""

from collections.abc import Iterable
from itertools import pairwise
from math import log10

import altair as alt
import pandas as pd

from ui.figures.style import Chart, styled, words
from ui.theme import Look, mix

_ROW, _BAR = 34, 22
_KEY, _NAME = 28, 22
_LINE = 18
_INK = {"weights": 0.62, "gradients": 0.46, "optimizer": 0.30, "activations": 0.0, "gathered": 0.12}
"""Shades of ink: what is kept from step to step from dark to light; activations are compute."""


def memory_bars(parts: pd.DataFrame, ends: pd.DataFrame, capacity_gb: float, look: Look) -> Chart:
    """A bar a strategy, part after part, against a GPU's memory; a sum past it is red.

    `parts` has strategy, part, start_gb, end_gb; `ends` strategy, end_gb, in_words, short.
    """
    palette = look.palette
    fills = {
        name: mix(palette.text, palette.ground, share) if share else palette.primary for name, share in _INK.items()
    }
    highest = max(float(ends.end_gb.max()), capacity_gb)
    x = _gb("start_gb", [0, 1.22 * highest])
    drawn, said, key = _placed(parts, ends, look), _placed(ends, ends, look), _entries(fills, look)
    limit = pd.DataFrame({"start_gb": [capacity_gb], "name": ["a GPU's memory"]})
    height = _KEY + _row(look) * len(ends) + _NAME
    layers = [
        alt.Chart(drawn[drawn.end_gb > drawn.start_gb])
        .mark_rect(stroke=palette.ground, strokeWidth=look.px(1))
        .encode(
            x=x,
            x2=alt.X2("end_gb"),
            y=_y("top"),
            y2=alt.Y2("bottom"),
            color=alt.Color("part:N", scale=alt.Scale(domain=list(fills), range=list(fills.values()))),
            tooltip=[alt.Tooltip("strategy:N"), alt.Tooltip("part:N"), alt.Tooltip("end_gb:Q", format=".3s")],
        ),
        alt.Chart(limit)
        .mark_rule(strokeWidth=look.px(2.5), color=palette.text)
        .encode(x=x, y=alt.YValue(look.px(_KEY - 4)), y2=alt.Y2Value(look.px(height))),
        alt.Chart(limit)
        .mark_text(**words(look, 14, align="left", dx=look.px(6), fontWeight=600))
        .encode(x=x, y=alt.YValue(look.px(height - _NAME / 2)), text=alt.Text("name")),
        alt.Chart(said)
        .mark_text(**words(look, 14, align="left", dx=look.px(6)))
        .encode(
            x=_gb("end_gb", [0, 1.22 * highest]),
            y=_y("middle"),
            text=alt.Text("in_words"),
            color=alt.condition("datum.short", alt.value(palette.off), alt.value(palette.text)),
        ),
        *key,
    ]
    return styled(_named(layers, said, look, height), look, height)


def saved_and_paid(rows: pd.DataFrame, sums: pd.DataFrame, look: Look) -> Chart:
    """Bytes a strategy saves, left of zero, and sends in a step, right of it: one axis for both.

    `rows` has strategy, what, start_gb, end_gb, why; `sums` strategy, left_gb, right_gb, saved, paid.
    """
    palette = look.palette
    fills = {
        "saved": palette.compute,
        "inside the node": mix(palette.bandwidth, palette.ground, 0.45),
        "across nodes": palette.bandwidth,
    }
    span = float(sums.right_gb.max() - sums.left_gb.min()) or 1.0
    ends = [float(sums.left_gb.min()) - 0.16 * span, float(sums.right_gb.max()) + 0.16 * span]
    x = _gb("start_gb", ends)
    drawn, said = _placed(rows, sums, look), _placed(sums, sums, look)
    base = alt.Chart(said)
    height = _KEY + _row(look) * len(sums)
    layers = [
        alt.Chart(drawn[drawn.end_gb > drawn.start_gb])
        .mark_rect(stroke=palette.ground, strokeWidth=look.px(1))
        .encode(
            x=x,
            x2=alt.X2("end_gb"),
            y=_y("top"),
            y2=alt.Y2("bottom"),
            color=alt.Color("what:N", scale=alt.Scale(domain=list(fills), range=list(fills.values()))),
            tooltip=[
                alt.Tooltip("strategy:N"),
                alt.Tooltip("what:N"),
                alt.Tooltip("why:N"),
                alt.Tooltip("end_gb:Q", format=".3s"),
            ],
        ),
        base.transform_calculate(shown="width < 420 ? '' : datum.saved")
        .mark_text(**words(look, 14, align="right", dx=look.px(-6)))
        .encode(x=_gb("left_gb", ends), y=_y("middle"), text=alt.Text("shown:N")),
        base.mark_text(**words(look, 14, align="left", dx=look.px(6))).encode(
            x=_gb("right_gb", ends), y=_y("middle"), text=alt.Text("paid")
        ),
        alt.Chart(pd.DataFrame({"start_gb": [0.0]}))
        .mark_rule(strokeWidth=look.px(2), color=palette.text)
        .encode(x=x, y=alt.YValue(look.px(_KEY - 4)), y2=alt.Y2Value(look.px(height))),
        *_entries(
            {f"sent {name}" if name != "saved" else "saved against DDP": fill for name, fill in fills.items()}, look
        ),
    ]
    return styled(_named(layers, said, look, height), look, height)


def kinds(rows: pd.DataFrame, look: Look) -> Chart:
    """The best plan of each kind by its tokens a second; the one taken is filled, a refused one has only its word.

    Columns: strategy, composition, tokens_per_s, said, taken.
    """
    palette = look.palette
    drawn = _placed(rows.assign(zero=0.0), rows, look)
    most = float(rows.tokens_per_s.max()) or 1.0
    x = alt.X("tokens_per_s:Q", scale=alt.Scale(domain=[0, 2.4 * most], nice=False), axis=None)
    fill = alt.condition("datum.taken", alt.value(palette.primary), alt.value(palette.compute))
    base = alt.Chart(drawn)
    layers = [
        base.mark_rect().encode(
            x=x,
            x2=alt.X2("zero"),
            y=_y("top"),
            y2=alt.Y2("bottom"),
            color=fill,
            tooltip=[alt.Tooltip("composition:N")],
        ),
        base.transform_calculate(full="datum.composition + '  ·  ' + datum.said")
        .transform_calculate(shown="width < 420 ? datum.said : datum.full")
        .mark_text(**words(look, 14, align="left", dx=look.px(6)))
        .encode(
            x=x,
            y=_y("middle"),
            text=alt.Text("shown:N"),
            color=alt.condition("datum.tokens_per_s > 0", alt.value(palette.text), alt.value(palette.muted)),
        ),
    ]
    height = _KEY + _row(look) * len(rows)
    return styled(_named(layers, drawn, look, height), look, height)


def handoff_curves(curves: pd.DataFrame, prompt_tokens: int, look: Look) -> Chart:
    """Four times against the prompt's length, both axes logarithmic; the prompt asked stands as a rule.

    `curves` has what, prompt_tokens, time_ms: "prefill", "stalls saved", and a line for each link.
    """
    palette, height = look.palette, 230 if look.present else 330
    links = [name for name in curves.what.unique() if name.startswith("over ")]
    inks = {"prefill": palette.axis, "stalls saved": palette.text}
    inks |= dict(zip(links, (mix(palette.bandwidth, palette.ground, 0.6), palette.bandwidth), strict=False))
    x = alt.X(
        "prompt_tokens:Q",
        scale=alt.Scale(
            type="log",
            base=2,
            nice=False,
            domain=[float(curves.prompt_tokens.min()), float(curves.prompt_tokens.max()) * 6],
        ),
        axis=alt.Axis(title="prompt tokens", values=[128, 1024, 8192, 65536], grid=False, format=",d"),
    )
    times = alt.Axis(
        title=None,
        grid=False,
        tickSize=0,
        domain=False,
        labelExpr="datum.value >= 1000 ? datum.value / 1000 + ' s' : datum.value + ' ms'",
        values=[10.0**power for power in range(-3, 7)],
    )
    y = alt.Y("time_ms:Q", scale=alt.Scale(type="log", nice=False), axis=times)
    dashes = [[1, 0], [1, 0], [look.px(7), look.px(4)], [look.px(2), look.px(3)]]
    colour = alt.Color("what:N", scale=alt.Scale(domain=list(inks), range=list(inks.values())))
    dash = alt.StrokeDash("what:N", scale=alt.Scale(domain=list(inks), range=dashes[: len(inks)]))
    last = curves[curves.prompt_tokens == curves.prompt_tokens.max()]
    layers = [
        alt.Chart(pd.DataFrame({"prompt_tokens": [prompt_tokens]}))
        .mark_rule(strokeDash=[2, 4], strokeWidth=look.px(1.5), color=palette.muted)
        .encode(x=x),
        alt.Chart(curves).mark_line(strokeWidth=look.px(3)).encode(x=x, y=y, color=colour, strokeDash=dash),
        *(
            alt.Chart(last[last.what == what])
            .mark_text(**words(look, 14, align="left", dx=look.px(6), dy=dy, fontWeight=600))
            .encode(x=x, y=y, text=alt.Text("what"))
            for what, dy in _names_apart(last, curves, look, height).items()
        ),
    ]
    return styled(alt.layer(*layers), look, height)


def _names_apart(last: pd.DataFrame, curves: pd.DataFrame, look: Look, height: float) -> dict[str, float]:
    """How far each line's name moves, in pixels, so that lines which end together are named apart."""
    a_decade = height / log10(curves.time_ms.max() / curves.time_ms.min())
    ordered = last.sort_values("time_ms", ascending=False)
    moves = dict.fromkeys(ordered.what, 0.0)
    for upper, lower in pairwise(ordered.itertuples()):
        short = _LINE - a_decade * log10(upper.time_ms / lower.time_ms)
        if short > 0:
            moves[upper.what] -= look.px(short / 2)
            moves[lower.what] += look.px(short / 2)
    return moves


def _row(look: Look) -> float:
    """A projector has room for ten rows only if they stand closer."""
    return 20 if look.present else _ROW


def _placed(rows: pd.DataFrame, order: pd.DataFrame, look: Look) -> pd.DataFrame:
    """Rows with their places from top to bottom, in the order of `order.strategy`."""
    places = {name: place for place, name in enumerate(order.strategy)}
    top = rows.strategy.map(lambda name: _KEY + _row(look) * places[name])
    bar = min(_BAR, _row(look) - 7)
    return rows.assign(top=top.map(look.px), bottom=(top + bar).map(look.px), middle=(top + bar / 2).map(look.px))


def _gb(field: str, ends: list[float]) -> alt.X:
    axis = alt.Axis(
        grid=False,
        title=None,
        tickCount=5,
        labelOverlap="greedy",
        labelExpr="format(abs(datum.value), '~r') + ' GB'",
    )
    return alt.X(f"{field}:Q", scale=alt.Scale(domain=ends, nice=False), axis=axis)


def _y(field: str) -> alt.Y:
    return alt.Y(f"{field}:Q", scale=None, axis=None)


def _named(layers: list[alt.Chart], said: pd.DataFrame, look: Look, height: float) -> alt.LayerChart:
    """The strategies' names in the margin left of the bars, on one axis `height` laptop pixels high."""
    values = [float(middle) for middle in said.middle]
    names = dict(zip(values, said.strategy, strict=True))
    spoken = " : ".join(f"datum.value == {value} ? '{name}'" for value, name in names.items())
    palette = look.palette
    axis = alt.Axis(
        values=values,
        title=None,
        grid=False,
        ticks=False,
        domain=False,
        labelExpr=f"{spoken} : ''",
        labelColor=palette.text,
        labelFontSize=look.px(14.5),
        labelFontWeight=600,
        labelLimit=look.px(170),
        labelPadding=look.px(8),
    )
    scale = alt.Scale(domain=[0, look.px(height)], range=[0, look.px(height)], nice=False)
    marks = alt.Chart(said).mark_text(text="").encode(y=alt.Y("middle:Q", scale=scale, axis=axis))
    return alt.layer(marks, *layers).resolve_scale(y="independent")


def _entries(fills: dict[str, str], look: Look) -> list[alt.Chart]:
    """What each fill is, in words over the first bar; on a phone in two lines that begin over the names."""
    wide = _flowed(fills, 7.4, 30, left=0, length=2000)
    narrow = _flowed(fills, 6.6, 24, left=-80, length=335)
    places = [
        {
            "name": name,
            "fill": fill,
            "left": look.px(far),
            "near_left": look.px(near),
            "near_y": look.px(5 + 15 * line),
        }
        for (name, fill), (far, _), (near, line) in zip(fills.items(), wide, narrow, strict=True)
    ]
    phone = f"width < {look.px(420)}"
    base = (
        alt.Chart(pd.DataFrame(places))
        .transform_calculate(x=f"{phone} ? datum.near_left : datum.left")
        .transform_calculate(y=f"{phone} ? datum.near_y : {look.px(9)}")
        .transform_calculate(sign=f"datum.x + {look.px(6)}", word=f"datum.x + {look.px(17)}")
    )
    y = alt.Y("y:Q", scale=None, axis=None)
    return [
        base.mark_tick(orient="vertical", size=look.px(13), thickness=look.px(12), opacity=1).encode(
            x=alt.X("sign:Q", scale=None, axis=None), y=y, color=alt.Color("fill:N", scale=None)
        ),
        base.mark_text(**words(look, 13.5, align="left")).encode(
            x=alt.X("word:Q", scale=None, axis=None), y=y, text=alt.Text("name:N")
        ),
    ]


def _flowed(
    names: Iterable[str], letter: float, sign: float, left: float, length: float
) -> list[tuple[float, int]]:
    """Where each name begins and on which line, set one after another on lines of `length`."""
    places, at, line = [], 0.0, 0
    for name in names:
        wide = sign + letter * len(name)
        if at and at + wide > length:
            at, line = 0.0, line + 1
        places.append((left + at, line))
        at += wide
    return places
