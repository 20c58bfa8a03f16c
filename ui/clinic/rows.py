"""The clinic: what the figures of its cases draw, of one slow rank, and of many that are each a little late."""

import re
from collections.abc import Iterable
from dataclasses import replace

from core.clinic import SEED, three_waits
from core.clinic.case import Bars, Histogram, Lines, Term
from core.steps.jitter import (
    expected_max_exponential,
    expected_max_normal,
    exponential_max_quantile,
    sampled_largest,
)
from core.units import GIB
from runtime.kept import kept
from runtime.prose import named, said
from runtime.quantities import binary_bytes, percent, seconds
from runtime.rows import Row, stacked, table

MEAN, NORMAL, P99, DRAWN = "mean, rare long delays", "mean, many small delays", "99 of 100 steps", "drawn"
SIZES, STEPS = (1, 2, 4, 8, 16, 32, 64), 4000
_NUMBERED = re.compile(r"(rank|stage|hop) (\d.*)")


def bar_name(bar: str) -> str:
    """What a bar or a line is called: core's short name for it, or a kind and its number, in words."""
    numbered = _NUMBERED.fullmatch(bar)
    return said("clinic", f"bar.{numbered[1]}", n=numbered[2]) if numbered else named("clinic", bar)


def unit_of(bars: Bars) -> str:
    """What the axis of these bars counts."""
    return _scale(bars)[1]


def _scale(bars: Bars) -> tuple[float, str]:
    """What an amount is multiplied by, and the unit that gives."""
    if bars.unit == "s":
        longest = max(bars.total(bar) for bar in _places(bars))
        return (1e6, "µs") if longest < 1e-3 else (1e3, "ms")
    return (1 / GIB, "GiB") if bars.unit == "bytes" else (100.0, "%")


def bar_parts(bars: Bars) -> list[Row]:
    """The terms of each bar, one after another from zero."""
    scale, _ = _scale(bars)
    rows = []
    for bar, position in _places(bars).items():
        own = ((segment, scale * segment.amount) for segment in bars.segments if segment.bar == bar)
        for segment, start, end in stacked(own):
            word = _TERM_WORDS[segment.term] and named("clinic", _TERM_WORDS[segment.term])
            text = f"{word} {_amount(bars, segment.amount)}" if word else ""
            rows.append((bar_name(bar), position, segment.term, start, end, text))
    return table("bar position term start end in_words", rows)


def bar_ends(bars: Bars) -> list[Row]:
    scale, _ = _scale(bars)
    return [
        Row(bar=bar_name(bar), position=index, end=scale * bars.total(bar), in_words=_amount(bars, bars.total(bar)))
        for bar, index in _places(bars).items()
    ]


_TERM_WORDS: dict[Term, str] = {
    "compute": "compute",
    "waiting": "waits",
    "latency": "latency",
    "bandwidth": "",
    "whole": "",
    "weights": "weights",
    "activations": "peak",
    "outside": "context",
    "kv": "KV cache",
}


def _places(bars: Bars) -> dict[str, int]:
    return {bar: index for index, bar in enumerate(dict.fromkeys(segment.bar for segment in bars.segments))}


def _amount(bars: Bars, amount: float) -> str:
    if bars.unit == "s":
        return seconds(amount)
    return binary_bytes(amount) if bars.unit == "bytes" else percent(amount)


def line_points(lines: Lines) -> list[Row]:
    return [Row(series=bar_name(point.series), x=point.x, y_ms=1e3 * point.y) for point in lines.points]


def histogram_steps(histogram: Histogram) -> list[Row]:
    return [
        Row(series=bar_name(cut.series), low_ms=1e3 * cut.low_s, high_ms=1e3 * cut.high_s, percent=100 * cut.share)
        for cut in histogram.bins
    ]


@kept
def largest_of() -> list[Row]:
    """The extra time of the slowest of N ranks over one rank's mean, by scatter and quantile.

    E[max] of N exponential and normal delays and the 99th percentile, closed; circles are drawn at random.
    """
    return [row for ranks in SIZES for row in _largest(ranks)]


def _largest(ranks: int) -> list[Row]:
    drawn = sampled_largest(ranks, 1.0, STEPS, SEED)
    times = (
        (MEAN, expected_max_exponential(1.0, ranks)),
        (NORMAL, expected_max_normal(1.0, ranks)),
        (P99, exponential_max_quantile(1.0, ranks, 0.99)),
        (DRAWN, drawn.mean_s),
        (DRAWN, drawn.p99_s),
    )
    return table("kind ranks times", ((named("clinic", kind), ranks, one) for kind, one in times))


@kept
def waits(knob: three_waits.Knob) -> Row:
    """All that the scene draws of a scenario's slow rank.

    `bars` who waits in each kind of work, by its name; `lines` and `here` by how much the work is longer.
    """
    bars = {
        "tp": three_waits.tp_bars(knob),
        "ring": three_waits.ring_bars(knob),
        "pipeline": three_waits.pipeline_bars(knob),
    }
    return Row(
        bars={
            name: Row(parts=tuple(bar_parts(one)), ends=tuple(bar_ends(one)), unit=unit_of(one))
            for name, one in bars.items()
        },
        lines=_named(three_waits.response_lines(knob)),
        here=_named(three_waits.responses(knob, knob.scenario.slow_percent)),
    )


def _named(responses: Iterable[three_waits.Response]) -> tuple[three_waits.Response, ...]:
    """Each kind of work in words."""
    return tuple(replace(row, kind=bar_name(row.kind)) for row in responses)
