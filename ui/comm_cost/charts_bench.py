"""Lab 03's bench: shares over GPUs and sizes, TP across the node boundary, and links as sold and as measured."""

import json
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from runtime.prose import said as phrase
from ui.comm_cost.charts import term_bars
from ui.figures.bars import Bands
from ui.figures.dots import dashed, dot, label, rules
from ui.figures.lines import ends, names
from ui.figures.style import (
    PERCENT,
    PLAIN,
    RIGHT,
    Figure,
    Row,
    Spec,
    also,
    at,
    by,
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
from ui.theme import Look

_SHARES = (0, 10, 40, 70, 100)


def _ratio() -> str:
    """How far a time is off, as an axis says it."""
    return (
        f"datum.value === 1 ? {json.dumps(phrase('comm_cost', 'says.right'))} : format(datum.value, ',~r') + ' ×'"
    )


def _shares(**axis: Any) -> Spec:
    return linear("share_percent", [0, 100], PERCENT, ticks=_SHARES, **axis)


@kept
def share_dots(dots: Iterable[Row], thresholds: tuple[float, float], look: Look) -> Figure:
    """Two shares a GPU, one over each link; a dot is filled where its verdict is another than the scenario's.

    Columns: gpu, step, role ("link" or "network"), link, share_percent, share, flips.
    """
    palette, band = look.palette, 23 if look.present else 30
    bands = Bands(40 - band / 2, 0, band, 0)
    rows = [
        {**row, "shown": row["share"] if row["flips"] else "", "said": f"{row['gpu']}, {row['step']}"}
        for row in bands.placed(rows_of(dots), look, "gpu")
    ]
    shares: dict[str, list[float]] = {}
    for row in rows:
        shares.setdefault(row["gpu"], []).append(row["share_percent"])
    gpus = [
        {**row, "last": max(shares[name]), "clear": _clear(shares[name])}
        for name, row in {row["gpu"]: row for row in rows}.items()
    ]
    heads = {row["role"]: row for row in sorted(rows, key=lambda row: row["share_percent"])}
    x, y = _shares(), at("middle")
    narrow = narrower(look)
    name = {"x": RIGHT, "y": y, "text": "said"}
    roomy = f"(100 - datum.last) / 100 * width > length(datum.said) * {look.letters(6.6)} + {look.letters(14)}"
    layers = [
        rules(look, "x", x, thresholds, **dashed(look)),
        layer("rule", gpus, y=y, color=palette.hairline, strokeWidth=look.px(1)),
        layer(
            "point",
            rows,
            x=x,
            y=y,
            shape=by("role", {"link": "circle", "network": "square"}),
            tooltip=["gpu", "link", "share"],
            **{**dot(look, 9), "fill": either("datum.flips", palette.text, palette.ground)},
        ),
        layer(
            "text", rows, x=x, y=y, text="shown", **words(look, 14, align="left", dx=look.px(10), fontWeight=600)
        ),
        # at the end of its row, or in its widest gap where a dot is there; on a phone between the rows
        layer("text", gpus, where=f"!({narrow}) && {roomy}", **name, **words(look, 13.5, align="right")),
        layer(
            "text",
            gpus,
            where=f"!({narrow}) && !({roomy})",
            x=also(x, "clear"),
            y=y,
            text="said",
            **words(look, 13.5),
        ),
        layer(
            "text",
            gpus,
            where=narrow,
            **name,
            **words(look, 13, align="right", dy=look.px(-12), color=palette.muted),
        ),
        layer("text", list(heads.values()), x=x, y=look.px(10), text="link", **words(look, 14, fontWeight=600)),
    ]
    return figure(layers, look, 50 + band * len(gpus))


def _clear(shares: list[float]) -> float:
    """The middle of the widest part of a row that has no dot, in percent of it."""
    edges = sorted([0.0, *shares, 100.0])
    low, high = max(pairwise(edges), key=lambda pair: pair[1] - pair[0])
    return (low + high) / 2


@kept
def share_lines(
    points: Iterable[Row], thresholds: tuple[float, float], sizes: Sequence[int], title: str, look: Look
) -> Figure:
    """Shares over a size, a line a series with its name at its end, dots in the colour of the term that rules.

    Columns: series, size, share_percent, rules ("latency", "bandwidth"; anything else is ink).
    """
    palette = look.palette
    inks = {"latency": palette.latency, "bandwidth": palette.bandwidth}
    rows = [{**row, "ink": inks.get(row["rules"], palette.text)} for row in rows_of(points)]
    x = log("size", [min(sizes), max(sizes)], PLAIN, title=title, ticks=sizes, base=2, labelOverlap=False)
    y = _shares(tickSize=0)
    # the highest line's name stands over it, and any other's on the side where it is alone
    top, *others = sorted(ends(rows, "series", "size"), key=lambda row: -row["share_percent"])
    over = [top, *(row for row in others if row["share_percent"] < 20)]
    under = [row for row in others if row["share_percent"] >= 20]
    layers = [
        rules(look, "y", y, thresholds, **dashed(look)),
        layer("line", rows, x=x, y=y, detail="series", strokeWidth=look.px(1.5), color=palette.axis),
        layer(
            "point",
            rows,
            x=x,
            y=y,
            filled=True,
            opacity=1,
            size=look.px(9) ** 2,
            color=own("ink"),
            tooltip=["series", "size", "share_percent"],
        ),
        *names(look, over, x, y, "series", align="right", dy=look.px(-16)),
        *names(look, under, x, y, "series", align="right", dy=look.px(28)),
    ]
    return figure(layers, look, 200 if look.present else 250)


@kept
def node_bars(bars: Iterable[Row], look: Look) -> Figure:
    """The bill at each TP size, latency under bandwidth; a word stands where it first needs more than one node.

    Columns: ranks, term, time_ms, nodes.
    """
    rows = rows_of(bars)
    across = [row for row in rows if row["nodes"] > 1][:1]
    x = {"field": "ranks", "type": "nominal", "sort": None}
    muted = words(look, 13.5, color=look.palette.muted)
    layers = [
        term_bars(rows, look),
        *(
            label(look, phrase("comm_cost", "says.past_one_node"), row=row, x=x, y=look.px(8), **muted)
            for row in across
        ),
    ]
    return figure(layers, look, 190 if look.present else 220)


@kept
def nominal_and_measured(links: Iterable[Row], look: Look) -> Figure:
    """A row a link: what is sold as a tick, what was measured as an open circle.

    Columns: name, nominal_gb_s, measured_gb_s, note, source.
    """
    palette, row_px = look.palette, 19 if look.present else 22
    rows = Bands(12 - row_px / 2, 0, row_px, 0).placed(rows_of(links), look)
    known = [row for row in rows if row["measured_gb_s"] is not None and row["measured_gb_s"] > 0]
    sold = [row["nominal_gb_s"] for row in rows]
    # decades that no link has leave the room for the names
    low, high = 0.02 * min(sold), 1.3 * max(sold)
    decades = [0.1, 1, 10, 100, 1000]
    x = log("nominal_gb_s", [low, high], PLAIN, title=phrase("comm_cost", "says.gb_s_one_direction"), ticks=decades)
    measured, y = also(x, "measured_gb_s"), at("middle")
    layers = [
        layer("rule", known, x=measured, x2="nominal_gb_s", y=y, strokeWidth=look.px(1.5), color=palette.axis),
        layer(
            "tick",
            rows,
            x=x,
            y=y,
            orient="vertical",
            thickness=look.px(3),
            size=look.px(14),
            color=palette.bandwidth,
            opacity=1,
            tooltip=["name", "source"],
        ),
        layer("point", known, x=measured, y=y, tooltip=["name", "note"], **dot(look, 7)),
        layer("text", rows, x=0, y=y, text="name", **words(look, 13.5, align="left")),
    ]
    return figure(layers, look, row_px * len(rows))


@kept
def misses_by_ranks(misses: Iterable[Row], look: Look) -> Figure:
    """The model's time over the measured one at one payload: a row a machine, a numbered dot a number of ranks.

    Columns: name, ranks, ratio.
    """
    row_px = 36 if look.present else 46
    rows = Bands(32 - row_px / 2, 0, row_px, 0).placed(rows_of(misses), look, "name")
    for above, row in pairwise(rows):
        # two dots that nearly meet stand one under the other
        if above["name"] == row["name"] and abs(row["ratio"] - above["ratio"]) < 0.1 * row["ratio"]:
            row["middle"] += look.px(20)
    heads = list({row["name"]: row for row in reversed(rows)}.values())
    x = log("ratio", [0.2, 10], PLAIN, ticks=[0.25, 0.5, 1, 2, 4, 8], said=_ratio())
    y = at("middle")
    names_over = words(look, 14, align="left", dy=look.px(-17))
    layers = [
        layer("rule", heads, y=y, strokeWidth=look.px(1), color=look.palette.hairline),
        rules(look, "x", x, [1.0]),
        layer("point", rows, x=x, y=y, tooltip=["name", "ranks", "ratio"], **dot(look, 20)),
        layer("text", rows, x=x, y=y, text="ranks", **words(look, 13.5, fontWeight=600)),
        layer("text", heads, x=0, y=y, text="name", **names_over),
    ]
    return figure(layers, look, 20 + row_px * len(heads))


@kept
def misses_by_payload(
    misses: Iterable[Row], regions: tuple[tuple[int, int, str], ...], x: Spec, look: Look
) -> Figure:
    """One machine's ratio over the payload, with a name over each stretch of it.

    Columns: payload_bytes, ratio.
    """
    rows = rows_of(misses)
    spans = [{"payload_bytes": low, "name": name} for low, _, name in regions]
    ratios = [row["ratio"] for row in rows]
    low, high = min(0.4, 0.8 * min(ratios)), max(2.5, 1.6 * max(ratios))
    y = log("ratio", [low, high], PLAIN, ticks=[0.03, 0.1, 0.25, 0.5, 1, 2, 4, 8], said=_ratio(), tickSize=0)
    muted = words(look, 13.5, align="left", dx=look.px(5), color=look.palette.muted)
    brief = f"{narrower(look)} ? split(datum.name, ',')[0] : datum.name"
    layers = [
        layer("rule", spans, x=x, strokeDash=[2, 4], color=look.palette.axis),
        layer("text", spans, shown=brief, x=x, y=look.px(8), **muted),
        rules(look, "y", y, [1.0]),
        layer("line", rows, x=x, y=y, color=look.palette.text, strokeWidth=look.px(1.5)),
        layer("point", rows, x=x, y=y, tooltip=["payload_bytes", "ratio"], **dot(look, 7)),
    ]
    return figure(layers, look, 190 if look.present else 210, padding={"right": 24})


@kept
def busbw_by_size(sizes: Iterable[Row], average_gb_s: float, x: Spec, look: Look) -> Figure:
    """The bus bandwidth of each size, and the one average in a table's footer. Columns: size_bytes, busbw_gb_s."""
    palette, rows = look.palette, rows_of(sizes)
    most = max(average_gb_s, *(row["busbw_gb_s"] for row in rows))
    y = linear(
        "busbw_gb_s",
        [0, most],
        PLAIN,
        title=phrase("comm_cost", "says.busbw_gb_s"),
        ticks=4,
        nice=True,
        grid=True,
        line=False,
    )
    mean = {"busbw_gb_s": average_gb_s}
    beside: Spec = {"align": "left", "dy": look.px(-10), "color": palette.off}  # small messages lie far below
    layers = [
        rules(look, "y", y, [average_gb_s], **dashed(look, color=palette.off)),
        label(look, phrase("comm_cost", "says.average_over_sizes"), row=mean, x=look.px(8), y=y, **beside),
        layer("line", rows, x=x, y=y, color=palette.bandwidth, strokeWidth=look.px(3)),
        layer("point", rows, x=x, y=y, tooltip=["size_bytes", "busbw_gb_s"], **dot(look, 7)),
    ]
    return figure(layers, look, 190 if look.present else 240)
