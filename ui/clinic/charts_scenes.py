"""The clinic's other scenes: one slow rank three ways, the slowest of many, and what carries which payload."""

from collections.abc import Iterable
from math import log as ln

from runtime.prose import named
from runtime.prose import said as phrase
from ui.clinic.charts import named_lines
from ui.figures.bars import Bands
from ui.figures.dots import dot, rules
from ui.figures.lines import ends, lines
from ui.figures.style import (
    BINARY_BYTES,
    PLAIN,
    Figure,
    Row,
    also,
    at,
    figure,
    kept,
    layer,
    linear,
    log,
    over,
    own,
    rows_of,
    words,
)
from ui.theme import Look


@kept
def response_lines(rows: Iterable[Row], here: Iterable[Row], look: Look) -> Figure:
    """By how much each kind of work is longer against by how much one rank is slower, a circle at the knob.

    Columns of both: kind, slow_percent, longer_percent.
    """
    points, marks = (
        [{**row, "series": row["kind"], "x": row["slow_percent"]} for row in rows_of(table)]
        for table in (rows, here)
    )
    layers = named_lines(
        points, "longer_percent", phrase("clinic", "says.one_rank_slower"), phrase("clinic", "says.longer"), look
    )
    x, y = ({"field": name, "type": "quantitative"} for name in ("x", "longer_percent"))
    return figure([*layers, layer("point", marks, x=x, y=y, **dot(look, 11, width=2))], look, 230)


@kept
def largest_curves(rows: Iterable[Row], drawn: str, look: Look) -> Figure:
    """The slowest of N ranks' extra time over one rank's, N doubling; rows of kind `drawn` are open circles.

    Columns: kind, ranks, times.
    """
    points = rows_of(rows)
    curves = [row for row in points if row["kind"] != drawn]
    circles = [row for row in points if row["kind"] == drawn]
    sizes = [row["ranks"] for row in points]
    doubling = [1, 2, 4, 8, 16, 32, 64]
    x = log(
        "ranks",
        [min(sizes), max(sizes)],
        PLAIN,
        title=phrase("clinic", "says.ranks_lockstep"),
        ticks=doubling,
        base=2,
    )
    top = max(row["times"] for row in points)
    title = phrase("clinic", "says.times_one_rank_s")
    y = linear("times", [0, top], PLAIN, title=title, ticks=5, nice=True, grid=True, line=False)
    names = words(look, 14, align="right", fontWeight=600, dx=look.px(-6), dy=look.px(-14))
    layers = [
        lines(look, curves, x, y, "kind"),
        layer("point", circles, x=x, y=y, **dot(look, 7)),
        *over(look, ends(curves, "kind", "ranks"), x=x, y=y, text="kind", **names),
    ]
    return figure(layers, look, 260)


@kept
def payload_bands(bands: Iterable[Row], payload_bytes: float, release: str, look: Look) -> Figure:
    """What carries a payload, a row a release, over a logarithmic axis of bytes; a line stands at one payload.

    Columns: release, position, kernel, low_bytes, high_bytes. The machine's own release is set in bold.
    """
    palette, row_px = look.palette, 26 if look.present else 40
    fills = {
        "one stage": palette.primary,
        "two stages": palette.compute,
        "half butterfly": palette.second_ground,
        "FlashInfer": palette.second_ground,
        "symmetric memory": palette.hatch_ground,
        "NCCL": palette.ground,
    }
    inks = {"one stage": palette.on_primary}
    standing, rows = Bands(0, 4, row_px - 8, 4), rows_of(bands)
    placed = [
        standing.place(row, row["position"], look)
        | {
            "kernel": named("clinic", row["kernel"]),
            "fill": fills[row["kernel"]],
            "ink": inks.get(row["kernel"], palette.text),
            "weight": 600 if row["release"] == release else 400,
        }
        for row in rows
    ]
    low, high = min(row["low_bytes"] for row in rows), max(row["high_bytes"] for row in rows)
    ticks, title = [2.0**power for power in (9, 13, 18, 23)], phrase("clinic", "says.payload_one_all_reduce")
    x = log("low_bytes", [low, high], BINARY_BYTES, title=title, ticks=ticks, base=2)
    share = f"log(datum.high_bytes / datum.low_bytes) / {ln(high / low)}"
    room = f"{share} * width > length(datum.kernel) * {look.px(7.6)} + {look.px(14)}"
    releases = list({row["release"]: row for row in placed}.values())
    at_payload, marked = also(x, "payload_bytes"), [min(max(payload_bytes, low), high)]
    name = {"where": room, "x": x, "y": at("middle"), "text": "kernel"}
    name |= {**words(look, 13.5, align="left", dx=look.px(7)), "color": own("ink")}
    layers = [
        layer(
            "rect",
            placed,
            x=x,
            x2="high_bytes",
            y=at("top"),
            y2="bottom",
            color=own("fill"),
            stroke=palette.axis,
            strokeWidth=look.px(1),
        ),
        layer(
            "text",
            releases,
            x=0,
            y=at("middle"),
            text="release",
            **words(look, 14, align="right", fontWeight={"expr": "datum.weight"}, dx=look.px(-8)),
        ),
        *(
            rules(look, "x", at_payload, marked, strokeWidth=look.px(width), color=colour)
            for width, colour in ((6, palette.ground), (2, palette.text))
        ),
        # its bar's colour behind the letters: the payload's line may pass there
        layer("text", placed, **name, stroke=own("fill"), strokeWidth=look.px(5)),
        layer("text", placed, **name),
    ]
    height = row_px * (max(row["position"] for row in rows) + 1)
    return figure(layers, look, height, padding={"left": 62, "right": 8})
