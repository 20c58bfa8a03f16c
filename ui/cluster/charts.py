"""Rounds that were passed by hand: each as a circle over what α + n/β says of its ring."""

from collections.abc import Sequence
from typing import Any

from runtime.prose import said
from ui.figures.style import SECONDS, Figure, Row, also, figure, kept, layer, linear, rows_of, serif, words
from ui.theme import Look

_HEIGHT, _TOP = 250, 52
_HEADROOM = 1.1


@kept
def round_times(rounds: Sequence[object], bands: Sequence[object], look: Look) -> Figure:
    """A circle a round; under them a ring's α in violet, n/β in moss, in gray what one was told to wait."""
    measured, modelled = rows_of(rounds), rows_of(bands)
    palette = look.palette
    high = _HEADROOM * max(*(row["took_s"] for row in measured), *(row["waited_s"] for row in modelled), 1.0)
    x = linear("position", [0, len(measured)], [("", 1.0)], title=said("cluster", "axis.rounds"), tickMinStep=1)
    y = linear("took_s", [high, 0], SECONDS, title=said("cluster", "axis.round"), grid=True)
    y["scale"]["range"] = [look.px(_TOP), look.px(_HEIGHT)]
    over: dict[str, Any] = {"x": also(x, "begins"), "x2": "ends"}
    edge = {"stroke": palette.ground, "strokeWidth": look.px(1.5)}
    fitted = [row for row in modelled if row["sent_s"] > 0]
    slow = [row for row in fitted if row["waited_s"] > row["sent_s"]]
    first: dict[str, Any] = {"x": also(x, "middle"), "text": "in_words", "y": look.px(10)}
    second: dict[str, Any] = {"x": also(x, "middle"), "text": "total", "y": look.px(32)}
    parted: list[Row] = [{"position": row["begins"]} for row in modelled[1:]]
    return figure(
        [
            layer("rect", slow, **over, y=also(y, "sent_s"), y2="waited_s", fill=palette.compute, opacity=0.5),
            layer("rect", fitted, **over, y=also(y, "latency_s"), y2="sent_s", fill=palette.bandwidth, **edge),
            layer("rect", fitted, **over, y=also(y, "zero"), y2="latency_s", fill=palette.latency, **edge),
            layer("rule", parted, x=x, y=look.px(0), y2=look.px(_HEIGHT), color=palette.axis),
            layer(
                "point",
                measured,
                x=x,
                y=y,
                size=look.px(look.px(64)),
                fill=palette.ground,
                stroke=palette.text,
                strokeWidth=look.px(2),
                opacity=1,
            ),
            layer("text", modelled, **first, **words(look, 14.5, fontWeight=600)),
            layer("text", modelled, **second, **serif(look, 17)),
        ],
        look,
        _HEIGHT,
    )
