"""The overview's four small pictures, each a true instance of what its lab draws large."""

from collections.abc import Sequence
from typing import Any

from core.comm_cost.bill import Bill
from core.pipeline_bubble.schedules.actions import Span
from ui.figures.svg import drawing, idle_pattern, path, rect, text
from ui.theme import Palette

WIDTH, HEIGHT = 245, 140


def sharded_layer(ranks: int, palette: Palette, alt: str) -> str:
    """A layer cut by rows over its ranks, and the one bar they meet at."""
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


def two_bills(bills: Sequence[tuple[str, Bill]], palette: Palette, alt: str, *, answered: bool) -> str:
    """A step and its bill on two links, on one axis of time; before it is `answered` the bill is an open end."""
    scale = (WIDTH - 4) / max(bill.total_s for _, bill in bills)
    parts = []
    for row, (name, bill) in enumerate(bills):
        top = 22 + row * 58
        compute_s = bill.step.rank_compute_s
        ends = [compute_s, compute_s + bill.waiting_s, bill.total_s]
        compute, latency, bandwidth = (scale * end for end in ends)
        parts.append(text(0, top - 6, name, font_size=14, font_weight=600, fill=palette.text))
        parts.append(rect(0.5, top, compute, 30, fill=palette.compute, stroke=palette.axis))
        if not answered:
            question: dict[str, Any] = {"font_size": 18, "font_weight": 600, "fill": palette.text}
            parts.append(path(f"M{compute:g} {top:g}h28m-28 30h28", stroke=palette.axis, stroke_dasharray="4 4"))
            parts.append(text(compute + 12, top + 21, "?", **question))
            continue
        parts.append(rect(compute + 1, top, max(latency - compute - 1, 1), 30, fill=palette.latency))
        parts.append(rect(latency + 1, top, max(bandwidth - latency - 1, 1), 30, fill=palette.bandwidth))
    return drawing(WIDTH, HEIGHT, alt, *parts)


def small_schedule(spans: Sequence[Span], stages: int, palette: Palette, alt: str) -> str:
    """A fill-drain schedule: what each stage does, and the hatched triangles where it waits."""
    ticks = round(max(span.end for span in spans))
    width, height = WIDTH / ticks, 124 / stages
    busy = {(span.action.stage, round(span.start)) for span in spans}
    parts = [idle_pattern(palette, "idle-overview")]
    for stage in range(stages):
        for tick in range(ticks):
            place = (tick * width + 1.5, 8 + stage * height + 1.5, width - 3, height - 3)
            if (stage, tick) in busy:
                edge: dict[str, Any] = {"stroke": palette.rank_outline(stage), "stroke_width": 1.4, "rx": 2}
                parts.append(rect(*place, fill=palette.rank_fill(stage), **edge))
            else:
                parts.append(rect(*place, fill="url(#idle-overview)"))
    return drawing(WIDTH, HEIGHT, alt, *parts)


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
        parts.append(text(middle, 66, f"rank {rank}", font_size=16, font_weight=600, **words))
        parts.append(text(middle, 86, held, font_size=13, **words))
    line: dict[str, Any] = {"stroke": palette.text, "stroke_width": 2}
    parts += [path("M102 60h34", **line), path("M134 54l9 6-9 6z", fill=palette.text)]
    parts += [path("M109 80h34", **line), path("M111 74l-9 6 9 6z", fill=palette.text)]
    return drawing(WIDTH, HEIGHT, alt, *parts)


def arrow(palette: Palette) -> str:
    """From one lab to the next."""
    shaft = path("M18 7h32", stroke=palette.muted, stroke_width=1.5)
    head = path("M48 2l8 5-8 5z", fill=palette.muted)
    return drawing(72, 14, "leads to", shaft, head)
