"""The clinic's cases as figures: bars of terms, lines over something counted, histograms of times."""

from collections.abc import Iterable

from runtime.prose import named as word_of
from runtime.prose import said as phrase
from ui.figures.bars import Bands, Sign, inside, key, stretch
from ui.figures.dots import label
from ui.figures.lines import ends, lines, names
from ui.figures.style import (
    PLAIN,
    RIGHT,
    Figure,
    Layer,
    Row,
    also,
    at,
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
from ui.theme import Look, Palette

_KEY_WORDS = {
    "weights": "weights",
    "compute": "compute",
    "waiting": "waiting",
    "latency": "latency",
    "bandwidth": "bytes",
    "activations": "peak",
    "outside": "context",
    "kv": "KV cache",
}
_MANY = 6
"""More bars than this stand in a row each: their names beside them, not over them."""


@kept
def term_bars(parts: Iterable[Row], wholes: Iterable[Row], unit: str, look: Look) -> Figure:
    """One bar a row from zero, its name and its whole over it or beside it, its terms in it where they fit.

    `parts` has bar, position, term, start, end, in_words in `unit`; `wholes` bar, position, end, in_words. A term
    that is only waiting is a dashed outline.
    """
    palette, named = look.palette, rows_of(wholes)
    rows = [{**row, **_inks(row["term"], palette)} for row in rows_of(parts)]
    terms = [term for term in _KEY_WORDS if any(row["term"] == term for row in rows)]
    bands, left, right = _bands(len(named), 26 if len(terms) > 1 else 0, look)
    placed = [bands.place(row, row["position"], look) for row in rows]
    heads = [bands.place(row, row["position"], look) for row in named]
    axis = linear("start", [0, 1.02 * max(row["end"] for row in named)], ((unit, 1.0),), ticks=5, domain=False)
    x = axis | {"scale": axis["scale"] | {"range": [look.px(left), {"expr": f"width - {look.px(right)}"}]}}
    y = at("middle" if left else "over")
    limit = {"expr": f"width - {look.px(70)}"}
    dash = {"expr": f"datum.term === 'waiting' ? [{look.px(4)}, {look.px(3)}] : null"}
    signs = (
        Sign(word_of("clinic", _KEY_WORDS[term]), _fill_of(term, palette)[0], palette.text, edge=palette.axis)
        for term in terms
    )
    layers = [
        *key(look, signs if len(terms) > 1 else (), size=14, weight=400),
        stretch(look, placed, x, "end", own("fill"), own("edge"), strokeDash=dash),
        inside(
            look,
            placed,
            x,
            "end",
            "in_words",
            beside_px=left + right,
            fontSize=look.font(13.5),
            dx=look.px(7),
            color=own("ink"),
        ),
        layer("text", heads, x=0, y=y, text="bar", **words(look, 14.5, align="left", fontWeight=600, limit=limit)),
        layer("text", heads, x=RIGHT, y=y, text="in_words", **words(look, 14.5, align="right", fontWeight=600)),
    ]
    return figure(layers, look, bands.height(len(named)))


def _bands(bars: int, head: float, look: Look) -> tuple[Bands, float, float]:
    """Where the bars stand, and what is left free beside them: of few the words stand over, of many beside."""
    if bars > _MANY:
        return Bands(head, 3, 18 if look.present else 21, 3), 84, 72
    return Bands(head, 20 if look.present else 22, 17 if look.present else 24, 6), 0, 0


def _inks(term: str, palette: Palette) -> dict[str, str]:
    fill, ink = _fill_of(term, palette)
    return {"fill": fill, "ink": ink, "edge": palette.hatch if term == "waiting" else palette.axis}


def _fill_of(term: str, palette: Palette) -> tuple[str, str]:
    """The fill of a term and the ink that is read on it."""
    return {
        "latency": (palette.latency, palette.on_latency),
        "bandwidth": (palette.bandwidth, palette.text),
        "waiting": (palette.hatch_ground, palette.text),
        "whole": (palette.primary, palette.on_primary),
        "kv": (palette.primary, palette.on_primary),
        "activations": (palette.second_ground, palette.text),
        "outside": (palette.ground, palette.text),
    }.get(term, (palette.compute, palette.text))


@kept
def series_lines(points: Iterable[Row], x: str, y: str, look: Look) -> Figure:
    """A line a series over `x`, its name where it begins. Columns: series, x, y_ms."""
    return figure(named_lines(rows_of(points), "y_ms", x, f"{y}, ms", look, at_end=False), look, 250)


def named_lines(
    points: list[Row], column: str, x_title: str, y_title: str, look: Look, at_end: bool = True
) -> list[Layer]:
    """A line a series, told apart by its dashes, named beyond its end or over its start.

    Columns: series, x, `column`.
    """
    near, far = min(row["x"] for row in points), max(row["x"] for row in points)
    ticks = [far * fifth / 5 for fifth in range(6)] if at_end else 6
    x = linear("x", [near, far], PLAIN, title=x_title, ticks=ticks)
    narrow = narrower(look)
    if at_end:
        beyond = {"expr": f"{narrow} ? {far} : {1.2 * far}"}
        x |= {"scale": {"domainMin": near, "domainMax": beyond, "nice": False, "zero": False}}
    top = max(row[column] for row in points)
    y = linear(column, [0, top], PLAIN, title=y_title, ticks=4, nice=True, grid=True, line=False)
    side = {"align": "left", "dx": look.px(6), "dy": look.px(-12)}
    if at_end:
        over = {"align": "'right'", "dx": look.px(-4), "dy": look.px(-12)}
        beside = {"align": "'left'", "dx": look.px(8), "dy": 0}
        side = {name: {"expr": f"{narrow} ? {over[name]} : {beside[name]}"} for name in over}
    tips = _spread(ends(points, "series", "x", last=at_end), column)
    return [
        lines(look, points, x, y, "series"),
        *names(look, tips, x, also(y, "label"), "series", **side),
    ]


def _spread(tips: list[Row], column: str) -> list[Row]:
    """The ends of the lines with a place for each name: at the end, or below the name above it."""
    tips = sorted(tips, key=lambda row: -row[column])
    least = 0.11 * (tips[0][column] or 1)
    places: list[float] = []
    for row in tips:
        places.append(min(row[column], places[-1] - least) if places else row[column])
    return [{**row, "label": label} for row, label in zip(tips, places, strict=True)]


@kept
def time_histogram(steps: Iterable[Row], look: Look) -> Figure:
    """The share of steps in each bin over a logarithmic axis of time; of two series the second is an outline.

    Columns: series, low_ms, high_ms, percent. The scale of shares is a square root, so that one in a hundred shows.
    """
    palette, rows = look.palette, rows_of(steps)
    series = list(dict.fromkeys(row["series"] for row in rows))
    title, times = phrase("clinic", "says.time_step_ms"), [10, 20, 50, 100, 200, 500]
    x = log("low_ms", [6, 600], PLAIN, title=title, ticks=times)
    most = max(row["percent"] for row in rows)
    y = linear(
        "percent",
        [0, most],
        PLAIN,
        title=phrase("clinic", "says.steps_root_scale"),
        ticks=[1, 10, 30, 60],
        grid=True,
    )
    y |= {"scale": {"type": "sqrt", "domain": [0, most], "nice": False}}
    layers = []
    for order, name in enumerate(series):
        of_series = [row for row in rows if row["series"] == name]
        fill = {"color": palette.compute} if order == 0 else {"fill": None}
        edge = {"stroke": palette.text, "strokeWidth": look.px(1 + order)}
        drawn = phrase("clinic", f"says.{'outlined' if order else 'filled'}", name=name)
        bold = {"align": "right", "fontWeight": 600}
        layers += [
            layer("rect", of_series, x=x, x2="high_ms", y=y, y2=look.px(190), **fill, **edge),
            label(look, drawn if len(series) > 1 else name, 14.5, x=RIGHT, y=look.px(8 + 20 * order), **bold),
        ]
    return figure(layers, look, 190)
