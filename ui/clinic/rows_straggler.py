"""One slow rank, and the slowest of many that are each a little late: what their figures draw."""

from collections.abc import Mapping
from dataclasses import dataclass

from core.clinic import SEED, three_waits
from core.clinic.case import Bars
from core.steps.jitter import (
    expected_max_exponential,
    expected_max_normal,
    exponential_max_quantile,
    sampled_largest,
)
from runtime.kept import kept
from runtime.prose import named
from runtime.rows import Row, table
from ui.clinic import rows

MEAN, NORMAL, P99, DRAWN = "mean, rare long delays", "mean, many small delays", "99 of 100 steps", "drawn"
SIZES = (1, 2, 4, 8, 16, 32, 64)


def largest_of(steps: int = 4000) -> list[Row]:
    """The extra time of the slowest of N ranks over one rank's mean, by scatter and quantile.

    E[max] of N exponential and normal delays and the 99th percentile, closed; circles are drawn at random.
    """
    return [row for ranks in SIZES for row in _largest(ranks, steps)]


def _largest(ranks: int, steps: int) -> list[Row]:
    drawn = sampled_largest(ranks, 1.0, steps, SEED)
    times = (
        (MEAN, expected_max_exponential(1.0, ranks)),
        (NORMAL, expected_max_normal(1.0, ranks)),
        (P99, exponential_max_quantile(1.0, ranks, 0.99)),
        (DRAWN, drawn.mean_s),
        (DRAWN, drawn.p99_s),
    )
    return table("kind ranks times", ((named("clinic", kind), ranks, one) for kind, one in times))


@dataclass(frozen=True)
class Drawn:
    """Bars as a figure takes them: their terms, their wholes, and the unit of both."""

    parts: tuple[Row, ...]
    ends: tuple[Row, ...]
    unit: str


@dataclass(frozen=True)
class Waits:
    """Who waits for one slow rank in each kind of work, by its name, and by how much the work is longer."""

    bars: Mapping[str, Drawn]
    lines: tuple[three_waits.Response, ...]
    here: tuple[three_waits.Response, ...]


@kept
def waits(knob: three_waits.Knob) -> Waits:
    """All that the scene draws of a scenario's slow rank."""
    bars = {
        "tp": three_waits.tp_bars(knob),
        "ring": three_waits.ring_bars(knob),
        "pipeline": three_waits.pipeline_bars(knob),
    }
    here = three_waits.responses(knob, knob.scenario.slow_percent)
    return Waits(
        {name: _drawn(one) for name, one in bars.items()},
        tuple(rows.named_responses(three_waits.response_lines(knob))),
        tuple(rows.named_responses(here)),
    )


def _drawn(bars: Bars) -> Drawn:
    return Drawn(tuple(rows.bar_parts(bars)), tuple(rows.bar_ends(bars)), rows.unit_of(bars))
