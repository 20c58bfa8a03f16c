"""Lab 02's figures: a token as two ranks lived it, a token taken apart, and two arms of a run beside each other."""

from collections.abc import Iterable

from runtime.prose import named
from runtime.prose import said as phrase
from ui.figures.bars import Bands, Sign, key, stretch
from ui.figures.dots import dot
from ui.figures.style import (
    MILLISECONDS,
    PHONE,
    PLAIN,
    RIGHT,
    Figure,
    Layer,
    Row,
    Spec,
    also,
    at,
    by,
    each,
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
from ui.theme import Look

_BANDS = Bands(26, 26, 36, 6)
"""The key stands over the first bar."""
_FILLED = ("work", "sum", "slept", "waiting")
"""Kinds of stretches."""
_KINDS = ("one", "all", "ranks", "again")
_ON_RUNS_LINE = ("ranks", "again")
_NAME, _LINE, _GAP = 24, 13, 8
_KEY = 34
"""Room over the first model for what the signs are, on a phone in two lines."""


@kept
def token_timeline(slices: Iterable[Row], look: Look, end_ms: float) -> Figure:
    """One decode step, a row a rank: work, and the collectives it stood in.

    Columns: rank, kind ("work", "sum", "gather"), start_ms, end_ms, label.
    """
    palette, rows = look.palette, _BANDS.placed(rows_of(slices), look, "rank")
    x = _time(end_ms)
    fills = {
        "work": (palette.compute, palette.axis),
        "sum": (palette.text, palette.ground),
        "gather": (palette.ground, palette.text),
    }
    sums = [{**row, "centre": (row["start_ms"] + row["end_ms"]) / 2} for row in rows if row["kind"] == "sum"]
    fits = f"(datum.end_ms - datum.start_ms) / span_x * width > {look.px(14)}"
    label = words(look, 14, fontWeight=600, color=palette.ground)
    signs = _signs(look, {"work": "work", "sum": "all_reduce", "gather": "gather"}, fills, rows)
    layers = [
        *key(look, signs, weight=400),
        _stretches(rows, fills, x, look),
        layer("text", sums, where=fits, x=also(x, "centre"), y=at("middle"), text="label", **label),
        _names(rows, "rank", look),
    ]
    return figure(layers, look, _BANDS.height(len({row["rank"] for row in rows})))


@kept
def letters(parts: Iterable[Row], look: Look) -> Figure:
    """A bar a letter: its work below, its waiting in collectives above; the chosen letter is marked.

    Columns: number, letter, part ("work", "inside"), time_ms, chosen.
    """
    palette, rows = look.palette, rows_of(parts)
    names = {row["number"]: row["letter"] for row in rows}
    totals: dict[int, float] = {}
    for row in rows:
        totals[row["number"]] = totals.get(row["number"], 0.0) + row["time_ms"]
    axis = {
        "title": None,
        "labelAngle": 0,
        "tickSize": 0,
        "labelFontSize": look.font(15),
        "labelColor": palette.text,
        "labelExpr": f"{list(names.values())!r}[datum.value]",
    }
    x = {"field": "number", "type": "ordinal", "axis": axis, "scale": {"paddingInner": 0.25}}
    most, title = max(totals.values()), phrase("two_way_tp", "says.unit_letter")
    y = linear("time_ms", [0, most], MILLISECONDS, title=title, ticks=4, nice=True, grid=True, line=False)
    colours = by("part", {"work": palette.compute, "inside": palette.text})
    order = {"field": "part", "type": "nominal", "sort": "descending"}
    chosen = {row["number"] for row in rows if row["chosen"]}
    flags = [{"number": number, "time_ms": totals[number]} for number in chosen]
    flag = {"shape": "triangle-down", "size": look.px(9) ** 2, "filled": True, "color": palette.text, "opacity": 1}
    layers = [
        layer("bar", rows, x=x, y=y, color=colours, order=order),
        layer("point", flags, x=x, y=y, yOffset=look.px(-9), **flag),
    ]
    return figure(layers, look, 120)


@kept
def stacked_bars(parts: Iterable[Row], look: Look) -> Figure:
    """Bars of stretches from zero: work, sums, sleep, and what nothing explains, hatched.

    Columns: bar, kind ("work", "sum", "slept", "waiting"), start_ms, end_ms, words.
    """
    palette, rows = look.palette, _BANDS.placed(rows_of(parts), look, "bar")
    end_ms = 1.02 * max(row["end_ms"] for row in rows)
    x = _time(end_ms)
    colours = (
        (palette.compute, palette.axis),
        (palette.text, palette.ground),
        (palette.ground, palette.text),
        (palette.hatch_ground, palette.hatch),
    )
    fills = dict(zip(_FILLED, colours, strict=True))
    ends = {row["bar"]: max(other["end_ms"] for other in rows if other["bar"] == row["bar"]) for row in rows}
    named = [{**row, "last": row["end_ms"] == ends[row["bar"]]} for row in rows if row["words"]]
    signs = _signs(look, {"work": "work", "sum": "all_reduces", "slept": "asleep"}, fills, rows)
    layers = [
        *key(look, signs, weight=400),
        _stretches(rows, fills, x, look),
        _hatch([row for row in rows if row["kind"] == "waiting"], x, look),
        *_said(named, x, look),
        _names(rows, "bar", look),
    ]
    return figure(layers, look, _BANDS.height(len(ends)))


_PHONE_LETTERS = 50
"""How many letters stand beside each other on a phone: a label that ends beyond stands on a mark's other side."""


@kept
def arms(runs: Iterable[Row], look: Look) -> Figure:
    """Least, median and 95th percentile of a decode step at TP=1 (open) and at TP=N (filled), by model.

    Between the two, grey, one process on all threads, where it was timed. A model's runs at TP=N stand on lines of
    their own, each with what is between its ranks and how many times it takes as long.
    A short stroke is the median of another run.
    Columns: run, model, between, kind ("one", "all", "ranks", "again"), min_ms, median_ms, p95_ms, times.
    """
    palette = look.palette
    rows, height = _lined(rows_of(runs), look)
    low, high = 0.7 * min(row["min_ms"] for row in rows), 1.4 * max(row["p95_ms"] for row in rows)
    x = log(
        "min_ms",
        [low, high],
        PLAIN,
        title=phrase("two_way_tp", "says.ms_token"),
        ticks=[m * 10.0**p for p in range(-3, 6) for m in (1, 2, 5)],
    )
    y, median = at("line"), also(x, "median_ms")
    fills = {"one": palette.ground, "all": palette.axis, "ranks": palette.text}
    brief = {named("two_way_tp", "shared memory"): phrase("two_way_tp", "says.memory_on_a_phone")}
    ranks = [
        row
        | {"label": " ".join(filter(None, (row["between"], row["times"])))}
        | {"brief": " ".join(filter(None, (brief.get(row["between"], row["between"]), row["times"])))}
        for row in rows
        if row["kind"] == "ranks"
    ]
    shown = f"{narrower(look, PHONE)} ? datum.brief : datum.label"
    sides = {False: {"align": "left", "dx": look.px(8)}, True: {"align": "right", "dx": look.px(-8)}}
    said = [
        {**row, **sides[far := _ends_beyond(row, low, high)], "at_ms": row["min_ms" if far else "p95_ms"]}
        for row in ranks
    ]
    again = {**dot(look, 16, width=2, fill=palette.text), "shape": "stroke", "angle": 90}
    circle = dot(look, 10, width=2) | {"fill": by("kind", fills)}
    drawn = {row["kind"] for row in rows}
    signs = (
        Sign(
            phrase("two_way_tp", f"says.key_{kind}"), fill, palette.text, 3 if kind == "again" else 12, palette.text
        )
        for kind, fill in {**fills, "again": palette.text}.items()
        if kind in drawn
    )
    layers = [
        *key(look, signs, weight=400),
        layer("rule", rows, x=x, x2="p95_ms", y=y, strokeWidth=look.px(3), color=palette.axis),
        layer("point", rows, where="datum.kind === 'again'", x=median, y=y, **again),
        layer("point", rows, where="datum.kind !== 'again'", x=median, y=y, **circle),
        layer("text", said, x=also(x, "at_ms"), y=y, shown=shown, **words(look, 14, **each("align", "dx"))),
        _names(rows, "model", look),
    ]
    return figure(layers, look, height)


def _ends_beyond(row: Row, low: float, high: float) -> bool:
    """Whether a label right of its mark would end beyond a phone."""
    room = 1 - len(str(row["label"])) / _PHONE_LETTERS
    return bool(row["p95_ms"] > low * (high / low) ** room)


def _lined(runs: list[Row], look: Look) -> tuple[list[Row], float]:
    """Each arm on its line under its model's name, in px from the top; the height in px of a laptop."""
    top, placed = float(_KEY), []
    for model in dict.fromkeys(row["model"] for row in runs):
        rows = sorted((row for row in runs if row["model"] == model), key=lambda row: _KINDS.index(row["kind"]))
        numbers: dict[str, int] = {}
        for row in rows:
            line = numbers.setdefault(row["run"] if row["kind"] in _ON_RUNS_LINE else row["kind"], len(numbers))
            placed.append(
                {**row, "over": look.px(top + _NAME / 2), "line": look.px(top + _NAME + _LINE * (line + 0.5))}
            )
        top += _NAME + _LINE * len(numbers) + _GAP
    return placed, top


def _signs(look: Look, called: dict[str, str], fills: dict[str, tuple[str, str]], rows: list[Row]) -> list[Sign]:
    """What the fills of the stretches that are drawn mean; a hatched one has its words on it."""
    drawn = {row["kind"] for row in rows}
    return [
        Sign(phrase("two_way_tp", f"says.key_{name}"), fills[kind][0], look.palette.text, edge=fills[kind][1])
        for kind, name in called.items()
        if kind in drawn
    ]


def _time(end_ms: float) -> Spec:
    return linear("start_ms", [0, end_ms], MILLISECONDS, ticks=7)


def _stretches(rows: list[Row], fills: dict[str, tuple[str, str]], x: Spec, look: Look) -> Layer:
    """Each stretch in its kind's fill and edge, one kind over the other in their order."""
    kinds = list(fills)
    drawn = sorted(rows, key=lambda row: kinds.index(row["kind"]))
    fill, edge = ({kind: pair[side] for kind, pair in fills.items()} for side in (0, 1))
    return stretch(look, drawn, x, "end_ms", by("kind", fill), by("kind", edge))


def _names(rows: list[Row], by: str, look: Look) -> Layer:
    one_each = list({row[by]: row for row in rows}.values())
    return layer("text", one_each, x=0, y=at("over"), text=by, **words(look, 15, align="left", fontWeight=600))


def _said(rows: list[Row], x: Spec, look: Look) -> list[Layer]:
    """What a stretch is: inside it where there is room, else behind the last of its bar, or over it at the end."""
    palette = look.palette
    length = "(datum.end_ms - datum.start_ms) / span_x * width"
    needs = f"length(datum.words) * {look.px(7.4)} + {look.px(20)}"
    room, beside = f"({length} > {needs})", f"((1 - datum.end_ms / span_x) * width > {needs})"
    inked = [{**row, "ink": palette.ground if row["kind"] == "sum" else palette.text} for row in rows]
    text = {"y": at("middle"), "text": "words", **words(look, 14.5, align="left", dx=look.px(10))}
    inside = {**text, "where": room, "x": x, "fontWeight": 600}
    ground = {"stroke": palette.hatch_ground, "strokeWidth": look.px(7)}
    last = f"!{room} && datum.last"
    over_it = {**text, "y": at("over"), **words(look, 14.5, align="right")}
    return [
        layer("text", [row for row in rows if row["kind"] == "waiting"], **inside, **ground),
        layer("text", inked, **inside | {"color": own("ink")}),
        layer("text", inked, where=f"{last} && {beside}", x=also(x, "end_ms"), **text),
        layer("text", inked, where=f"{last} && !{beside}", x=RIGHT, **over_it),
    ]


def _hatch(rows: list[Row], x: Spec, look: Look) -> Layer:
    """Slanted lines over a stretch, cut off at its ends."""
    end_ms = x["scale"]["domain"][1]
    lean, step = 0.02 * end_ms, 0.008 * end_ms
    drawn = []
    for row in rows:
        height = row["bottom"] - row["top"]
        left = row["start_ms"] - lean
        while left < row["end_ms"]:
            begin, end = max(left, row["start_ms"]), min(left + lean, row["end_ms"])
            foot = row["bottom"] - height * (begin - left) / lean
            head = row["bottom"] - height * (end - left) / lean
            drawn.append({"start_ms": begin, "end_ms": end, "foot": foot, "head": head})
            left += step
    mark = {"strokeWidth": look.px(1.2), "color": look.palette.hatch}
    return layer("rule", drawn, x=x, x2="end_ms", y=at("foot"), y2="head", **mark)
