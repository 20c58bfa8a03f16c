"""The strategy page's figures: memory by strategy, saved against paid, prefill apart from decode."""

from collections.abc import Iterable, Mapping
from itertools import pairwise
from math import log10

from runtime.prose import named
from runtime.prose import said as phrase
from ui.figures.bars import Bands, stretch
from ui.figures.dots import dashed, label, rules
from ui.figures.style import (
    PHONE,
    PLAIN,
    Figure,
    Layer,
    Row,
    Spec,
    also,
    at,
    by,
    decades,
    either,
    figure,
    kept,
    layer,
    linear,
    log,
    narrower,
    own,
    rows_of,
    words,
)
from ui.theme import Look, mix

_KEY, _NAME = 28, 22
_LINE = 18
_INK = {"weights": 0.62, "gradients": 0.46, "optimizer": 0.30, "activations": 0.0, "gathered": 0.12}
"""Shades of ink: what is kept from step to step from dark to light; activations are compute."""
_MS = (("s", 1e3), ("ms", 1.0))


@kept
def memory_bars(parts: Iterable[Row], ends: Iterable[Row], capacity_gb: float, look: Look) -> Figure:
    """A bar a strategy, part after part, against a GPU's memory; a sum past it is red.

    `parts` has strategy, part, start_gb, end_gb; `ends` strategy, end_gb, in_words, short.
    """
    palette, wholes = look.palette, rows_of(ends)
    fills = {
        name: mix(palette.text, palette.ground, share) if share else palette.primary for name, share in _INK.items()
    }
    highest = max(capacity_gb, *(row["end_gb"] for row in wholes))
    x = _gb("start_gb", [0, 1.22 * highest])
    drawn, totals = _placed(parts, wholes, look), _placed(wholes, wholes, look)
    height = _bands(look).height(len(wholes)) + _NAME
    red = {"color": either("datum.short", palette.off, palette.text)}
    beyond = capacity_gb > 0.4 * highest  # there a phone has no room behind the line
    limit: Spec = {"align": "right" if beyond else "left", "dx": look.px(-6 if beyond else 6), "fontWeight": 600}
    layers = [
        _names(totals, look, height),
        _parts(drawn, x, by("part", fills), ["strategy", "part", "end_gb"], look),
        _upright(x, capacity_gb, 2.5, look),
        label(
            look,
            phrase("strategy", "says.gpu_s_memory"),
            row={"start_gb": capacity_gb},
            x=x,
            y={"value": {"expr": f"height - {look.px(_NAME / 2)}"}},
            **limit,
        ),
        layer("text", totals, x=also(x, "end_gb"), y=at("middle"), text="in_words", **_beside(look, "left") | red),
        *_entries({named("strategy", name): fill for name, fill in fills.items()}, look),
    ]
    return figure(layers, look, height, apart="y")


@kept
def saved_and_paid(rows: Iterable[Row], sums: Iterable[Row], look: Look) -> Figure:
    """Bytes a strategy saves, left of zero, and sends in a step, right of it: one axis for both.

    `rows` has strategy, what, start_gb, end_gb, why; `sums` strategy, left_gb, right_gb, saved, paid.
    """
    palette, wholes = look.palette, rows_of(sums)
    fills = {
        "saved": palette.compute,
        "inside the node": mix(palette.bandwidth, palette.ground, 0.45),
        "across nodes": palette.bandwidth,
    }
    left, right = min(row["left_gb"] for row in wholes), max(row["right_gb"] for row in wholes)
    span = (right - left) or 1.0
    x = _gb("start_gb", [left - 0.16 * span, right + 0.16 * span])
    drawn, totals = _placed(rows, wholes, look), _placed(wholes, wholes, look)
    height = _bands(look).height(len(wholes))
    wide, y = f"!({narrower(look, PHONE)})", at("middle")
    sent = [
        phrase("strategy", "says.sent", name=phrase("strategy", where))
        for where in ("says.inside_node", "says.across_nodes")
    ]
    told = dict(zip([phrase("strategy", "says.saved_against_ddp"), *sent], fills.values(), strict=True))
    layers = [
        _names(totals, look, height),
        _parts(drawn, x, by("what", fills), ["strategy", "what", "why", "end_gb"], look),
        layer("text", totals, where=wide, x=also(x, "left_gb"), y=y, text="saved", **_beside(look, "right")),
        layer("text", totals, x=also(x, "right_gb"), y=y, text="paid", **_beside(look, "left")),
        _upright(x, 0.0, 2, look),
        *_entries(told, look),
    ]
    return figure(layers, look, height, apart="y", padding={"right": 26})


