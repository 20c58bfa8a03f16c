"""The overview's four small pictures, each a true instance of what its lab draws large."""

from collections.abc import Sequence
from typing import Any

from core.comm_cost.bill import Bill
from core.pipeline_bubble.schedules.actions import Span
from runtime.kept import kept
from runtime.prose import said
from ui.figures.svg import drawing, idle_pattern, path, rect, text
from ui.theme import Palette

WIDTH, HEIGHT = 245, 140


@kept
def sharded_layer(ranks: int, palette: Palette, alt: str) -> str:
    """A layer's pair of matrices cut over its ranks, and the one bar they meet at."""
    pitch = (WIDTH + 11) / ranks
    parts = []
    for rank in range(ranks):
        block: dict[str, Any] = {
            "fill": palette.rank_fill(rank),
            "stroke": palette.rank_outline(rank),
            "stroke_width": 1.8,
        }
        left = rank * pitch + 1
        parts.append(rect(left, 8, pitch - 13, 24, **block))
        parts.append(rect(left, 42, pitch - 13, 56, **block))
        middle = left + (pitch - 13) / 2
        parts.append(path(f"M{middle:g} 103v12", stroke=palette.rank_outline(rank), stroke_width=2))
    parts.append(rect(0, 116, WIDTH - 2, 16, rx=2, fill=palette.text))
    return drawing(WIDTH, HEIGHT, alt, *parts)


@kept
def two_bills(alone: str, bills: Sequence[tuple[str, Bill]], palette: Palette, alt: str, *, answered: bool) -> str:
    """A step on one GPU, and divided over two links, on one axis of time.

    Before it is `answered` the bill is an open end, and the axis is the step's own: its length would tell the bill.
    """
    whole_s = bills[0][1].step.compute_s
    scale = (WIDTH - 4) / (max(bill.total_s for _, bill in bills) if answered else 1.5 * whole_s)
    parts = []
    for row, name in enumerate([alone, *(name for name, _ in bills)]):
        top = 18 + row * 46
        parts.append(text(0, top - 5, name, font_size=14, font_weight=600, fill=palette.text))
        compute = scale * (bills[row - 1][1].step.rank_compute_s if row else whole_s)
        parts.append(rect(0.5, top, compute, 22, fill=palette.compute, stroke=palette.axis))
        if row:
            parts += (
                _bill(bills[row - 1][1], compute, top, scale, palette) if answered else _open(compute, top, palette)
            )
    return drawing(WIDTH, HEIGHT, alt, *parts)


def _bill(bill: Bill, left: float, top: float, scale: float, palette: Palette) -> list[str]:
    """Waiting, then bytes, beside the compute."""
    waiting, bandwidth = scale * bill.waiting_s, scale * bill.bandwidth_s
    return [
        rect(left + 1, top, max(waiting - 1, 1), 22, fill=palette.latency),
        rect(left + waiting + 1, top, max(bandwidth - 1, 1), 22, fill=palette.bandwidth),
    ]


def _open(left: float, top: float, palette: Palette) -> list[str]:
    """An end that is not told yet."""
    question: dict[str, Any] = {"font_size": 16, "font_weight": 600, "fill": palette.text}
    return [
        path(f"M{left:g} {top:g}h28m-28 22h28", stroke=palette.axis, stroke_dasharray="4 4"),
        text(left + 12, top + 17, "?", **question),
    ]


@kept
def small_schedule(spans: Sequence[Span], stages: int, palette: Palette, alt: str) -> str:
    """A fill-drain schedule: what each stage does, and the hatched triangles where it waits."""
    ticks = round(max(span.end for span in spans))
    width, height = WIDTH / ticks, 124 / stages
    busy = {(span.action.stage, round(span.start)) for span in spans}
    parts = [idle_pattern(palette, "idle-overview")]
    for stage in range(stages):
        for tick in range(ticks):
            box = (tick * width + 1.5, 8 + stage * height + 1.5, width - 3, height - 3)
            if (stage, tick) in busy:
                edge: dict[str, Any] = {"stroke": palette.rank_outline(stage), "stroke_width": 1.4, "rx": 2}
                parts.append(rect(*box, fill=palette.rank_fill(stage), **edge))
            else:
                parts.append(rect(*box, fill="url(#idle-overview)"))
    return drawing(WIDTH, HEIGHT, alt, *parts)


@kept
def two_ranks(weights: Sequence[str], palette: Palette, alt: str) -> str:
    """Two processes, what each holds, and the sums that go both ways."""
    parts = []
    for rank, held in enumerate(weights):
        left, middle = rank * 145, rank * 145 + 49
        box: dict[str, Any] = {
            "fill": palette.rank_fill(rank),
            "stroke": palette.rank_outline(rank),
            "stroke_width": 1.8,
            "rx": 3,
        }
        words: dict[str, Any] = {"text_anchor": "middle", "fill": palette.text}
        parts.append(rect(left + 1, 22, 98, 96, **box))
        parts.append(
            text(middle, 66, said("overview", "says.rank", rank=rank), font_size=16, font_weight=600, **words)
        )
        parts.append(text(middle, 86, held, font_size=13, **words))
    line: dict[str, Any] = {"stroke": palette.text, "stroke_width": 2}
    parts += [path("M102 60h34", **line), path("M134 54l9 6-9 6z", fill=palette.text)]
    parts += [path("M109 80h34", **line), path("M111 74l-9 6 9 6z", fill=palette.text)]
    return drawing(WIDTH, HEIGHT, alt, *parts)
