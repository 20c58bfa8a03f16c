"""The critical path: unbroken, from zero to the makespan, on every schedule."""

from fractions import Fraction
from itertools import pairwise

import pytest

from core.pipeline_bubble.bubble import fill_drain
from core.pipeline_bubble.schedules.actions import Placement
from core.pipeline_bubble.schedules.families import FAMILIES, family
from core.pipeline_bubble.schedules.orders import mismatched
from core.pipeline_bubble.schedules.paths import critical_path, waits
from core.pipeline_bubble.schedules.simulator import Costs, simulate
from tests.each import each


@each("key", FAMILIES)
@each("delay", [0, Fraction(1, 2)])
def test_durations_and_hops_on_the_path_add_up_to_the_makespan(key, delay):
    schedule = family(key)
    placement = schedule.placement(4, max(1, schedule.least_chunks))
    costs = Costs(forward=1, backward_input=2, backward_weight=1, link_delays=(delay,) * (placement.stages - 1))
    timeline = simulate(schedule.actions(4, 8, placement.chunks), placement, costs)
    path = critical_path(timeline, costs)
    busy = sum(span.end - span.start for span in path)
    hops = sum(before.rank != after.rank for before, after in pairwise(path))
    assert path[0].start == 0
    assert path[-1].end == timeline.makespan == busy + hops * delay


def test_a_straggler_holds_the_path_for_all_its_microbatches():
    """Stage 1 takes three times as long: the path enters over stage 0, stays, and leaves over stage 2."""
    timeline = simulate(fill_drain(3, 5), Placement(3), Costs(stage_times=(1, 3, 1)))
    path = critical_path(timeline)
    assert [str(span.action) for span in path] == ["0F0", "1F0", "1F1", "1F2", "1F3", "1F4", "2F4"]


def test_nothing_run_has_no_path():
    assert critical_path(simulate([], Placement(2))) == []


@pytest.mark.parametrize("stages", [2, 3, 8])
def test_two_schedules_on_one_pipe_wait_for_each_other(stages):
    """The last rank wants its next forward, every other one a backward: a ring of waits, drawn and not hung."""
    found = waits(simulate(mismatched(stages, 8), Placement(stages)))
    assert [wait.rank for wait in found] == list(range(stages))
    assert str(found[-1].action) == f"{stages - 1}F2"
    assert {wait.action.kind for wait in found[:-1]} == {"B"}
    assert {(wait.missing.stage - wait.rank) for wait in found} == {1, -1}


def test_with_two_microbatches_the_mismatch_goes_unnoticed():
    assert waits(simulate(mismatched(4, 2), Placement(4))) == []
