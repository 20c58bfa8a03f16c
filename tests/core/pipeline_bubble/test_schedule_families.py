"""The schedules of training: valid for all sizes, and as long as their papers say."""

from fractions import Fraction
from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import OutOfRangeError, UnknownNameError
from core.pipeline_bubble.schedules.families import FAMILIES, family, run_same_model
from core.pipeline_bubble.schedules.orders import interleaved_1f1b
from core.pipeline_bubble.schedules.report import held_over_time, report
from core.pipeline_bubble.schedules.simulator import Costs, programs, simulate
from core.pipeline_bubble.schedules.validity import is_valid

TIMES = st.integers(1, 5)


def run(key, stages, microbatches, chunks=1, costs=None):
    schedule = family(key)
    return simulate(schedule.actions(stages, microbatches, chunks), schedule.placement(stages, chunks), costs)


def accepted(key):
    """Sizes a schedule takes: p to 5, m to 12, v to 3."""
    for p, m, v in product((1, 2, 3, 4, 5), range(1, 13), (1, 2, 3)):
        try:
            family(key).actions(p, m, v)
        except OutOfRangeError:
            continue
        yield p, m, v


PYTORCHS = {
    "interleaved_1f1b": (
        "0F0 0F1 2F0 2F1 0F2 2B0 0F3 2B1 2F2 0B0 2F3 0B1 2B2 2B3 0B2 0B3",
        "1F0 1F1 3F0 3B0 3F1 3B1 1F2 1B0 1F3 1B1 3F2 3B2 3F3 3B3 1B2 1B3",
    ),
    "zbv": (
        "0F0 0F1 0F2 3F0 3I0 3W0 3F1 3I1 3W1 0F3 0I0 0W0 3F2 3I2 3W2 0I1 0W1 3F3 3I3 3W3 0I2 0W2 0I3 0W3",
        "1F0 2F0 1F1 2F1 2I0 2W0 1F2 1I0 1W0 2F2 2I1 2W1 1F3 1I1 1W1 2F3 2I2 2W2 1I2 2I3 1I3 1W2 2W3 1W3",
    ),
    "dualpipe_v": (
        "0F0 0F1 0F2 3F0 3I0 3W0 3F1 0F3 3B1 3F2 0B0 3B2 3F3 0B1 3B3 0I2 0W2 0I3 0W3",
        "1F0 2F0 1F1 2F1 1F2 2B0 2F2 1B0 1F3 2B1 2F3 1B1 2B2 1B2 2I3 1I3 2W3 1W3",
    ),
}
"""torch 2.13's own orders over two ranks, four microbatches and two chunks, as its schedules print them."""


@pytest.mark.parametrize("key", PYTORCHS)
def test_an_order_is_pytorchs_action_by_action(key):
    """Every size is held to torch itself in tests/distributed."""
    schedule = family(key)
    ours = programs(schedule.actions(2, 4, 2), schedule.placement(2, 2))
    assert tuple(" ".join(map(str, program)) for program in ours) == PYTORCHS[key]


@pytest.mark.parametrize("key", FAMILIES)
def test_every_schedule_is_valid_at_every_size_it_accepts(key):
    """Each action once, inputs first, one at a time; and nothing waits for ever."""
    sizes = list(accepted(key))
    assert len(sizes) > 20
    for p, m, v in sizes:
        timeline = run(key, p, m, v)
        assert not timeline.waiting, (p, m, v)
        assert is_valid(timeline, timeline.placement.stages, m), (p, m, v)


@given(p=st.integers(1, 6), m=st.integers(1, 14), forward=TIMES, inputs=TIMES, weight=TIMES)
def test_gpipe_and_1f1b_have_one_makespan_and_differ_in_what_they_hold(p, m, forward, inputs, weight):
    """(m + p - 1)(F + B) for both; GPipe holds m activations, 1F1B min(m, p - r)."""
    costs = Costs(forward, inputs, weight)
    by_key = {key: report(run(key, p, m, costs=costs)) for key in ("gpipe", "1f1b")}
    for found in by_key.values():
        assert found.makespan == (m + p - 1) * (forward + inputs + weight)
        assert found.bubble_fraction == Fraction(p - 1, m + p - 1)
        assert found.overhead == Fraction(p - 1, m)
    assert [rank.peak_activations for rank in by_key["gpipe"].ranks] == [m] * p
    assert [rank.peak_activations for rank in by_key["1f1b"].ranks] == [min(m, p - r) for r in range(p)]


@given(p=st.integers(1, 5), rounds=st.integers(1, 4), v=st.integers(1, 4), forward=TIMES, backward=TIMES)
def test_interleaving_divides_the_bubble_by_the_chunks(p, rounds, v, forward, backward):
    """m v (f + b) + (p - 1)(f + b) when m is a multiple of p, with f and b a chunk's times."""
    m = p * rounds
    found = report(run("interleaved_1f1b", p, m, v, Costs(forward, backward, 0)))
    assert found.makespan == (m * v + p - 1) * (forward + backward)


@given(p=st.integers(2, 6), extra=st.integers(0, 8))
def test_zb_h1_fills_part_of_the_bubble_with_the_weights_halves(p, extra):
    """m ≥ p, F = I = W: the bubble is (p - 1)(F + I - W), a third of 1F1B's; no more is held than 1F1B holds."""
    found = report(run("zb_h1", p, p + extra))
    assert found.makespan == 3 * (p + extra) + (p - 1)
    assert max(rank.peak_activations for rank in found.ranks) == p


