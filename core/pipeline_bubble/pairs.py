"""Two schedules on one clock, with all that is said of them and none of their thousands of spans."""

from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from core.pipeline_bubble.experiments import Comparison, Side
from core.pipeline_bubble.schedules.grid import Grid as Cells
from core.pipeline_bubble.schedules.grid import common_ticks, tick_grid
from core.pipeline_bubble.schedules.report import Report, held_over_time
from core.pipeline_bubble.schedules.simulator import Timeline


def shared_ticks(*timelines: Timeline) -> int:
    """The fewest ticks a unit on which all of them can be drawn."""
    return lcm(*(common_ticks(timeline) for timeline in timelines))


@dataclass(frozen=True)
class Drawn:
    """One of two schedules with all that is said and drawn of it, and none of its thousands of spans.

    `cells` are (ranks, ticks); `levels` are (tick, microbatches held from then on) by rank; `path` is what the run
    waited for, as (rank, start, end) in ticks.
    """

    name: str
    report: Report
    held: tuple[Fraction, ...]
    most_held: Fraction
    ticks: int
    cells: Cells
    levels: tuple[tuple[tuple[int, float], ...], ...]
    path: tuple[tuple[int, int, int], ...]


def drawn(side: Side, ticks: int, with_path: bool) -> Drawn:
    """A schedule, `ticks` to a unit of time."""
    timeline, chunks = side.timeline, side.timeline.placement.chunks
    return Drawn(
        side.name,
        side.report,
        tuple(side.held),
        side.most_held,
        ticks,
        tick_grid(timeline, timeline.placement.ranks, ticks_per_unit=ticks),
        tuple(
            tuple((int(step.start * ticks), step.activations / chunks) for step in steps)
            for steps in held_over_time(timeline)
        ),
        tuple(
            (span.rank, int(span.start * ticks), int(span.end * ticks))
            for span in (side.longest_chain() if with_path else ())
        ),
    )


def pair(versus: Comparison, with_path: bool) -> tuple[Drawn, Drawn]:
    """Two schedules on one clock: up to a second of work, for 16 stages of 64 microbatches in 4 chunks.

    Raises OutOfRangeError for sizes that one of them cannot have.
    """
    first, second = versus.side(versus.first), versus.side(versus.second)
    ticks = shared_ticks(first.timeline, second.timeline)
    return drawn(first, ticks, with_path), drawn(second, ticks, with_path)
