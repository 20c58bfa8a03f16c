"""The planner under load: the median and the slowest hundredth against the arrival rate, with what was promised."""

from collections.abc import Iterable
from typing import Literal

from runtime.prose import said
from runtime.quantities import local
from ui.figures.dots import dashed, dot, label, rules
from ui.figures.style import (
    PLAIN,
    Figure,
    Row,
    Spec,
    also,
    decades,
    either,
    figure,
    kept,
    layer,
    linear,
    log,
    rows_of,
)
from ui.theme import Look

_MS = (("s", 1e3), ("ms", 1.0))


@kept
def tails(rates: Iterable[Row], clock: Literal["ttft", "itl"], promise_ms: float, look: Look) -> Figure:
    """Two lines over the arrival rate: half of all stay under the thin one, all but a hundredth under the thick.

    `rates` has requests_per_s, {clock}_p50_ms, {clock}_p99_ms, kept. An open circle breaks a promise, this one or
    the other's.
    """
    palette, rows = look.palette, rows_of(rates)
    p50, p99 = f"{clock}_p50_ms", f"{clock}_p99_ms"
    times = [promise_ms, *(row[name] for row in rows for name in (p50, p99))]
    end = 1.08 * max(row["requests_per_s"] for row in rows)
    x = linear("requests_per_s", [0, end], PLAIN, title=said("placement", "says.requests_arriving_second"))
    ends = [0.7 * max(1e-3, min(times)), 1.5 * max(times)]
    named = said("placement", "says.time_first_token" if clock == "ttft" else "says.between_tokens")
    high = log(p99, ends, _MS, title=named, ticks=decades(1, 3), grid=True, line=False)
    low, promised = (
        also(high, p50),
        local(f"{promise_ms / 1e3:g} s" if promise_ms >= 1000 else f"{promise_ms:g} ms"),
    )
    red = {"align": "left", "dx": look.px(6), "dy": look.px(-9), "color": palette.off}
    name: Spec = {"row": rows[-1], "x": x, "align": "left", "dx": look.px(8)}
    fill = either("datum.kept", palette.text, palette.ground)
    told = ["requests_per_s", p99, p50, "kept"]
    layers = [
        rules(look, "y", high, [promise_ms], **dashed(look, strokeWidth=look.px(1.6), color=palette.off)),
        label(
            look,
            said("placement", "says.promised", promised=promised),
            13.5,
            row={p99: promise_ms},
            x=0,
            y=high,
            **red,
        ),
        layer("line", rows, x=x, y=low, strokeWidth=look.px(1.6), color=palette.axis),
        layer("line", rows, x=x, y=high, strokeWidth=look.px(3.5), color=palette.text, strokeCap="round"),
        layer("point", rows, x=x, y=high, tooltip=told, **{**dot(look, 8), "fill": fill}),
        label(look, "p99", y=high, dy=look.px(-7), fontWeight=600, **name),
        label(look, "p50", y=low, dy=look.px(8), color=palette.muted, **name),
    ]
    return figure(layers, look, 150 if look.present else 220, padding={"right": 24})