@given(p=st.integers(2, 6), extra=st.integers(0, 6))
def test_zbv_is_free_of_bubbles_on_each_ranks_own_clock_alone(p, extra):
    """F = I = W, m ≥ 2p: (p - 1)/(6m + p - 1) by the global clock, nothing between a rank's own first and last."""
    m = 2 * p + extra
    found = report(run("zbv", p, m))
    assert found.bubble_fraction == Fraction(p - 1, 6 * m + p - 1)
    assert found.own_bubble_fraction == 0


def test_zbv_with_few_microbatches_has_a_bubble_of_a_fifth():
    """p = 4, m = 4: 20 % by the global clock, not the 11 % that (p - 1)/(6m + p - 1) would give."""
    assert report(run("zbv", 4, 4)).bubble_fraction == Fraction(1, 5)


def test_a_v_is_folded_so_that_rank_0_has_the_first_stage_and_the_last():
    stages = {span.rank: set() for span in run("zbv", 4, 8)}
    for span in run("zbv", 4, 8):
        stages[span.rank].add(span.action.stage)
    assert stages == {0: {0, 7}, 1: {1, 6}, 2: {2, 5}, 3: {3, 4}}


def test_a_deadlock_has_no_report():
    turned = list(reversed(family("gpipe").actions(2, 2)))
    with pytest.raises(OutOfRangeError, match="will never run"):
        report(simulate(turned, family("gpipe").placement(2)))


@pytest.mark.parametrize(
    ("key", "sizes", "name"),
    [
        ("zb_h1", (4, 9, 2), "microbatches"),
        ("interleaved_1f1b", (4, 9, 2), "microbatches"),
        ("zbv", (4, 8, 3), "chunks"),
        ("dualpipe_v", (4, 7, 2), "microbatches"),
        ("gpipe", (0, 8, 1), "stages"),
    ],
)
def test_sizes_a_schedule_cannot_have_are_refused(key, sizes, name):
    with pytest.raises(OutOfRangeError, match=f"{name}="):
        family(key).actions(*sizes)


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(UnknownNameError, match="zb_h1"):
        family("zb_h2")


@pytest.mark.parametrize("key", [key for key in FAMILIES if key != "fill_drain"])
def test_the_same_model_is_the_same_work_in_every_schedule(key):
    """p = 4, m = 8, F = 1, I = 2, W = 1 a rank: 4 · 8 · 4 = 128 busy, whatever the chunks."""
    assert run_same_model(family(key), 4, 8, 2, Costs(1, 2, 1)).busy == 128


@pytest.mark.parametrize("key", ["1f1b", "interleaved_1f1b"])
def test_a_rank_holds_one_chunk_unless_more_are_asked_for(key):
    """The number of chunks left out, and given as 1, are the same actions and the same run."""
    assert family(key).actions(3, 6) == family(key).actions(3, 6, 1)
    assert interleaved_1f1b(3, 6) == interleaved_1f1b(3, 6, 1)
    assert run_same_model(family(key), 3, 6) == run_same_model(family(key), 3, 6, 1)


def test_finer_chunks_make_a_smaller_bubble_on_the_same_model():
    """(p - 1)(F + B)/v: 9, 4.5 and 3 idle on each rank at p = 4, F + B = 3, v = 1, 2 and 3."""
    found = [run_same_model(family("interleaved_1f1b"), 4, 8, v) for v in (1, 2, 3)]
    assert [timeline.makespan - 24 for timeline in found] == [9, Fraction(9, 2), 3]


def test_a_slow_rank_is_slow_in_all_its_chunks():
    """One rank of two at twice the time: 2 · 3 · 4 microbatches of its work bound the run from below."""
    costs = Costs(stage_times=(1, 2), link_delays=(0,))
    timeline = run_same_model(family("interleaved_1f1b"), 2, 4, 2, costs)
    assert timeline.makespan >= 2 * 3 * 4
    assert timeline.busy == 3 * 4 * (1 + 2)


@pytest.mark.parametrize(
    ("one", "several", "chunks"),
    [
        ("1f1b", "interleaved_1f1b", 2),
        ("zb_h1", "interleaved_zero_bubble", 2),
        ("zb_h1", "interleaved_zero_bubble", 1),
    ],
)
def test_a_schedule_over_chunks_is_its_interleaved_form(one, several, chunks):
    """So that every schedule takes any number of chunks; over one, ZB-H1 is what is left of it."""
    assert FAMILIES[one].actions(4, 8, chunks) == FAMILIES[several].actions(4, 8, chunks)
    assert is_valid(run(one, 4, 8, chunks), 4 * chunks, 8)


@pytest.mark.parametrize("key", FAMILIES)
@given(p=st.integers(1, 5), rounds=st.integers(2, 3), costs=st.sampled_from([Costs(), Costs(2, 3, 1)]))
def test_what_a_rank_holds_over_time_peaks_where_its_program_does_and_ends_at_nothing(key, p, rounds, costs):
    timeline = run(key, p, rounds * p, 2, costs)
    peaks = [rank.peak_activations for rank in report(timeline).ranks]
    held = held_over_time(timeline)
    assert [max(step.activations for step in steps) for steps in held] == peaks
    assert all(steps[-1].activations == 0 for steps in held)
    assert all(after.start > before.start for steps in held for before, after in pairwise(steps))
