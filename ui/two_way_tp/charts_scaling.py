"""Lab 02's bench: a token against a model's width with the crossover, and TP=2 against two replicas."""

from collections.abc import Iterable

from runtime.prose import said
from ui.figures.bars import Bands
from ui.figures.dots import dashed, dot, label
from ui.figures.style import (
    MILLISECONDS,
    PLAIN,
    RIGHT,
    TIMES,
    Figure,
    Row,
    Spec,
    also,
    at,
    each,
    either,
    figure,
    kept,
    layer,
    log,
    narrower,
    rows_of,
    words,
)
from ui.theme import Look


@kept
def token_against_width(lines: Iterable[Row], dots: Iterable[Row], marks: Iterable[Row], look: Look) -> Figure:
    """Both arms over the width, log-log: lines as predicted, circles as measured, the crossover and its band.

    `lines` has hidden_size, single_ms, token_ms, token_fast_ms, token_slow_ms; `dots` arm, single, hidden_size,
    time_ms, min_ms, p95_ms; `marks` hidden_size, low, high, in_words, or no row.
    """
    palette, line, circles, crossover = look.palette, rows_of(lines), rows_of(dots), rows_of(marks)
    widths = [row["hidden_size"] for row in line]
    title, sizes = said("two_way_tp", "says.hidden_size_two_layers"), [64, 256, 1024, 4096]
    x = log("hidden_size", [min(widths), 1.06 * max(widths)], PLAIN, title=title, ticks=sizes, base=2)
    low = min(*(row["single_ms"] for row in line), *(row["min_ms"] for row in circles)) / 2.4
    high = max(*(row["token_slow_ms"] for row in line), *(row["p95_ms"] for row in circles)) * 1.8
    y = log("time_ms", [low, high], MILLISECONDS, grid=True, line=False)
    single, token = also(y, "single_ms"), also(y, "token_ms")
    told = ["arm", "hidden_size", "time_ms"]
    together = next(row["arm"] for row in circles if not row["single"])
    start = line[2]
    arms = [
        {"arm": arm, "hidden_size": start["hidden_size"], "time_ms": start[time], "dy": look.px(dy)}
        for arm, time, dy in (("TP=1", "single_ms", 15), (together, "token_ms", -15))
    ]
    circle = dot(look, 9, width=1.8) | {"fill": either("datum.single", palette.ground, palette.text)}
    layers = [
        # the band of widths as a ground, its middle as a dotted rule, and the words at the top, left of it
        layer("rect", crossover, x=also(x, "low"), x2="high", color=palette.second_ground),
        layer("rule", crossover, x=x, **dashed(look, (2, 4), color=palette.text)),
        layer(
            "text",
            crossover,
            x=x,
            y=look.px(10),
            text="in_words",
            **words(look, 14, align="right", fontWeight=600, dx=look.px(-8)),
        ),
        layer("area", line, x=x, y=also(y, "token_fast_ms"), y2="token_slow_ms", color=palette.muted, opacity=0.22),
        layer("line", line, x=x, y=single, strokeDash=[6, 4], strokeWidth=look.px(2.5), color=palette.text),
        layer("line", line, x=x, y=token, strokeWidth=look.px(4), color=palette.text),
        layer(
            "rule",
            circles,
            where="!datum.single",
            x=x,
            y=also(y, "min_ms"),
            y2="p95_ms",
            strokeWidth=look.px(2),
            color=palette.axis,
        ),
        layer("point", circles, x=x, y=y, tooltip=told, **circle),
        # each line by its arm, at its left end, where the two lie farthest apart
        layer("text", arms, x=x, y=y, text="arm", **words(look, 15, align="left", fontWeight=600, **each("dy"))),
    ]
    return figure(layers, look, 210 if look.present else 330)


@kept
def replicas_or_tp(duels: Iterable[Row], look: Look) -> Figure:
    """A row for each way of asking and link: how many times as much TP=2 serves as two replicas do.

    Columns: asked, kind, link, gain, tp_wins, in_words. The upright line is a draw.
    """
    palette, narrow = look.palette, narrower(look, 620)
    bands = Bands(34, 0, 36, 0) if look.present else Bands(34, 0, 44, 10)
    rows = [
        {
            **row,
            "name": f"{row['asked']}, {row['link']}",
            "short": f"{row['kind']}, {row['link']}",
            "draw": 1.0,
        }
        for row in bands.placed(rows_of(duels), look)
    ]
    gains = [row["gain"] for row in rows]
    low, high = min(0.5, *gains) / 1.3, max(2.0, *gains) * 1.3
    x = log("gain", [low, high], TIMES, ticks=[0.1, 0.2, 0.5, 1, 2, 4])
    draw, y, name = also(x, "draw"), at("middle"), at("top")
    tick = {"orient": "vertical", "thickness": look.px(1.5), "color": palette.text, "opacity": 1}
    circle = {**dot(look, 11, width=2), "fill": either("datum.tp_wins", palette.text, palette.ground)}
    side: Spec = {"row": {"draw": 1.0}, "x": draw, "y": look.px(10), "color": palette.muted}
    layers = [
        layer("tick", rows, x=draw, y=y, size=look.px(14 if look.present else 20), **tick),
        layer("rule", rows, x=draw, x2="gain", y=y, strokeWidth=look.px(3), color=palette.axis),
        layer("point", rows, x=x, y=y, **circle),
        layer(
            "text",
            rows,
            shown=f"{narrow} ? datum.short : datum.name",
            x=0,
            y=name,
            **words(look, 15, align="left", fontWeight=600),
        ),
        layer(
            "text",
            rows,
            shown=f"{narrow} ? split(datum.in_words, ', ')[0] : datum.in_words",
            x=RIGHT,
            y=name,
            **words(look, 14, align="right"),
        ),
        label(look, said("two_way_tp", "says.two_replicas_serve_more"), **side, align="right", dx=look.px(-8)),
        label(look, said("two_way_tp", "says.tp_serves_more"), **side, align="left", dx=look.px(8)),
    ]
    return figure(layers, look, bands.height(len(rows)))
