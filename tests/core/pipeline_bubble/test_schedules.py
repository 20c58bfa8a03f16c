"""The simulator and the predicate that every schedule shares."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import OutOfRangeError
from core.pipeline_bubble.bubble import fill_drain
from core.pipeline_bubble.schedules.actions import Action, Placement, Span, exact
from core.pipeline_bubble.schedules.grid import common_ticks, tick_grid
from core.pipeline_bubble.schedules.simulator import Costs, simulate
from core.pipeline_bubble.schedules.validity import is_valid, violations

times = st.fractions(Fraction(1, 4), 9, max_denominator=4)


def gpipe_by_hand(stages, microbatches):
    """All forwards, then all backwards, on every stage."""
    return [
        Action(stage, kind, microbatch)
        for stage in range(stages)
        for kind in ("F", "B")
        for microbatch in range(microbatches)
    ]


def test_an_action_prints_as_pytorch_prints_it():
    assert str(Action(2, "F", 0)) == "2F0"


@given(stage_times=st.lists(times, min_size=1, max_size=6), microbatches=st.integers(1, 9), data=st.data())
def test_fill_drain_takes_all_stages_and_links_once_and_the_slowest_stage_m_times(stage_times, microbatches, data):
    """Σt + Σl + (m - 1)·max t, for any stage times and link delays, exactly."""
    stages = len(stage_times)
    delays = data.draw(st.lists(times, min_size=stages - 1, max_size=stages - 1))
    costs = Costs(stage_times=tuple(stage_times), link_delays=tuple(delays))
    timeline = simulate(fill_drain(stages, microbatches), Placement(stages), costs)
    assert timeline.makespan == sum(stage_times) + sum(delays) + (microbatches - 1) * max(stage_times)


def test_a_blocking_send_adds_to_every_step_of_its_stage():
    """max(t + l) rules: stage 0 computes 1 and sends 2, so the last microbatch leaves it at 3·4 and ends at 13."""
    costs = Costs(link_delays=(2,), send="blocking")
    assert simulate(fill_drain(2, 4), Placement(2), costs).makespan == 4 * 3 + 1


def test_a_serial_link_queues_messages():
    """Messages leave stage 0 at 1, 2, 3, 4 and each takes 2 on the link: the last arrives at 9, ends at 10."""
    costs = Costs(link_delays=(2,), send="serial")
    assert simulate(fill_drain(2, 4), Placement(2), costs).makespan == 1 + 4 * 2 + 1


def test_sending_is_not_busy_time():
    costs = Costs(link_delays=(5, 5), send="blocking")
    assert simulate(fill_drain(3, 4), Placement(3), costs).busy == 12


def test_a_full_backward_waits_for_the_gradient_of_the_stage_after():
    """GPipe, p = 2, m = 2, F = 1, B = 2: (m + p - 1)(F + B) = 9."""
    timeline = simulate(gpipe_by_hand(2, 2), Placement(2))
    assert timeline.makespan == 9
    assert is_valid(timeline, 2, 2)


def test_a_schedule_that_waits_for_itself_is_reported_and_not_hung():
    """Stage 0 wants its backward before its second forward, stage 1 both forwards before any backward."""
    zero = [Action(0, "F", 0), Action(0, "B", 0), Action(0, "F", 1), Action(0, "B", 1)]
    one = [Action(1, "F", 0), Action(1, "F", 1), Action(1, "B", 0), Action(1, "B", 1)]
    timeline = simulate(zero + one, Placement(2))
    assert [str(action) for action in timeline.actions] == ["0F0", "1F0"]
    assert [str(action) for action in timeline.waiting] == ["0B0", "1F1"]


def test_an_action_on_a_stage_that_nobody_holds_is_refused():
    with pytest.raises(OutOfRangeError, match="stage=2"):
        simulate([Action(2, "F", 0)], Placement(2))
    with pytest.raises(OutOfRangeError, match="microbatch=-1"):
        simulate([Action(0, "F", -1)], Placement(2))


def test_hops_between_chunks_of_one_rank_are_free():
    """A V folds stages 1 and 2 of two ranks onto rank 1, so only the outer two of three boundaries cost."""
    costs = Costs(link_delays=(10, 10, 10))
    forward = [Action(stage, "F", 0) for stage in range(4)]
    assert simulate(forward, Placement(2, chunks=2, shape="v"), costs).makespan == 4 + 2 * 10
    assert simulate(forward, Placement(2, chunks=2), costs).makespan == 4 + 3 * 10


def valid_run():
    return list(simulate(gpipe_by_hand(3, 4), Placement(3)))


def moved(spans, name, start, end):
    return [replace(span, start=start, end=end) if str(span.action) == name else span for span in spans]


@pytest.mark.parametrize(
    ("spoil", "rule"),
    [
        pytest.param(lambda run: run[1:], "times", id="an action is missing"),
        pytest.param(lambda run: [*run, replace(run[0], start=90, end=91)], "times", id="an action runs twice"),
        pytest.param(
            lambda run: [*run, Span(Action(0, "F", 4), 0, 90, 91)], "stranger", id="a microbatch too many"
        ),
        pytest.param(
            lambda run: [*run, Span(Action(0, "I", 0), 0, 90, 91)], "back", id="backward whole and halved"
        ),
        pytest.param(lambda run: [s for s in run if str(s.action) != "0B3"], "back", id="no backward"),
        pytest.param(lambda run: moved(run, "2F0", 0, 1), "early", id="a stage starts before its input"),
        pytest.param(lambda run: moved(run, "0B3", 0, 1), "early", id="a gradient before its time"),
        pytest.param(lambda run: moved(run, "2F3", 4, 5), "overlap", id="two at a time"),
    ],
)
def test_the_predicate_names_the_broken_rule(spoil, rule):
    assert is_valid(valid_run(), 3, 4)
    assert rule in {violation.rule for violation in violations(spoil(valid_run()), 3, 4)}


def test_cells_tell_kind_and_chunk_and_idle_is_minus_one():
    """4096·chunk + 1024·kind + microbatch; a backward of two ticks fills two cells."""
    grid = tick_grid(simulate(gpipe_by_hand(2, 1), Placement(2)), 2)
    assert np.array_equal(grid, [[0, -1, -1, -1, 1024, 1024], [-1, 0, 1024, 1024, -1, -1]])
    assert tick_grid([Span(Action(3, "W", 5), 1, 0, 1)], 2)[1, 0] == 4096 + 3 * 1024 + 5
    assert tick_grid([Span(Action(15, "W", 1023), 1, 0, 1)], 2)[1, 0] == np.iinfo(np.int16).max


def test_a_grid_takes_as_many_ticks_a_unit_as_its_times_need():
    costs = Costs(stage_times=(Fraction(1, 2), Fraction(1, 3)))
    timeline = simulate(fill_drain(2, 1), Placement(2), costs)
    assert common_ticks(timeline) == 6
    assert np.array_equal(tick_grid(timeline, 2, ticks_per_unit=6), [[0, 0, 0, -1, -1], [-1, -1, -1, 0, 0]])
    with pytest.raises(OutOfRangeError, match="time=1/2"):
        tick_grid(timeline, 2)


@pytest.mark.parametrize("span", [Span(Action(0, "F", 1024), 0, 0, 1), Span(Action(16, "F", 0), 0, 0, 1)])
def test_what_int16_cannot_hold_is_refused(span):
    with pytest.raises(OutOfRangeError, match="to be drawn"):
        tick_grid([span], 2)


@pytest.mark.parametrize(
    ("written", "meant"),
    [(0.1, Fraction(1, 10)), ("1e-3", Fraction(1, 1000)), (3, Fraction(3)), ("2/6", Fraction(1, 3))],
)
def test_numbers_are_read_as_they_are_written(written, meant):
    assert exact("budget", written) == meant
