"""Lab 03's bars: the step and its bill on one axis of time."""

from collections.abc import Iterable

from runtime.prose import named
from runtime.prose import said as phrase
from ui.figures.bars import LONG, Bands, Sign, captions, columns, inside, key, measured_tick, stretch
from ui.figures.style import MILLISECONDS, Figure, Layer, Row, also, figure, kept, linear, rows_of
from ui.theme import Look


@kept
def bill_bars(bills: Iterable[Row], look: Look, end_ms: float) -> Figure:
    """One bar a link: compute, then latency, then bandwidth, from zero to `end_ms`.

    Columns: name, detail, compute_ms, latency_ms, bandwidth_ms, in_words, measured_ms (NaN for none), measured.
    Over a bar stand its link and its sum in words, the sum under it where a phone has no room; a measured bill is a
    tick that stands over the bar.
    """
    palette, rows = look.palette, rows_of(bills)
    # where the figure is narrow a long name's sum moves under its bar, and needs the room; on a projector it stays
    longest = max((len(row["name"]) for row in rows), default=0)
    long = longest if look.present else LONG
    wide = longest > long or any(row["detail"] or row["measured"] for row in rows)
    bands = Bands(26, 24, 20 if look.present else 36, 28 if wide else 4 if look.low else 7 if look.present else 16)
    placed = bands.placed(map(_with_ends, rows), look)
    x = linear("zero", [0, end_ms], MILLISECONDS)
    layers = [
        stretch(look, placed, x, "compute_ms", palette.compute, palette.axis),
        stretch(look, placed, also(x, "compute_ms"), "after_latency", palette.latency, palette.ground),
        stretch(look, placed, also(x, "after_latency"), "end", palette.bandwidth, palette.ground),
        *captions(look, placed, "name", "in_words", "detail", long=long),
        inside(look, placed, x, "compute_ms", "compute", 118),
        inside(
            look,
            placed,
            also(x, "compute_ms"),
            "after_latency",
            "waiting",
            132,
            dx=look.px(10),
            fontWeight=600,
            color=palette.on_latency,
        ),
        *measured_tick(look, placed, also(x, "end"), "measured_ms", "measured", "detail"),
        *key(look, _signs(rows, look)),
    ]
    return figure(layers, look, bands.height(len(rows)))


def _with_ends(row: Row) -> Row:
    after_latency = row["compute_ms"] + row["latency_ms"]
    return {**row, "zero": 0.0, "after_latency": after_latency, "end": after_latency + row["bandwidth_ms"]}


def _signs(rows: Iterable[Row], look: Look) -> list[Sign]:
    """What each colour is; only what some bar has."""
    palette, rows = look.palette, list(rows)
    entries = [
        (
            Sign(named("shell", "compute"), palette.compute, palette.text),
            any(row["compute_ms"] > 0 for row in rows),
        ),
        (
            Sign(named("shell", "latency"), palette.latency, palette.latency_text),
            any(row["latency_ms"] > 0 for row in rows),
        ),
        (Sign(named("shell", "bandwidth"), palette.bandwidth, palette.bandwidth_text), True),
        (
            Sign(named("shell", "measured"), palette.text, palette.text, width=3),
            any(_known(row["measured_ms"]) for row in rows),
        ),
    ]
    return [sign for sign, there in entries if there]


def _known(value: float | None) -> bool:
    return value is not None and value == value  # NaN is not itself


@kept
def bills_by_ranks(bars: Iterable[Row], look: Look) -> Figure:
    """The bill at each number of ranks, latency under bandwidth. Columns: ranks, term, time_ms."""
    return figure([term_bars(bars, look)], look, 180)


def term_bars(bars: Iterable[Row], look: Look) -> Layer:
    """Stacked bars in the two colours, as a layer. Columns: ranks, term, time_ms."""
    rows = rows_of(bars)
    totals: dict[str, float] = {}
    for row in rows:
        totals[row["ranks"]] = totals.get(row["ranks"], 0.0) + row["time_ms"]
    y = linear(
        "time_ms",
        [0, max(totals.values())],
        MILLISECONDS,
        title=phrase("comm_cost", "says.unit_step"),
        ticks=4,
        nice=True,
        grid=True,
        line=False,
    )
    colours = {"latency": look.palette.latency, "bandwidth": look.palette.bandwidth}
    return columns(look, rows, "ranks", y, "term", colours, ["time_ms"])


def axis_end_ms(bills: Iterable[Row]) -> float:
    """Where the axis of these bills ends: the longest of them, measured or modelled, and a little air."""
    rows = [_with_ends(row) for row in rows_of(bills)]
    return 1.02 * max(max(row["end"], row["measured_ms"] if _known(row["measured_ms"]) else 0) for row in rows)
