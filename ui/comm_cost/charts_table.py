"""Lab 03's own table: by how much a model misses each size of it."""

from collections.abc import Iterable, Sequence

from runtime.prose import said as phrase
from runtime.quantities import local
from ui.figures.dots import dot, key, rules
from ui.figures.lines import payloads
from ui.figures.style import PLAIN, Figure, Layer, Row, Spec, by, figure, kept, layer, linear, rows_of, words
from ui.theme import Look


@kept
def errors_by_size(errors: Iterable[Row], bulge_bytes: tuple[int, int], look: Look) -> Figure:
    """Modelled over measured time by size, as a percentage off; the bulge is a band with its name.

    `errors` has model, size_bytes, error_percent: the first model open circles on a line, a second one filled.
    """
    palette, rows = look.palette, rows_of(errors)
    models = list(dict.fromkeys(row["model"] for row in rows))
    sizes = [row["size_bytes"] for row in rows]
    reach = max(20.0, 1.15 * max(abs(row["error_percent"]) for row in rows))
    x = payloads("size_bytes", sizes, phrase("comm_cost", "says.size_message"))
    sign = local("0 %")[1:]
    signed = f"(datum.value > 0 ? '+' : '') + format(datum.value, ',~r') + '{sign}'"
    y = linear("error_percent", [-reach, reach], PLAIN, ticks=5, grid=True, line=False, labelExpr=signed)
    fills = dict(zip(models, (palette.ground, palette.text), strict=False))
    dashes = by("model", dict(zip(models, ([1, 0], [5, 4]), strict=False)))
    told = ["model", "size_bytes", "error_percent"]
    layers = [
        *_band(bulge_bytes, sizes, x, look),
        rules(look, "y", y, [0.0], color=palette.axis),
        layer("line", rows, x=x, y=y, strokeDash=dashes, strokeWidth=look.px(1.5), color=palette.text),
        layer("point", rows, x=x, y=y, tooltip=told, **{**dot(look, 7), "fill": by("model", fills)}),
        *(key(look, list(fills.items()), left=10, top=16) if len(models) > 1 else []),
    ]
    return figure(layers, look, 190 if look.present else 230)


def _band(bulge_bytes: tuple[int, int], sizes: Sequence[float], x: Spec, look: Look) -> list[Layer]:
    """The bulge, as far as the sizes reach into it."""
    low, high = max(bulge_bytes[0], min(sizes)), min(bulge_bytes[1], max(sizes))
    if low >= high:
        return []
    span = [{"size_bytes": low, "high": high, "name": phrase("comm_cost", "says.known_bulge")}]
    beside = words(look, 13.5, align="left", dx=look.px(7), color=look.palette.muted)
    return [
        layer("rect", span, x=x, x2="high", color=look.palette.hairline, opacity=0.35),
        layer("text", span, x=x, y=look.px(10), text="name", **beside),
    ]
