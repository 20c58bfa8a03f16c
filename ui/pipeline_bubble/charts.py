"""Lab 04's charts: the bubble against the microbatches, formulas mistaken for it, schedules, serving, TP × PP."""

from collections.abc import Sequence
from typing import Any

from runtime.prose import named, said
from runtime.quantities import local
from ui.figures.bars import Bands, Sign, captions, inside, key, stretch
from ui.figures.dots import dashed, dot, label, rules
from ui.figures.frames import head
from ui.figures.style import (
    FRACTION,
    PLAIN,
    SECONDS,
    Figure,
    Layer,
    Row,
    Spec,
    also,
    as_row,
    at,
    each,
    figure,
    kept,
    layer,
    linear,
    log,
    over,
    own,
    serif,
    unit_of,
    words,
)
from ui.theme import Look

_ROW = 56


@kept
def bubble_curve(curve: Sequence[Row], marks: Sequence[Row], budget_fraction: float, look: Look) -> Figure:
    """The bubble as a share of time against m, both axes fixed, with the budget as a line across.

    `curve` has series ("now" or "pinned"), microbatches, bubble_fraction; `marks` text besides, and "budget".
    """
    powers = [2.0**power for power in range(11)]
    x = log(
        "microbatches",
        [1, 1024],
        PLAIN,
        title=said("pipeline_bubble", "says.along_microbatches"),
        ticks=powers,
        base=2,
    )
    y = linear("bubble_fraction", [0, 1], FRACTION, ticks=[0, 0.25, 0.5, 0.75, 1], line=False, grid=True)
    budget = said("pipeline_bubble", "says.budget", budget_fraction=local(f"{100 * budget_fraction:g}"))
    beside: dict[str, Any] = {"align": "left", "dx": look.px(6), "dy": look.px(-11), "color": look.palette.muted}
    layers = [
        rules(look, "y", y, [budget_fraction], **dashed(look)),
        label(look, budget, row={"bubble_fraction": budget_fraction}, x=0, y=y, **beside),
    ]
    styles = {
        "pinned": {"color": look.palette.axis, "strokeWidth": look.px(2.5), "strokeDash": [2, 4]},
        "now": {"color": look.palette.text, "strokeWidth": look.px(3.5), "strokeCap": "round"},
    }
    for series, style in styles.items():
        layers.append(layer("line", _of(curve, series), x=x, y=y, **style))
    layers += _marks(marks, x, y, look)
    return figure(layers, look, 250 if look.present else 320)


def _of(rows: Sequence[Row], series: str) -> list[Row]:
    return [row for row in rows if as_row(row)["series"] == series]


def _marks(marks: Sequence[Row], x: Spec, y: Spec, look: Look) -> list[Layer]:
    """The budget's upright stands under the open circles; each has its words beside it."""
    palette = look.palette
    right = {"align": "right", "dx": look.px(-12), "dy": look.px(15), "fontWeight": 400}
    left = {"align": "left", "dx": look.px(13), "dy": look.px(-13), "fontWeight": 600}
    circles = [
        {**as_row(row), **side, "ink": ink, "edge": edge}
        for series, side, ink, edge in (
            ("pinned", right, palette.muted, palette.axis),
            ("now", left, palette.text, palette.text),
        )
        for row in _of(marks, series)
    ]
    upright = {"orient": "vertical", "size": look.px(30), "thickness": look.px(4), "color": palette.text}
    budget, where = _of(marks, "budget"), {"x": x, "y": y}
    text = words(look, 15, color=own("ink"), **each("align", "dx", "dy", "fontWeight"))
    return [
        layer("tick", budget, **where, opacity=1, **upright),
        layer("text", budget, **where, text="text", **serif(look, 20, fontWeight=600, dy=look.px(-30))),
        layer("point", circles, **where, **dot(look, 13, width=2.5) | {"stroke": own("edge")}),
        layer("text", circles, **where, text="text", **text),
    ]


@kept
def formula_dots(formulas: Sequence[Row], look: Look) -> Figure:
    """One row a formula: its letters, what it is, and what it gives as a share of time; the truth stands across.

    More than a whole is drawn at the end of the axis. Columns: letters, what, fraction, value; the first is right.
    """
    truth = as_row(formulas[0])["fraction"]
    rows = [
        {
            **as_row(row),
            "middle": look.px(_ROW * (index + 0.62)),
            "over": look.px(_ROW * (index + 0.22)),
            "name": f"{as_row(row)['letters']}: {as_row(row)['what']}",
            "truth": truth,
            "shown": min(as_row(row)["fraction"], 1.0),
        }
        for index, row in enumerate(formulas)
    ]
    ink, x = look.palette.text, linear("shown", [0, 1], FRACTION, ticks=5)
    less, room = "datum.fraction < datum.truth", f"datum.shown * width > {look.letters(70)}"
    values = [
        layer("text", rows, where=where, x=place, y=at("middle"), text="value", **_beside(look, align, dx, dy))
        for where, place, align, dx, dy in (
            (f"!({less}) && datum.fraction < 0.9", x, "left", 15, 0),
            (f"{less} && {room}", x, "right", -15, 0),
            (f"{less} && !({room})", also(x, "truth"), "left", 15, 0),
        )
    ]
    whole = {"where": f"!({less}) && datum.fraction >= 0.9", "x": x, "y": at("middle"), "text": "value"}
    whole |= _beside(look, "right", -15, 0)
    layers = [
        rules(look, "x", x, [truth], strokeWidth=look.px(2.5)),
        layer("rule", rows, x=also(x, "truth"), x2="shown", y=at("middle"), strokeWidth=look.px(5), color=ink),
        layer("point", rows, x=x, y=at("middle"), **dot(look, 14, width=2.5)),
        *values,
        # on so wide a ground that none of the stroke is left between its letters
        layer("text", rows, **whole, stroke=look.palette.ground, strokeWidth=look.px(12), strokeJoin="round"),
        layer("text", rows, **whole),
        *over(
            look, rows, x=0, y=at("over"), text="name", limit={"expr": "width"}, **words(look, 14.5, align="left")
        ),
    ]
    return figure(layers, look, _ROW * len(rows))


