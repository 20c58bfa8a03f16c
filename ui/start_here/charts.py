"""Start here's figures: bars on one axis, a pass against its tokens, a model over its GPUs."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from runtime.prose import named, said
from runtime.quantities import seconds
from ui.figures.bars import Bands, Sign, captions, key, stretch
from ui.figures.dots import label, rules
from ui.figures.lines import lines, names
from ui.figures.style import (
    BYTES,
    PLAIN,
    SECONDS,
    Figure,
    Row,
    at,
    figure,
    kept,
    layer,
    linear,
    log,
    rows_of,
    words,
)
from ui.theme import Look

_MS = SECONDS[1:2]
_BANDS = Bands(head=0, over=26, bar=30, under=12)


@kept
def message_bars(sent: Iterable[Row], look: Look) -> Figure:
    """A message over each link: its latency, then its bytes. Columns: name, latency_s, total_s."""
    palette = look.palette
    rows = [{**row, "zero": 0.0, "said": seconds(row["total_s"])} for row in rows_of(sent)]
    bands = Bands(head=26, over=26, bar=30, under=12)
    placed = bands.placed(rows, look)
    ends = [0, 1.02 * max(row["total_s"] for row in rows)]
    start, waited = (linear(field, ends, SECONDS) for field in ("zero", "latency_s"))
    signs = (
        Sign(named("shell", "latency"), palette.latency, palette.latency_text),
        Sign(named("shell", "bandwidth"), palette.bandwidth, palette.bandwidth_text),
    )
    layers = [
        *key(look, signs),
        stretch(look, placed, start, "latency_s", palette.latency, palette.ground),
        stretch(look, placed, waited, "total_s", palette.bandwidth, palette.ground),
        *captions(look, placed, "name", "said"),
    ]
    return figure(layers, look, bands.height(len(rows)))


@kept
def token_bars(needs: Iterable[Row], look: Look) -> Figure:
    """What one token needs, a bar each. Columns: name, time_s."""
    rows = [{**row, "zero": 0.0, "said": seconds(row["time_s"])} for row in rows_of(needs)]
    placed = _BANDS.placed(rows, look)
    x = linear("zero", [0, 1.02 * max(row["time_s"] for row in rows)], SECONDS)
    bars = stretch(look, placed, x, "time_s", look.palette.compute, look.palette.axis)
    return figure([bars, *captions(look, placed, "name", "said", long=30)], look, _BANDS.height(len(rows)))


@kept
def pass_against_tokens(passes: Iterable[Row], marks: Iterable[tuple[str, float]], look: Look) -> Figure:
    """Both times of a pass, log-log: memory is flat, arithmetic climbs, and they cross once.

    Columns: tokens, memory_s, arithmetic_s. `marks` are names and the tokens they point at.
    """
    rows = rows_of(passes)
    read, multiply = (said("start_here", f"says.{name}") for name in ("read_weights", "multiply"))
    times: list[dict[str, Any]] = [
        {"work": work, "tokens": row["tokens"], "time_s": row[field]}
        for work, field in ((read, "memory_s"), (multiply, "arithmetic_s"))
        for row in rows
    ]
    tokens, spent = ([float(row[field]) for row in times] for field in ("tokens", "time_s"))
    ticks = [1, 8, 64, 512, 4096]
    x = log(
        "tokens",
        [min(tokens), max(tokens)],
        PLAIN,
        title=said("start_here", "says.tokens_one_pass"),
        ticks=ticks,
        base=2,
    )
    y = log("time_s", [0.5 * min(spent), 2 * max(spent)], _MS, line=False)
    pointers: list[dict[str, Any]] = [{"tokens": at_tokens, "name": name} for name, at_tokens in marks]
    first, rest = pointers[:1], pointers[1:]
    named = [row for row in times if (row["work"], row["tokens"]) in ((read, 1), (multiply, 8))]
    under = words(look, 15, align="left", dx=look.px(8), fontWeight=600)
    layers = [
        rules(look, "x", x, [row["tokens"] for row in pointers], strokeDash=[2, 4], color=look.palette.muted),
        layer("text", first, x=x, y=look.px(6), text="name", **words(look, 14, align="left", dx=look.px(6))),
        layer("text", rest, x=x, y=look.px(6), text="name", **words(look, 14, align="right", dx=-look.px(6))),
        lines(look, times, x, y, "work"),
        *(
            mark
            for row, down in zip(named, (-14, 18), strict=True)
            for mark in names(look, [row], x, y, "work", **{**under, "dy": look.px(down)})
        ),
    ]
    return figure(layers, look, 165 if look.present else 280)


@kept
def model_over_gpus(shares: Iterable[Row], capacity_bytes: float, look: Look) -> Figure:
    """What each GPU would hold, against what it can: a bar past the line does not fit, and is dashed.

    Columns: gpus, weight_bytes, read_s, fits.
    """
    palette, bands = look.palette, replace(_BANDS, bar=24) if look.present else _BANDS
    rows = [
        {
            **row,
            "zero": 0.0,
            "name": said("start_here", "says.gpus", **row),
            "said": said("start_here", f"says.{'read' if row['fits'] else 'does_not_fit'}", **row),
        }
        for row in rows_of(shares)
    ]
    placed = [
        {
            **row,
            "capacity": capacity_bytes,
            "line_top": row["top"] - look.px(5),
            "line_end": row["bottom"] + look.px(5),
        }
        for row in bands.placed(rows, look)
    ]
    ends = [0, 1.05 * max(row["weight_bytes"] for row in rows)]
    zero, capacity = (linear(field, ends, BYTES) for field in ("zero", "capacity"))
    fitting, too_large = ([row for row in placed if row["fits"] == fits] for fits in (True, False))
    line = {"y": at("line_top"), "y2": "line_end", "strokeWidth": look.px(3), "color": palette.text}
    height = bands.height(len(rows))
    layers = [
        stretch(look, fitting, zero, "weight_bytes", palette.compute, palette.axis),
        stretch(look, too_large, zero, "weight_bytes", palette.hatch_ground, palette.axis, strokeDash=[5, 4]),
        layer("rule", placed, x=capacity, **line),
        label(
            look,
            said("start_here", "says.gpu_s_memory"),
            row={"capacity": capacity_bytes},
            x=capacity,
            y=look.px(height - 12),
            align="left",
            dx=look.px(6),
            fontWeight=600,
        ),
        *captions(look, placed, "name", "said", long=30),
    ]
    return figure(layers, look, height)
