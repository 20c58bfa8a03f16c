"""A straggler under TP, on a ring and in a pipeline: each law against something that was run."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.catalog import link
from core.collectives.cost import ring_all_reduce
from core.collectives.programs import Program
from core.collectives.programs import ring_all_reduce as ring_program
from core.errors import OutOfRangeError
from core.pipeline_bubble.schedules.actions import Placement
from core.pipeline_bubble.schedules.orders import fill_drain
from core.pipeline_bubble.schedules.serving import Pipe, steady_decode
from core.pipeline_bubble.schedules.simulator import Costs, simulate
from core.scenario import Scenario
from core.steps.straggler import Straggler, lockstep, pipeline_rate, slowed_link, uneven_ring_all_reduce

slowdowns = st.integers(0, 900).map(lambda percent: Scenario(slow_percent=percent).slowdown)


def program_time_s(program: Program, hop_times: list[Fraction]) -> Fraction:
    """When the last message has arrived: each leaves when its sender has its last round's and its hop is free.

    An event simulation with no barrier between the rounds. Every rank sends to the next one only.
    """
    free, arrived = [Fraction(0)] * program.ranks, [Fraction(0)] * program.ranks
    for messages in program.rounds:
        ends = {m.source: max(free[m.source], arrived[m.source]) + hop_times[m.source] for m in messages}
        for message in messages:
            assert message.target == (message.source + 1) % program.ranks
            free[message.source] = ends[message.source]
            arrived[message.target] = ends[message.source]
    return max(arrived)


@given(st.integers(2, 9), st.data())
def test_a_ring_run_message_by_message_takes_as_long_as_its_slowest_hop(ranks, data):
    """Whole-number hops, so that equal means equal: α of 1 s and a chunk of n/N = 12 bytes."""
    bandwidths = data.draw(st.lists(st.sampled_from([1, 2, 3, 4, 6, 12]), min_size=ranks, max_size=ranks))
    hops = [replace(link("nvlink-lab"), latency_s=1.0, bandwidth_bytes_per_s=float(beta)) for beta in bandwidths]
    run_s = program_time_s(ring_program(ranks), [1 + Fraction(12, beta) for beta in bandwidths])
    assert uneven_ring_all_reduce(12 * ranks, hops).total_s == run_s


def test_one_port_at_half_its_rate_halves_the_whole_ring():
    """8 GPUs, 1 GiB: seven good hops do not help. Where bytes dominate the ring takes twice the time."""
    good = link("nvlink-lab")
    hops = [good] * 7 + [slowed_link(good, 2)]
    slow, even = uneven_ring_all_reduce(2**30, hops), ring_all_reduce(2**30, 8, good)
    assert slow.bandwidth_s == 2 * even.bandwidth_s
    assert slow.latency_s == even.latency_s


def test_a_ring_of_equal_hops_is_the_ring_and_a_ring_of_one_is_free():
    good = link("nvlink-lab")
    assert uneven_ring_all_reduce(8192, [good] * 4) == ring_all_reduce(8192, 4, good)
    assert uneven_ring_all_reduce(8192, [good]).total_s == 0


@given(st.integers(1, 6), st.integers(1, 6), slowdowns, st.integers(0, 5))
def test_tensor_parallel_ranks_wait_for_the_slowest_at_every_all_reduce(ranks, layers, slowdown, comm):
    """Run layer by layer with a barrier in each: the step is the slowest rank's compute and the communication."""
    share = Straggler(ranks - 1, slowdown).slow([Fraction(1)] * ranks)
    clock = Fraction(0)
    for _ in range(layers):
        clock = max(clock + own for own in share) + comm
    found = lockstep([layers * own for own in share], layers * comm)
    assert found.step == clock
    assert found.waits == (layers * (slowdown - 1),) * (ranks - 1) + (0,)


def test_alone_there_is_nobody_to_wait_for():
    assert lockstep(Straggler(0, Fraction(3, 2)).slow([8]), 0) == lockstep([12], 0)
    assert lockstep([12], 0).waits == (0,)


@given(st.integers(1, 8), st.integers(1, 30), slowdowns, st.data())
def test_a_pipe_follows_its_slowest_stage_as_the_simulator_runs_it(stages, microbatches, slowdown, data):
    """A further microbatch costs 1 / rate, wherever the slow stage stands."""
    slow = Straggler(data.draw(st.integers(0, stages - 1)), slowdown)
    times = tuple(Fraction(time) for time in slow.slow([1] * stages))

    def makespan(m):
        return simulate(fill_drain(stages, m), Placement(stages), Costs(stage_times=times)).makespan

    assert makespan(microbatches + 1) - makespan(microbatches) == 1 / pipeline_rate(times)
    assert makespan(microbatches) == sum(times) + (microbatches - 1) * max(times)
    full = steady_decode(Pipe(times), 10 * stages)
    assert full.items_per_time == pipeline_rate(times)


def test_a_slow_stage_costs_a_full_pipe_everything_and_a_single_sequence_its_own_share():
    """Eight stages, one at twice the time: half the throughput, but only 9/8 of the way through."""
    times = Straggler(3, 2).slow([1] * 8)
    assert pipeline_rate(times) == Fraction(1, 2)
    assert Fraction(sum(times), 8) == Fraction(9, 8)


@pytest.mark.parametrize(("rank", "slowdown"), [(0, Fraction(1, 2)), (-1, 2), (0, float("nan"))])
def test_a_straggler_is_a_rank_that_is_not_faster(rank, slowdown):
    with pytest.raises(OutOfRangeError):
        Straggler(rank, slowdown)


def test_a_rank_that_is_not_there_cannot_be_slow():
    with pytest.raises(OutOfRangeError, match="rank=4 must be below 4"):
        Straggler(4, 2).slow([1] * 4)
