"""The schedules by name: how each is built, how its stages lie on the ranks, and how many chunks it takes."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from core.errors import UnknownNameError
from core.pipeline_bubble.schedules.actions import Action, Placement
from core.pipeline_bubble.schedules.orders import (
    Schedule,
    fill_drain,
    gpipe,
    interleaved_1f1b,
    interleaved_zero_bubble,
    looped_bfs,
    one_f_one_b,
    zb_h1,
)
from core.pipeline_bubble.schedules.simulator import Costs, Timeline, simulate
from core.pipeline_bubble.schedules.v_orders import dualpipe_v, zbv


@dataclass(frozen=True)
class Family:
    """One schedule: its key, its name in print, its function, and the shape its stages are laid in.

    The chunks are those that make it what it is called: more of them on GPipe would be another schedule, which the
    function builds all the same.
    """

    key: str
    name: str
    build: Schedule
    shape: Literal["loop", "v"] = "loop"
    least_chunks: int = 1
    most_chunks: int = 8

    def placement(self, stages: int, chunks: int = 1) -> Placement:
        """Where its stages lie on `stages` ranks. A V has two chunks, asked for or not."""
        return Placement(stages, 2 if self.shape == "v" else chunks, self.shape)

    def actions(self, stages: int, microbatches: int, chunks: int = 1) -> list[Action]:
        return self.build(stages, microbatches, chunks)

    def usual_chunks(self, wanted: int) -> int:
        """`wanted` as near as the schedule's own name allows."""
        return min(max(wanted, self.least_chunks), self.most_chunks)


def run_same_model(
    schedule: Family, stages: int, microbatches: int, chunks: int = 1, costs: Costs | None = None
) -> Timeline:
    """Run a schedule with `costs` meant for a rank's whole share of the model, divided evenly over its chunks.

    So schedules of different chunks compute the same model. `costs.stage_times` is one a rank, and
    `costs.link_delays` at most one value, for every hop between two ranks.
    """
    placement = schedule.placement(stages, schedule.usual_chunks(chunks))
    timeline_costs = _cut(costs or Costs(), placement)
    return simulate(schedule.actions(stages, microbatches, placement.chunks), placement, timeline_costs)


def _cut(costs: Costs, placement: Placement) -> Costs:
    v = placement.chunks
    times = [costs.stage_times[placement.rank(stage)] for stage in range(placement.stages) if costs.stage_times]
    return Costs(
        Fraction(costs.forward) / v,
        Fraction(costs.backward_input) / v,
        Fraction(costs.backward_weight) / v,
        tuple(Fraction(time) / v for time in times),
        costs.link_delays * (placement.stages - 1),
        costs.send,
    )


_FAMILIES = (
    Family("fill_drain", "fill and drain", fill_drain, most_chunks=1),
    Family("gpipe", "GPipe", gpipe, most_chunks=1),
    Family("1f1b", "1F1B", one_f_one_b, most_chunks=1),
    Family("interleaved_1f1b", "interleaved 1F1B", interleaved_1f1b),
    Family("looped_bfs", "looped BFS", looped_bfs),
    Family("zb_h1", "ZB-H1", zb_h1, most_chunks=1),
    Family("interleaved_zero_bubble", "interleaved zero bubble", interleaved_zero_bubble, least_chunks=2),
    Family("zbv", "ZBV", zbv, shape="v", least_chunks=2, most_chunks=2),
    Family("dualpipe_v", "DualPipeV", dualpipe_v, shape="v", least_chunks=2, most_chunks=2),
)

FAMILIES = {family.key: family for family in _FAMILIES}


def family(key: str) -> Family:
    """The schedule of that name. Raises UnknownNameError, which lists them, for any other."""
    if key not in FAMILIES:
        raise UnknownNameError("schedule", key, FAMILIES)
    return FAMILIES[key]