@kept
def kinds(rows: Iterable[Row], look: Look) -> Figure:
    """The best plan of each kind by its tokens a second; the one taken is filled, a refused one has only its word.

    Columns: strategy, composition, tokens_per_s, in_words, taken.
    """
    palette, kind_rows = look.palette, rows_of(rows)
    drawn = [
        {**row, "zero": 0.0, "full": f"{row['composition']}  ·  {row['in_words']}"}
        for row in _placed(kind_rows, kind_rows, look)
    ]
    most = max(row["tokens_per_s"] for row in drawn) or 1.0
    x = linear("tokens_per_s", [0, 2.4 * most], PLAIN) | {"axis": None}
    fill = either("datum.taken", palette.primary, palette.compute)
    ink = {"color": either("datum.tokens_per_s > 0", palette.text, palette.muted)}
    shown = f"{narrower(look, PHONE)} ? datum.in_words : datum.full"
    box = {"y": at("top"), "y2": "bottom", "color": fill, "tooltip": ["composition"]}
    height = _bands(look).height(len(kind_rows))
    layers = [
        _names(drawn, look, height),
        layer("rect", drawn, x=x, x2="zero", **box),
        layer("text", drawn, shown=shown, x=x, y=at("middle"), **_beside(look, "left") | ink),
    ]
    return figure(layers, look, height, apart="y")


@kept
def handoff_curves(curves: Iterable[Row], prompt_tokens: int, look: Look) -> Figure:
    """Four times against the prompt's length, both axes logarithmic; the prompt asked stands as a rule.

    `curves` has what, prompt_tokens, time_ms: "prefill", "stalls saved", and a line for each link.
    """
    palette, height, rows = (
        look.palette,
        230 if look.present else 330,
        [{**row, "what": named("strategy", row["what"])} for row in rows_of(curves)],
    )
    known = [named("strategy", name) for name in ("prefill", "stalls saved")]
    links = [name for name in dict.fromkeys(row["what"] for row in rows) if name not in known]
    inks = (palette.axis, palette.text, mix(palette.bandwidth, palette.ground, 0.6), palette.bandwidth)
    sizes, times = [row["prompt_tokens"] for row in rows], [row["time_ms"] for row in rows if row["time_ms"]]
    ends, doubling = [min(sizes), 6 * max(sizes)], [128, 1024, 8192, 65536]
    x = log("prompt_tokens", ends, PLAIN, title=phrase("strategy", "says.prompt_tokens_2"), ticks=doubling, base=2)
    y = log("time_ms", [min(times), max(times)], _MS, ticks=decades(1), line=False)
    dashes = [[1, 0], [1, 0], [look.px(7), look.px(4)], [look.px(2), look.px(3)]]
    lines = [*known, *links]
    rows = [{**row, "line": str(lines.index(row["what"]))} for row in rows]
    style = {
        name: by("line", dict(zip("0123", each, strict=True)))
        for name, each in (("color", inks), ("strokeDash", dashes))
    }
    last = [row for row in rows if row["prompt_tokens"] == max(sizes)]
    shown = f"{narrower(look, PHONE)} ? trim(split(datum.said, '(')[0]) : datum.said"
    moves = _names_apart(last, max(times) / min(times), look, height)
    ends_named = [{**row, "said": row["what"], "dy": moves[row["what"]]} for row in last if row["time_ms"]]
    layers = [
        rules(look, "x", x, [prompt_tokens], **dashed(look, (2, 4))),
        layer("line", rows, x=x, y=y, strokeWidth=look.px(3), **style),
        layer("text", ends_named, x=x, y=y, shown=shown, **words(look, 14, dy={"expr": "datum.dy"}, **_bold(look))),
    ]
    return figure(layers, look, height, padding={"right": 24})


