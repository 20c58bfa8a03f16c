"""A room that is a ring: who may pass what, what is simulated, what it took, and that a class is never stuck."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.course.cluster.standing import WAIT_S, fit_rounds
from runtime.room_ring import (
    AT_RANDOM,
    GONE_S,
    LARGEST_PART,
    MOST,
    MOST_PRESENT,
    MOST_RUNS,
    SILENT_S,
    SIMULATED_ALPHA_S,
    SIMULATED_S_PER_NUMBER,
    SIZES,
    RoomRing,
)
from runtime.rooms import LIFE_S, MOST_ROOMS, SEEN_S, Question, Rooms, code_of
from tests.runtime.test_rooms import Clock

RING = Question("cluster", "ring", 0.0)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def room(clock):
    return RoomRing(clock, np.random.default_rng(0))


def pass_on(room, who):
    """One press of a phone that shows a chunk to be sent; whether it went."""
    hand = room.here(who)
    return hand is not None and hand.chunk is not None and room.send(who, hand.run, hand.round)


@given(st.data())
def test_any_order_of_presses_looks_and_departures_ends_with_the_same_sum_on_every_rank(data):
    """Some of the ranks are phones, who press, double their presses, fall silent and leave as they like."""
    clock = Clock()
    room = RoomRing(clock, np.random.default_rng(data.draw(st.integers(0, 99))))
    phones = [f"phone {number}" for number in range(data.draw(st.integers(0, 5)))]
    for who in phones:
        room.here(who)
    ranks = data.draw(st.integers(2, 6))
    slow = data.draw(st.sampled_from([None, AT_RANDOM, ranks - 1]))
    assert room.start(ranks, data.draw(st.sampled_from(SIZES)), slow)
    before = room.standing().passed_s
    for _ in range(data.draw(st.integers(0, 40))):
        act = data.draw(st.sampled_from(["press", "press", "leave", "look", "pass for"]))
        who = data.draw(st.sampled_from(phones)) if phones else "nobody"
        clock.now_s += data.draw(st.sampled_from([0.0, 0.4, 3.0, 11.0]))
        if act == "press":
            pass_on(room, who)
        elif act == "leave":
            room.leave(who)
        elif act == "pass for":
            room.pass_for_silent()
        assert room.standing().passed_s >= before
        before = 0.0 if room.standing().is_done else room.standing().passed_s
    steps = 0
    while not room.standing().is_done:
        clock.now_s += SILENT_S
        room.pass_for_silent()
        steps += 1
        assert steps < 200, "stuck"
    standing = room.standing()
    assert standing.agree == ranks
    assert standing.rounds == standing.round == 2 * (ranks - 1)
    (total,) = {rank.total for rank in standing.ranks}
    assert total == sum(map(sum, standing.sums))
    assert all(rank.parts == (ranks,) * ranks for rank in standing.ranks)
    (run,) = room.runs()
    assert len(run.rounds_s) == 2 * (ranks - 1)
    assert min(run.rounds_s) >= 0
    assert run.total_s == pytest.approx(standing.passed_s)


@given(st.integers(2, 8), st.booleans())
def test_simulated_ranks_alone_take_what_the_model_says_and_the_fit_finds_it(ranks, slow):
    """However late somebody looks: each message goes out when it is due."""
    clock = Clock()
    room = RoomRing(clock)
    for numbers in SIZES:
        assert room.start(ranks, numbers)
        clock.now_s += 10_000
        room.standing()
    fit = fit_rounds([(run.numbers, took_s) for run in room.runs() for took_s in run.rounds_s])
    assert fit.alpha_s == pytest.approx(SIMULATED_ALPHA_S)
    assert fit.s_per_number == pytest.approx(SIMULATED_S_PER_NUMBER)
    assert fit.rounds == len(SIZES) * 2 * (ranks - 1)
    room.start(ranks, 4, ranks - 1 if slow else None)
    clock.now_s += 10_000
    last = room.standing() and room.runs()[-1]
    assert last.total_s == pytest.approx(fit.ring_s(ranks, 4, WAIT_S if slow else 0), rel=0.2 if slow else 1e-6)
    assert not slow or last.slowest_rank == ranks - 1


def test_two_phones_pass_by_hand_and_each_sees_what_core_gives_it(clock, room):
    room.here("ada"), room.here("bob")
    assert room.start(2, 1)
    ada, bob = room.here("ada"), room.here("bob")
    assert (ada.rank, bob.rank, ada.rounds, ada.run) == (0, 1, 2, 1)
    assert (ada.chunk, bob.chunk) == (1, 0)  # reduce-scatter ends with rank r's own chunk
    assert all(1 <= chunk[0] <= LARGEST_PART for chunk in (*ada.held, *bob.held))
    assert pass_on(room, "ada")
    assert not pass_on(room, "ada")  # it waits for bob
    assert room.here("ada").chunk is None
    assert not room.send("bob", ada.run, 1)  # not this round
    assert not room.send("bob", ada.run + 1, 0)  # not this ring
    assert not room.send("eve", ada.run, 0)
    assert pass_on(room, "bob")
    after = room.here("ada")
    assert after.held[0][0] == ada.held[0][0] + bob.held[0][0]
    assert (after.came, after.adds, after.chunk, after.parts) == (0, True, 0, (2, 1))
    clock.now_s = 4.0
    assert pass_on(room, "ada")
    assert pass_on(room, "bob")
    assert room.here("ada").held == room.here("bob").held == room.standing().sums
    assert room.runs()[0].rounds_s == (0.0, 4.0)


def test_one_who_is_told_to_be_slow_waits_and_everybody_with_it(clock, room):
    room.here("ada"), room.here("bob"), room.here("eve")
    room.start(3, 1, 1)
    assert room.here("bob").wait_s == WAIT_S
    assert pass_on(room, "ada")
    assert pass_on(room, "eve")
    clock.now_s = WAIT_S - 0.1
    assert not pass_on(room, "bob")
    assert room.standing().movers == (1,)
    clock.now_s = WAIT_S
    assert pass_on(room, "bob")


def test_at_random_it_is_a_phones_rank_where_there_is_one(room):
    for who in ("ada", "bob"):
        room.here(who)
    chosen = set()
    for _ in range(20):
        room.start(8, 1, AT_RANDOM)
        chosen.add(room.standing().slow_rank)
        room.stop()
    assert chosen == {0, 1}


def test_a_phone_that_fell_silent_is_passed_for_from_now_on_and_its_time_is_what_it_was(clock, room):
    room.here("ada"), room.here("bob")
    room.start(2, 1)
    pass_on(room, "ada")
    clock.now_s = SILENT_S - 1
    room.here("ada")
    assert not room.standing().ranks[1].is_silent
    clock.now_s = SILENT_S + 1
    room.here("ada")
    assert [rank.is_silent for rank in room.standing().ranks] == [False, True]
    room.pass_for_silent()
    standing = room.standing()
    assert [rank.is_simulated for rank in standing.ranks] == [False, True]
    assert standing.ranks[1].done == 0
    clock.now_s += SIMULATED_ALPHA_S + SIMULATED_S_PER_NUMBER
    assert pass_on(room, "ada")
    assert room.here("bob") is None  # it watches, until the next ring
    clock.now_s += 60
    room.here("ada"), room.here("bob")
    assert room.standing().is_done
    assert room.runs()[0].rounds_s[0] == pytest.approx(SILENT_S + 1 + SIMULATED_ALPHA_S + SIMULATED_S_PER_NUMBER)
    room.start(2, 1)
    assert room.here("bob").rank == 1


def test_who_comes_late_or_is_one_too_many_watches(room):
    for number in range(MOST + 3):
        room.here(f"phone {number}")
    assert not room.start(MOST + 1, 1)
    assert room.start(MOST, 1)
    assert room.here(f"phone {MOST - 1}").rank == MOST - 1
    assert room.here(f"phone {MOST}") is None
    assert room.here("late") is None


@pytest.mark.parametrize("asked", [(1, 1), (MOST + 1, 1), (8, 3), (8, 0), (8, 1, 8), (8, 1, -2)])
def test_a_ring_of_another_size_is_not_begun(room, asked):
    assert not room.start(*asked)
    assert room.standing() is None


def test_one_ring_at_a_time_and_the_last_few_are_kept(clock, room):
    for _ in range(MOST_RUNS + 3):
        assert room.start(2, 1)
        assert not room.start(2, 1)
        clock.now_s += 100
        assert room.standing().is_done
    assert len(room.runs()) == MOST_RUNS
    room.start(2, 1)
    room.stop()
    assert room.standing() is None
    assert len(room.runs()) == MOST_RUNS


def test_a_room_holds_so_many_phones_and_forgets_those_that_have_gone(clock, room):
    for number in range(MOST_PRESENT + 50):
        room.here(f"phone {number}")
    assert room.present() == MOST_PRESENT
    clock.now_s = GONE_S
    assert room.present() == 0
    room.here("ada")
    room.leave("ada")
    assert room.present() == 0


def test_a_key_presides_over_its_rooms_ring_and_another_over_none(clock):
    rooms = Rooms(clock)
    assert rooms.ring_of_key("key") is None
    rooms.ask("key", RING)
    assert rooms.ring(code_of("key")) is None
    ring = rooms.ring_of_key("key")
    assert rooms.ring_of_key("key") is rooms.ring(code_of("key")) is ring
    assert rooms.ring_of_key("another") is None


def test_a_ring_keeps_its_room_as_long_as_it_is_passed_on_and_no_longer(clock):
    rooms = Rooms(clock)
    rooms.ask("key", RING)
    ring = rooms.ring_of_key("key")
    ring.here("ada")
    clock.now_s = LIFE_S - 1
    ring.here("ada")
    ring.start(2, 1)
    clock.now_s = 2 * LIFE_S - 2
    ring.here("ada")
    assert rooms.ring(code_of("key")) is ring
    clock.now_s = 2 * LIFE_S - 1
    assert rooms.ring(code_of("key")) is None


def test_a_room_with_phones_in_its_ring_is_not_an_empty_one(clock):
    rooms = Rooms(clock)
    for number in range(MOST_ROOMS):
        rooms.ask(str(number), RING)
    clock.now_s += SEEN_S  # whose wall was there a minute ago may go
    for number in set(range(MOST_ROOMS)) - {3}:
        rooms.ring_of_key(str(number)).here("ada")
    assert rooms.ask("one more", RING)
    assert rooms.asked(code_of("3")) is None
    assert not rooms.ask("yet another", RING) or rooms.asked(code_of("one more")) is None
