"""Predicted against published, log-log: on the line they are equal, above it the prediction is too slow."""

from collections.abc import Iterable

from runtime.prose import said
from ui.figures.dots import dot, key
from ui.figures.style import Figure, Row, also, either, figure, kept, layer, log, rows_of
from ui.theme import Look

_MS = (("s", 1e3), ("ms", 1.0))


@kept
def predicted_against_published(dots: Iterable[Row], band: tuple[float, float], look: Look) -> Figure:
    """A circle a published time, filled for a decode latency and open for another; a band for eight in ten.

    `dots` has published_ms, predicted_ms, role, chosen, run, source. What is not chosen stands back in grey. `band`
    is in multiples of the prediction.
    """
    palette, rows = look.palette, rows_of(dots)
    times = [row["published_ms"] for row in rows]
    ends = [0.6 * min(times), 1.7 * max(times)]
    x = log("published_ms", ends, _MS, title="published", grid=True, tickSize=0)
    y = log("predicted_ms", ends, _MS, title="predicted", grid=True, tickSize=0)
    low, high = band
    edges = [{"published_ms": end, "below": end / high, "above": end / low, "predicted_ms": end} for end in ends]
    decode = "datum.chosen && datum.role == 'decode'"
    circle = dot(look, 7, width=1.3) | {
        "fill": either(decode, palette.primary, palette.ground),
        "stroke": either("datum.chosen", palette.text, palette.axis),
    }
    told = ["source", "run", "published_ms", "predicted_ms", "role"]
    layers = [
        layer("area", edges, x=x, y=also(y, "below"), y2="above", color=palette.hairline, opacity=0.6, clip=True),
        layer("line", edges, x=x, y=y, strokeWidth=look.px(1.6), color=palette.text),
        layer("point", rows, x=x, y=y, tooltip=told, **circle),
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
