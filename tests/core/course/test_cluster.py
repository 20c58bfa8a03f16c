"""A ring passed by hand: in any order numpy's sum in 2(N-1) rounds, nobody stuck; α and β out of its rounds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.collectives.programs import ring_all_reduce, run
from core.course.cluster.by_hand import RingByHand
from core.course.cluster.standing import fit_rounds
from core.errors import OutOfRangeError

SECONDS = st.floats(0.1, 30)


@st.composite
def rings(draw):
    """Some ranks, each with whole numbers for as many chunks, which add up without rounding."""
    ranks, width = draw(st.integers(2, 7)), draw(st.sampled_from([1, 2, 4]))
    number = st.integers(-99, 99)
    rows = st.lists(st.lists(number, min_size=width, max_size=width), min_size=ranks, max_size=ranks)
    return [np.array(draw(rows), dtype=float) for _ in range(ranks)]


def can_move(ring):
    return [rank for rank in range(ring.ranks) if ring.move(rank)]


@given(rings(), st.data())
def test_any_order_of_presses_ends_in_the_sum_of_numpy_after_two_rounds_for_each_other_rank(inputs, data):
    """Each next press is anybody's who may: as long as the ring is not done, somebody may."""
    ring, presses = RingByHand(inputs), 0
    while not ring.is_done:
        movers = can_move(ring)
        assert movers
        rank = data.draw(st.sampled_from(movers))
        assert ring.send(rank, ring.sent(rank), float(presses))
        presses += 1
    assert not can_move(ring)
    assert presses == ring.rounds * ring.ranks == 2 * (ring.ranks - 1) * ring.ranks
    for rank in range(ring.ranks):
        assert np.array_equal(ring.numbers(rank), np.add.reduce(inputs))
        assert (ring.parts(rank) == ring.ranks).all()
        assert ring.done(rank) == ring.rounds
    assert ring.agree == ring.ranks
    assert len(ring.rounds_s) == 2 * (ring.ranks - 1)
    assert sum(ring.rounds_s) == presses - 1


@given(rings(), st.data())
def test_a_rank_holds_after_each_of_its_rounds_what_the_rounds_for_all_at_once_give_it(inputs, data):
    """However far others are: core's own program, run round by round, is the second implementation."""
    ring, program = RingByHand(inputs), ring_all_reduce(len(inputs))
    for _ in range(data.draw(st.integers(0, 60))):
        movers = can_move(ring)
        if movers:
            rank = data.draw(st.sampled_from(movers))
            ring.send(rank, ring.sent(rank), 0.0)
    for rank in range(ring.ranks):
        if ring.sent(rank) == ring.done(rank) and ring.move(rank):
            began = type(program)(program.ranks, program.chunks, program.rounds[: ring.done(rank)])
            after = run(began, inputs).buffers[rank]
            received = program.rounds[ring.done(rank)][rank - 1].chunks  # may have come already
            others = [chunk for chunk in range(ring.ranks) if chunk not in received]
            assert np.array_equal(ring.numbers(rank)[others], after[others])


@given(rings(), st.lists(st.tuples(st.integers(0, 6), st.integers(-1, 13)), max_size=80))
def test_a_press_that_is_not_a_ranks_move_changes_nothing(inputs, presses):
    ring = RingByHand(inputs)
    for rank, round_ in presses:
        if rank >= ring.ranks:
            continue
        may = ring.move(rank) is not None and ring.sent(rank) == round_
        before = [ring.numbers(one).copy() for one in range(ring.ranks)]
        sent = [ring.sent(one) for one in range(ring.ranks)]
        assert ring.send(rank, round_, 1.0) == may
        if not may:
            assert [ring.sent(one) for one in range(ring.ranks)] == sent
            assert all(map(np.array_equal, before, map(ring.numbers, range(ring.ranks))))


def test_one_who_waits_holds_up_all_and_no_one_is_more_than_a_ring_ahead():
    """Of four ranks, 2 never sends: 3 sends once and waits, then 0 twice, then 1 three times."""
    ring = RingByHand([np.ones((4, 1))] * 4)
    for _ in range(20):
        for rank in (0, 1, 3):
            ring.send(rank, ring.sent(rank), 0.0)
    assert [ring.sent(rank) for rank in range(4)] == [2, 3, 0, 1]
    assert can_move(ring) == [2]


def test_times_are_from_the_end_of_a_round_to_the_end_of_the_next_and_of_a_rank_while_it_had_the_move():
    """Two ranks, 1 s and 3 s after they could: each round takes 3 s."""
    ring = RingByHand([np.ones((2, 1))] * 2, began_s=100.0)
    for round_ in range(2):
        assert ring.send(0, round_, 101.0 + 3 * round_)
        assert ring.send(1, round_, 103.0 + 3 * round_)
    assert ring.rounds_s == (3.0, 3.0)
    assert ring.took_s.tolist() == [[1, 3], [1, 3]]
    assert ring.is_done


@pytest.mark.parametrize("inputs", [[np.ones((1, 1))], [np.ones((3, 1))] * 2])
def test_a_ring_wants_two_ranks_and_a_chunk_for_each(inputs):
    with pytest.raises(OutOfRangeError):
        RingByHand(inputs)


@given(SECONDS, SECONDS, st.lists(st.sampled_from([1, 2, 4]), max_size=30), st.integers(2, 64))
def test_rounds_that_follow_the_model_give_it_back(alpha_s, s_per_number, sizes, ranks):
    fit = fit_rounds([(n, alpha_s + n * s_per_number) for n in (1, 4, *sizes)])
    assert fit.alpha_s == pytest.approx(alpha_s, rel=1e-6)
    assert fit.s_per_number == pytest.approx(s_per_number, rel=1e-6)
    assert fit.median_relative_error == pytest.approx(0, abs=1e-9)
    assert fit.rounds == 2 + len(sizes)
    one_s = alpha_s + 4 * s_per_number
    assert fit.ring_s(ranks, 4) == pytest.approx(2 * (ranks - 1) * one_s)
    assert fit.ring_s(ranks, 4, wait_s=5) == pytest.approx(2 * (ranks - 1) * (one_s + 5))


def test_one_size_tells_no_two_numbers():
    assert fit_rounds([(4, 3.0)] * 20) is None
    assert fit_rounds([]) is None


def test_a_round_in_which_somebody_was_asleep_moves_nothing():
    """Twelve rounds of 2 and 5 s, and one of a minute."""
    fit = fit_rounds([(1, 2.0)] * 6 + [(4, 5.0)] * 6 + [(4, 60.0)])
    assert (fit.alpha_s, fit.s_per_number) == (pytest.approx(1), pytest.approx(1))


def test_chunks_that_make_no_difference_cost_nothing():
    fit = fit_rounds([(1, 3.0), (4, 3.0), (2, 3.0)])
    assert fit.s_per_number == pytest.approx(0, abs=1e-9)
    assert fit.ring_s(8, 4) == pytest.approx(14 * 3)