def _names_apart(last: list[Row], ratio: float, look: Look, height: float) -> dict[str, float]:
    """How far each line's name moves, in pixels, so that lines which end together are named apart."""
    a_decade = height / log10(ratio)
    ordered = sorted(last, key=lambda row: -row["time_ms"])
    moves = {row["what"]: 0.0 for row in ordered}
    for upper, lower in pairwise(ordered):
        if not lower["time_ms"]:
            continue
        short = _LINE - a_decade * log10(upper["time_ms"] / lower["time_ms"])
        if short > 0:
            moves[upper["what"]] -= look.px(short / 2)
            moves[lower["what"]] += look.px(short / 2)
    return moves


def _bold(look: Look) -> Spec:
    return {"align": "left", "dx": look.px(6), "fontWeight": 600}


def _beside(look: Look, align: str) -> Spec:
    return words(look, 14, align=align, dx=look.px(6 if align == "left" else -6))


def _bands(look: Look) -> Bands:
    """A projector has room for ten rows only if they stand closer."""
    return Bands(_KEY, 0, 13, 7) if look.present else Bands(_KEY, 0, 22, 12)


def _placed(rows: Iterable[Row], order: list[Row], look: Look) -> list[Row]:
    """Rows with their places from top to bottom, in the order of the strategies."""
    places = {row["strategy"]: index for index, row in enumerate(order)}
    return [_bands(look).place(row, places[row["strategy"]], look) for row in rows_of(rows)]


def _gb(field: str, ends: list[float]) -> Spec:
    spoken = "format(abs(datum.value), ',~r') + ' GB'"
    return linear(field, ends, PLAIN, ticks=5, labelOverlap="greedy", labelExpr=spoken)


def _parts(drawn: list[Row], x: Spec, fills: Spec, told: list[str], look: Look) -> Layer:
    there = [row for row in drawn if row["end_gb"] > row["start_gb"]]
    return stretch(look, there, x, "end_gb", fills, look.palette.ground, tooltip=told)


def _upright(x: Spec, at_gb: float, width: float, look: Look) -> Layer:
    """A line through all bars at one value."""
    ends = {"y": look.px(_KEY - 4), "y2": {"value": "height"}}
    return rules(look, "x", x, [at_gb], strokeWidth=look.px(width), **ends)


def _names(rows: list[Row], look: Look, height: float) -> Layer:
    """The strategies' names in the margin left of the bars, on one axis `height` laptop pixels high."""
    palette = look.palette
    spoken = "(data('rows')[indexof(pluck(data('rows'), 'middle'), datum.value)] || {}).strategy"
    axis = {
        "values": [row["middle"] for row in rows],
        "title": None,
        "grid": False,
        "ticks": False,
        "domain": False,
        "labelExpr": spoken,
        "labelColor": palette.text,
        "labelFontSize": look.font(14.5),
        "labelFontWeight": 600,
        "labelLimit": look.px(170),
        "labelPadding": look.px(8),
    }
    scale = {"domain": [0, look.px(height)], "range": [0, {"expr": "height"}], "nice": False}
    y = {"field": "middle", "type": "quantitative", "scale": scale, "axis": axis}
    return layer("point", rows, y=y, detail="strategy", opacity=0)


def _entries(fills: Mapping[str, str], look: Look) -> list[Layer]:
    """What each fill is, in words over the first bar; on a phone in two lines that begin over the names."""
    wide = _flowed(fills, 7.4, 30, left=0, length=2000)
    narrow = _flowed(fills, 6.6, 24, left=-80, length=335)
    rows = [
        {
            "name": name,
            "fill": fill,
            "wide_sign": look.px(far + 6),
            "wide_word": look.px(far + 17),
            "near_sign": look.px(near + 6),
            "near_word": look.px(near + 17),
            "near_y": look.px(5 + 15 * line),
        }
        for (name, fill), (far, _), (near, line) in zip(fills.items(), wide, narrow, strict=True)
    ]
    phone = narrower(look, PHONE)
    sign = {"orient": "vertical", "size": look.px(13), "thickness": look.px(12), "opacity": 1, "color": own("fill")}
    word = {"text": "name", **words(look, 13.5, align="left")}
    return [
        layer(kind, rows, where=where, x=at(f"{width}_{part}"), y=y, **mark)
        for where, width, y in ((f"!({phone})", "wide", look.px(9)), (phone, "near", at("near_y")))
        for kind, part, mark in (("tick", "sign", sign), ("text", "word", word))
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