def _beside(look: Look, align: str, dx: float, dy: float) -> dict[str, Any]:
    return serif(look, 19, fontWeight=600, align=align, dx=look.px(dx), dy=look.px(dy))


@kept
def held_bars(held: Sequence[Row], look: Look) -> Figure:
    """Activations held at most, a pair of bars a rank: the first schedule outlined, the second filled.

    Columns: name, rank, held. The first row's name is the first schedule's.
    """
    palette, rows = look.palette, [as_row(row) for row in held]
    names = list(dict.fromkeys(row["name"] for row in rows))
    fills = dict(zip(names, (palette.ground, palette.compute), strict=False))
    ranks = 1 + max(row["rank"] for row in rows)
    x = linear("rank", [-0.5, ranks - 0.5], PLAIN, title=head("rank"), ticks=list(range(ranks)))
    top = max(row["held"] for row in rows)
    y = linear(
        "held",
        [0, top],
        PLAIN,
        title=said("pipeline_bubble", "says.held_microbatches"),
        ticks=4,
        line=False,
        grid=True,
        tickMinStep=1,
    )
    width = look.px(min(20, 220 / ranks))
    layers = [
        layer(
            "bar",
            [row for row in rows if row["name"] == name],
            x=x,
            y=y,
            size=width,
            xOffset=(index - (len(names) - 1) / 2) * (width + look.px(4)),
            color=fills[name],
            stroke=palette.text,
            strokeWidth=look.px(1.2),
        )
        for index, name in enumerate(names)
    ]
    signs = [Sign(name, fills[name], palette.text, edge=palette.text) for name in names]
    return figure([*layers, *_raised(key(look, signs, weight=400))], look, 150, padding={"top": 26})


def _raised(layers: Sequence[Layer]) -> list[Layer]:
    """A key over the plot, whose tallest bar reaches the top."""
    return [
        Layer(drawn.rows, {**drawn.spec, "mark": {**drawn.spec["mark"], "yOffset": -26, "y2Offset": -26}})
        for drawn in layers
    ]


@kept
def serve_curve(curve: Sequence[Row], column: str, in_flight: int, title: str, look: Look) -> Figure:
    """A column of steady decode against the microbatches in flight, with a circle where we stand."""
    rows = [as_row(row) for row in curve]
    most = max(row["in_flight"] for row in rows)
    x = linear(
        "in_flight", [0, most], PLAIN, title=said("pipeline_bubble", "says.microbatches_flight_2"), tickMinStep=1
    )
    top = max(row[column] for row in rows)
    y = linear(column, [0, top], PLAIN, title=title, ticks=4, nice=True, grid=True, line=False)
    here = [row for row in rows if row["in_flight"] == in_flight]
    line = layer("line", rows, x=x, y=y, color=look.palette.text, strokeWidth=look.px(3), strokeCap="round")
    return figure([line, layer("point", here, x=x, y=y, **dot(look, 13, width=2.5))], look, 180)


@kept
def layout_bars(layouts: Sequence[Row], look: Look) -> Figure:
    """One bar a composition: compute, latency, bandwidth. Columns: name, detail, total and the three terms in s.

    What stands in a bar is in the axis's own unit.
    """
    palette = look.palette
    bands = Bands(26, 24, 20 if look.present else 32, 10 if look.present else 28)
    rows = [_with_ends(as_row(row)) for row in layouts]
    end = max(row["end"] for row in rows)
    unit, size = unit_of(SECONDS, end)
    for row in rows:
        row["compute_said"] = local(f"{row['compute_s'] / size:.3g} {unit}")
    placed = bands.placed(rows, look)
    x = linear("zero", [0, end], SECONDS)
    layers = [
        stretch(look, placed, x, "compute_s", palette.compute, palette.axis),
        stretch(look, placed, also(x, "compute_s"), "waited", palette.latency, palette.ground),
        stretch(look, placed, also(x, "waited"), "end", palette.bandwidth, palette.ground),
        *captions(look, placed, "name", "total", "" if look.present else "detail"),
        inside(look, placed, x, "compute_s", "compute_said"),
        *key(
            look,
            [
                Sign(named("shell", "compute"), palette.compute, palette.text),
                Sign(named("shell", "latency"), palette.latency, palette.latency_text),
                Sign(named("shell", "bandwidth"), palette.bandwidth, palette.bandwidth_text),
            ],
        ),
    ]
    return figure(layers, look, bands.height(len(rows)))


def _with_ends(row: dict[str, Any]) -> dict[str, Any]:
    waited = row["compute_s"] + row["latency_s"]
    return {**row, "zero": 0.0, "waited": waited, "end": waited + row["bandwidth_s"]}
