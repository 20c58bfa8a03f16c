"""A program on a clock: it ends when its closed form says, and every part arrives."""

import pytest

from core.catalog import link
from core.collectives.clock import held_after_each_round, timed_rounds
from core.collectives.cost import algorithms_of, collective_cost
from core.collectives.programs import program
from core.errors import OutOfRangeError
from core.steps.straggler import slowed_link, uneven_ring_all_reduce
from tests.each import each

ALL_REDUCES = algorithms_of("all_reduce")


@each("ranks", [2, 4, 8])
@each("algorithm", ALL_REDUCES)
def test_the_last_round_ends_when_the_closed_form_does(algorithm, ranks):
    """At 16 MiB on NVLink 4, its launch paid before the first round."""
    over = link("nvlink-4")
    rounds = timed_rounds(program("all_reduce", algorithm, ranks), 2**24, over)
    cost = collective_cost("all_reduce", algorithm, 2**24, ranks, over)
    assert rounds[-1].end_s == pytest.approx(cost.total_s)
    assert sum(round_.bandwidth_s for round_ in rounds) == pytest.approx(cost.bandwidth_s)


def test_a_round_begins_when_the_one_before_has_arrived():
    rounds = timed_rounds(program("all_reduce", "ring", 4), 8192, link("ethernet-10g-lab"))
    assert [later.start_s for later in rounds[1:]] == pytest.approx([earlier.end_s for earlier in rounds[:-1]])


def test_one_rank_has_no_round():
    assert timed_rounds(program("all_reduce", "ring", 1), 8192, link("nvlink-lab")) == ()


@pytest.mark.parametrize("ranks", [2, 3, 8])
def test_a_slow_port_holds_up_every_round_of_a_ring(ranks):
    """Counted message by message as `uneven_ring_all_reduce` has it in closed form."""
    over = link("ethernet-10g-lab")
    rounds = timed_rounds(program("all_reduce", "ring", ranks), 2**20, over, slow_rank=ranks - 1, slowdown=1.5)
    hops = [*[over] * (ranks - 1), slowed_link(over, 1.5)]
    assert rounds[-1].end_s == pytest.approx(uneven_ring_all_reduce(2**20, hops).total_s)


def test_a_slow_leaf_holds_up_only_its_own_rounds_of_a_tree():
    """Rank 3 of 4 sends in the first round and hears in the last: two of four rounds."""
    over = link("ethernet-10g-lab")
    alike = timed_rounds(program("all_reduce", "binomial_tree", 4), 2**20, over)
    slow = timed_rounds(program("all_reduce", "binomial_tree", 4), 2**20, over, slow_rank=3, slowdown=2.0)
    longer = [b.bandwidth_s / a.bandwidth_s for a, b in zip(alike, slow, strict=True)]
    assert longer == pytest.approx([2, 1, 1, 2])


def test_a_faster_straggler_is_refused():
    with pytest.raises(OutOfRangeError, match="slowdown"):
        timed_rounds(program("all_reduce", "ring", 2), 8192, link("nvlink-lab"), slow_rank=0, slowdown=0.5)


@each("ranks", [2, 4, 8])
@each("algorithm", ALL_REDUCES)
def test_at_the_end_every_rank_holds_every_part_of_every_chunk(algorithm, ranks):
    first, *_, last = held_after_each_round(program("all_reduce", algorithm, ranks))
    assert all(chunk == {rank} for rank, chunks in enumerate(first) for chunk in chunks)
    assert all(chunk == set(range(ranks)) for chunks in last for chunk in chunks)


def test_half_way_round_the_ring_each_rank_has_one_finished_chunk():
    """A reduce-scatter is done after N-1 rounds: rank r holds the sum of chunk r, and no other."""
    held = held_after_each_round(program("all_reduce", "ring", 4))[3]
    finished = [[len(chunk) == 4 for chunk in chunks] for chunks in held]
    assert finished == [[rank == chunk for chunk in range(4)] for rank in range(4)]


def test_an_all_to_all_adds_nothing_up():
    with pytest.raises(OutOfRangeError, match="not a reduction"):
        held_after_each_round(program("all_to_all", "pairwise", 4))
