"""Predicted against published, log-log: on the line they are equal, above it the prediction is too slow."""

from collections.abc import Iterable

from runtime.prose import named, said
from ui.figures.dots import dot, key, rules
from ui.figures.style import (
    BOTTOM,
    PLAIN,
    RIGHT,
    Figure,
    Layer,
    Row,
    also,
    decades,
    either,
    figure,
    kept,
    layer,
    linear,
    log,
    rows_of,
    words,
)
from ui.theme import Look

_MS = (("s", 1e3), ("ms", 1.0))
_VEIL = 0.8
"""How far the times of other sources stand back."""


@kept
def predicted_against_published(
    dots: Iterable[Row], chosen: Iterable[Row], band: tuple[float, float], look: Look
) -> Figure:
    """A circle a published time, filled for a decode latency and open for another; a band for eight in ten.

    `dots` has published_ms, predicted_ms, role, run, source; `chosen` those that stand in front, if any, for which
    all others stand back behind a veil: whatever is chosen, the browser draws the others once. `band` is in
    multiples of the prediction.
    """
    palette, rows, in_front = look.palette, rows_of(dots), rows_of(chosen)
    times = [row["published_ms"] for row in rows]
    ends = [0.6 * min(times), 1.7 * max(times)]
    x = log("published_ms", ends, _MS, title=said("placement", "says.published"), grid=True, tickSize=0)
    y = log("predicted_ms", ends, _MS, title=named("shell", "predicted"), grid=True, tickSize=0)
    low, high = band
    edges = [{"published_ms": end, "below": end / high, "above": end / low, "predicted_ms": end} for end in ends]
    over = list(edges) if in_front else []  # a list of its own: a chart with none of its rows is the same
    circle = dot(look, 7, width=1.3) | {"fill": either("datum.role == 'decode'", palette.primary, palette.ground)}
    told = ["source", "run", "published_ms", "predicted_ms", "role"]

    def ground(rows: list[Row]) -> list[Layer]:
        return [
            layer(
                "area", rows, x=x, y=also(y, "below"), y2="above", color=palette.hairline, opacity=0.6, clip=True
            ),
            layer("line", rows, x=x, y=y, strokeWidth=look.px(1.6), color=palette.text),
        ]

    layers = [
        *ground(edges),
        layer("point", rows, x=x, y=y, tooltip=told, **circle),
        layer("rect", over[:1], x=x, x2=RIGHT, y=0, y2=BOTTOM, color=palette.ground, opacity=_VEIL),
        *ground(over),
        layer("point", in_front, like=rows, x=x, y=y, tooltip=told, **circle),
        # in the corner that no prediction reaches
        *key(
            look,
            (
                (said("placement", "says.decode_latency"), palette.primary),
                (said("placement", "says.another_time"), palette.ground),
            ),
        ),
    ]
    return figure(layers, look, 235 if look.present else 400)


@kept
def planners_beside(bands: Iterable[Row], look: Look) -> Figure:
    """Two planners, a regime at a time: where eight in ten measured times lie, as multiples of the predicted one.

    `bands` has position, regime, planner ("shardlab" or "aiconfigurator"), name, low, middle, high, error. The
    dot is the median; on the line at 1 a prediction is right.
    """
    palette, rows = look.palette, rows_of(bands)
    ends = [0.9 * min(row["low"] for row in rows), 1.1 * max(row["high"] for row in rows)]
    x = log("low", ends, PLAIN, title=said("placement", "beside.axis"), ticks=decades(1, 2, 3, 5, 7), grid=True)
    count = max(row["position"] for row in rows) + 1
    y = linear("position", [count - 0.4, -1.6], PLAIN, ticks=[], line=False)
    ours = "datum.planner === 'shardlab'"
    colour = either(ours, palette.primary, palette.muted)
    named = [row for row in rows if row["planner"] == "shardlab"]
    told = ["regime", "name", "low", "middle", "high", "error"]
    circle = dot(look, 7) | {"fill": either(ours, palette.primary, palette.ground), "stroke": colour}
    layers = [
        rules(look, "x", x, [1.0], color=palette.text),
        layer("rule", rows, x=x, x2="high", y=y, strokeWidth=look.px(3), color=colour),
        layer("point", rows, x=also(x, "middle"), y=y, tooltip=told, **circle),
        layer("text", named, x=look.px(2), y=y, text="regime", **words(look, 14, align="left", dy=look.px(-13))),
        *key(
            look,
            (
                (said("placement", "beside.ours"), palette.primary),
                (said("placement", "beside.theirs"), palette.ground),
            ),
        ),
    ]
    return figure(layers, look, 45 * (count + 1))
