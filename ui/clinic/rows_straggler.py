"""One slow rank, and the slowest of many that are each a little late: what their figures draw."""

from collections.abc import Iterable
from dataclasses import replace

from core.clinic import SEED, three_waits
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
SIZES, STEPS = (1, 2, 4, 8, 16, 32, 64), 4000


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
            name: Row(parts=tuple(rows.bar_parts(one)), ends=tuple(rows.bar_ends(one)), unit=rows.unit_of(one))
            for name, one in bars.items()
        },
        lines=_named(three_waits.response_lines(knob)),
        here=_named(three_waits.responses(knob, knob.scenario.slow_percent)),
    )


def _named(responses: Iterable[three_waits.Response]) -> tuple[three_waits.Response, ...]:
    """Each kind of work in words."""
    return tuple(replace(row, kind=rows.bar_name(row.kind)) for row in responses)
