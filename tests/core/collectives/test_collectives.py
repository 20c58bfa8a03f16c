"""Collectives: their closed forms against numbers worked by hand, their laws, their edges."""

import pytest

from core.catalog import link
from core.collectives.across import hierarchical_all_reduce
from core.collectives.cost import (
    ALGORITHMS,
    collective_cost,
    one_shot_all_reduce,
    rabenseifner_all_reduce,
    recursive_doubling_all_reduce,
    ring_all_gather,
    ring_all_reduce,
    ring_reduce_scatter,
    two_shot_all_reduce,
)
from core.errors import OutOfRangeError, UnknownNameError
from core.specs import LinkSpec
from tests.each import each

UNIT = LinkSpec(key="unit", name="unit", latency_s=1.0, bandwidth_bytes_per_s=1.0)
"""One second a step and one second a byte: latency_s counts steps, bandwidth_s bytes."""

EIGHT_RANKS = {
    ("all_reduce", "ring"): (14, 1.75),
    ("all_reduce", "recursive_doubling"): (3, 3.0),
    ("all_reduce", "rabenseifner"): (6, 1.75),
    ("all_reduce", "binomial_tree"): (6, 6.0),
    ("all_reduce", "one_shot"): (1, 7.0),
    ("all_reduce", "two_shot"): (2, 1.75),
    ("all_reduce", "in_switch"): (1, 1.0),
    ("reduce_scatter", "ring"): (7, 0.875),
    ("all_gather", "ring"): (7, 0.875),
    ("all_to_all", "direct"): (1, 0.875),
    ("all_to_all", "pairwise"): (7, 0.875),
}
"""Steps, and payloads through one port, of every algorithm over eight ranks."""


@pytest.mark.parametrize(("op", "algorithm"), ALGORITHMS)
def test_eight_ranks_take_the_steps_and_bytes_worked_by_hand(op, algorithm):
    cost = collective_cost(op, algorithm, 1024, 8, UNIT)
    steps, payloads = EIGHT_RANKS[op, algorithm]
    assert (cost.steps, cost.traffic_bytes) == (steps, payloads * 1024)
    assert (cost.latency_s, cost.bandwidth_s) == (steps, payloads * 1024)


@pytest.mark.parametrize(("op", "algorithm"), ALGORITHMS)
def test_one_rank_costs_nothing_not_even_a_launch(op, algorithm):
    cost = collective_cost(op, algorithm, 1024, 1, LinkSpec("l", "l", 1.0, 1.0, base_s=5.0))
    assert (cost.steps, cost.traffic_bytes, cost.total_s) == (0, 0, 0)


@pytest.mark.parametrize(("op", "algorithm"), ALGORITHMS)
def test_the_launch_is_paid_once_whatever_the_ranks(op, algorithm):
    cost = collective_cost(op, algorithm, 1024, 8, LinkSpec("l", "l", 0.0, 1e30, base_s=5.0))
    assert cost.total_s == pytest.approx(5.0)


@each(("op", "algorithm"), ALGORITHMS)
@each("ranks", [0, -2])
def test_no_ranks_are_refused(op, algorithm, ranks):
    with pytest.raises(OutOfRangeError, match=f"ranks={ranks}"):
        collective_cost(op, algorithm, 1024, ranks, UNIT)


@each("ranks", range(1, 18))
def test_a_ring_all_reduce_is_a_reduce_scatter_and_an_all_gather(ranks):
    """Sequence parallelism changes neither bytes nor steps."""
    whole = ring_all_reduce(720720, ranks, UNIT)
    halves = ring_reduce_scatter(720720, ranks, UNIT), ring_all_gather(720720, ranks, UNIT)
    assert whole.steps == sum(half.steps for half in halves)
    assert whole.traffic_bytes == sum(half.traffic_bytes for half in halves)


@pytest.mark.parametrize(("ranks", "steps"), [(2, 1), (3, 3), (5, 4), (6, 4), (7, 4), (8, 3), (9, 5), (16, 4)])
def test_surplus_ranks_cost_recursive_doubling_two_more_steps(ranks, steps):
    assert recursive_doubling_all_reduce(1024, ranks, UNIT).steps == steps


@pytest.mark.parametrize("ranks", [3, 6, 12])
def test_rabenseifner_is_refused_where_halving_leaves_a_rest(ranks):
    with pytest.raises(OutOfRangeError, match="power of two"):
        rabenseifner_all_reduce(1024, ranks, UNIT)


@pytest.mark.parametrize(
    ("op", "algorithm"),
    [("all_to_all", "ring"), ("all_reduce", "pairwise"), ("all_gather", "rabenseifner"), ("all_reduce", "magic")],
)
def test_an_algorithm_of_another_collective_is_refused(op, algorithm):
    with pytest.raises(UnknownNameError, match=algorithm):
        collective_cost(op, algorithm, 1024, 8, UNIT)


def test_an_unknown_collective_is_refused():
    with pytest.raises(UnknownNameError, match="all_reduce, reduce_scatter, all_gather, all_to_all"):
        collective_cost("scan", "ring", 1024, 8, UNIT)


@pytest.mark.parametrize(("ranks", "crossing_bytes"), [(4, 600_000), (8, 171_429)])
def test_one_shot_beats_two_shot_below_the_published_switch_sizes(ranks, crossing_bytes):
    """α = 2 µs, 450 GB/s: n* = α·β·N / ((N-1)(N-2)) is 600 KB for 4 GPUs and 171 KB for 8.

    vLLM switches at 512 KiB and 256 KiB.
    """
    over = LinkSpec("h100", "h100", latency_s=2e-6, bandwidth_bytes_per_s=450e9)

    def one_shot_gains(payload_bytes):
        two_shot = two_shot_all_reduce(payload_bytes, ranks, over).total_s
        return two_shot - one_shot_all_reduce(payload_bytes, ranks, over).total_s

    assert one_shot_gains(0.99 * crossing_bytes) > 0 > one_shot_gains(1.01 * crossing_bytes)


def test_two_ranks_make_one_shot_and_two_shot_send_the_same():
    assert one_shot_all_reduce(1024, 2, UNIT).traffic_bytes == two_shot_all_reduce(1024, 2, UNIT).traffic_bytes


def test_hierarchy_keeps_the_slow_link_to_a_part_of_the_payload():
    """2 nodes of 8: inside 14 hops and 2·7/8 n; across 2 hops and 2·(1/2)·n/8 a GPU."""
    cost = hierarchical_all_reduce(4096, 8, 2, UNIT, UNIT)
    assert (cost.inside.steps, cost.inside.traffic_bytes) == (14, 7168)
    assert (cost.network.steps, cost.network.traffic_bytes) == (2, 512)


def test_a_nodes_link_is_shared_by_its_gpus():
    """Eight GPUs, each with n/8 for the other node, over one NIC: as long as one GPU with all of n."""
    one_nic = link("ethernet-10g-lab")
    cost = hierarchical_all_reduce(1 << 20, 8, 2, link("nvlink-lab"), one_nic)
    assert cost.network.bandwidth_s == pytest.approx(ring_all_reduce(1 << 20, 2, one_nic).bandwidth_s)


@pytest.mark.parametrize(("gpus", "nodes"), [(8, 1), (1, 8)])
def test_hierarchy_of_one_level_is_the_flat_ring(gpus, nodes):
    over = LinkSpec("w", "w", 1.0, 1.0, base_s=3.0)
    assert hierarchical_all_reduce(4096, gpus, nodes, over, over).total_s == ring_all_reduce(4096, 8, over).total_s
