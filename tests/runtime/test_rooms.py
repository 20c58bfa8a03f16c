"""Rooms: what anybody may send, what is counted, and when it is gone."""

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.question import heaps
from runtime import rooms
from runtime.rooms import (
    CODE_LETTERS,
    LETTERS,
    LIFE_S,
    MOST_QUESTIONS,
    MOST_ROOMS,
    MOST_VOTERS,
    Question,
    Rooms,
    code_of,
    new_key,
    pass_of,
)

BUBBLE = Question("pipeline_bubble", "question", 30.4)


class Clock:
    """A clock that stands until it is moved."""

    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def open_rooms(clock):
    return Rooms(clock)


def test_a_key_opens_its_room_and_a_code_alone_opens_none(open_rooms):
    assert open_rooms.asked(code_of("key")) is None
    assert not open_rooms.vote(code_of("key"), BUBBLE, "ada", 15)
    assert open_rooms.ask("key", BUBBLE)
    assert open_rooms.asked(code_of("key")).question == BUBBLE
    assert open_rooms.vote(code_of("key"), BUBBLE, "ada", 15)
    assert not open_rooms.ask_again(code_of("key"))


def test_another_key_of_the_same_code_presides_over_nothing(open_rooms, monkeypatch):
    """There are 23^6 codes, so that somebody's machine finds a key with a room's code: it opens nothing."""
    monkeypatch.setattr(rooms, "code_of", lambda key: "CDFGHJ")
    assert open_rooms.presides("found")  # while there is no room
    assert open_rooms.ask("key", BUBBLE)
    open_rooms.vote("CDFGHJ", BUBBLE, "ada", 15)
    assert open_rooms.presides("key")
    assert not open_rooms.presides("found")
    assert not open_rooms.ask("found", Question("comm_cost", "question", 46))
    assert not open_rooms.ask_again("found")
    open_rooms.take_votes("found", False)
    assert open_rooms.asked("CDFGHJ").takes_votes
    assert open_rooms.asked("CDFGHJ").question == BUBBLE


def test_a_walls_scene_is_told_to_the_pass_of_its_notes_and_to_nobody_else(open_rooms, clock):
    """Neither the code, which the room has, nor the pass of another key; and the pass presides over nothing."""
    code = code_of("key")
    assert open_rooms.shown(code, pass_of("key")) == ""
    assert open_rooms.show("key", "comm_cost_see")
    assert open_rooms.shown(code, pass_of("key")) == "comm_cost_see"
    assert [open_rooms.shown(code, other) for other in ("", code, pass_of("other"), "key", "é")] == [""] * 5
    assert code_of(pass_of("key")) != code
    assert not open_rooms.show("key", "x" * 2000)
    clock.now_s += LIFE_S
    assert open_rooms.shown(code, pass_of("key")) == ""


def test_a_room_that_only_votes_has_no_notes_to_follow(open_rooms):
    open_rooms.ask("key", BUBBLE)
    assert open_rooms.shown(code_of("key"), "") == open_rooms.shown(code_of("key"), pass_of("key")) == ""


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 100)), max_size=40))
def test_the_last_number_of_each_voter_counts_once(votes):
    open_rooms = Rooms(Clock())
    open_rooms.ask("key", BUBBLE)
    for voter, said in votes:
        assert open_rooms.vote(code_of("key"), BUBBLE, str(voter), said)
    (tally,) = open_rooms.tallies(code_of("key"))
    assert tally.voters == len({voter for voter, _ in votes})
    last = sorted(dict(votes).values())
    assert [value for value, count in tally.counts for _ in range(count)] == last


def test_a_second_vote_stands_beside_the_first_and_there_is_no_third(open_rooms):
    code = code_of("key")
    open_rooms.ask("key", BUBBLE)
    assert not open_rooms.ask_again("key")
    open_rooms.vote(code, BUBBLE, "ada", 15)
    assert open_rooms.ask_again("key")
    open_rooms.vote(code, BUBBLE, "ada", 30)
    open_rooms.vote(code, BUBBLE, "bob", 30)
    assert [tally.counts for tally in open_rooms.tallies(code)] == [((15.0, 1),), ((30.0, 2),)]
    assert not open_rooms.ask_again("key")
    assert open_rooms.said(code, "ada") == (15, 30)
    assert open_rooms.said(code, "bob") == (None, 30)
    assert open_rooms.said("CDFGHJ", "ada") == ()


def test_a_reload_during_the_second_vote_takes_no_number_of_the_first_along(open_rooms):
    code = code_of("key")
    open_rooms.ask("key", BUBBLE)
    for voter in ("ada", "bob"):
        open_rooms.vote(code, BUBBLE, voter, 15)
    open_rooms.ask_again("key")
    open_rooms.vote(code, BUBBLE, "ada again", 15)
    open_rooms.vote(code, BUBBLE, "bob again", 20)
    open_rooms.rename(code, "ada again", "ada")
    open_rooms.rename(code, "bob again", "bob")
    assert open_rooms.said(code, "ada") == (15, None)
    assert open_rooms.said(code, "bob") == (15, 20)


def test_only_what_is_asked_takes_votes_and_only_until_the_answer_is_shown(open_rooms):
    code, other = code_of("key"), Question("pipeline_bubble", "question", 17.9)
    open_rooms.ask("key", BUBBLE)
    assert not open_rooms.vote(code, other, "ada", 15)
    assert not open_rooms.vote(code, BUBBLE, "ada", float("nan"))
    open_rooms.take_votes("key", False)
    assert not open_rooms.vote(code, BUBBLE, "ada", 15)
    open_rooms.take_votes("key", True)
    assert open_rooms.vote(code, BUBBLE, "ada", 15)


def test_a_question_asked_again_still_has_its_votes(open_rooms):
    open_rooms.ask("key", BUBBLE)
    open_rooms.vote(code_of("key"), BUBBLE, "ada", 15)
    open_rooms.ask("key", Question("comm_cost", "question", 46))
    open_rooms.ask("key", BUBBLE)
    assert open_rooms.tallies(code_of("key"))[0].voters == 1


def test_a_room_is_gone_two_hours_after_its_last_vote_though_a_wall_looks_at_it(clock, open_rooms):
    code = code_of("key")
    open_rooms.ask("key", BUBBLE)
    clock.now_s = LIFE_S - 1
    open_rooms.vote(code, BUBBLE, "ada", 15)
    clock.now_s = 2 * LIFE_S - 2
    assert open_rooms.tallies(code)
    clock.now_s = 2 * LIFE_S - 1
    assert open_rooms.tallies(code) == ()
    assert open_rooms.asked(code) is None


def test_rooms_questions_voters_and_addresses_are_bounded(open_rooms):
    code = code_of("0")
    for number in range(MOST_ROOMS):
        assert open_rooms.ask(str(number), BUBBLE)
        open_rooms.vote(code_of(str(number)), BUBBLE, "ada", number)
    assert not open_rooms.ask("one more", BUBBLE)
    for voter in range(MOST_VOTERS + 5):
        assert open_rooms.vote(code, BUBBLE, f"voter {voter}", 1) == (voter < MOST_VOTERS - 1)
    assert open_rooms.tallies(code)[0].voters == MOST_VOTERS
    assert not open_rooms.ask("0", BUBBLE, (("pipe_m", "1" * rooms.LONGEST_ADDRESS),))
    for number in range(MOST_QUESTIONS):
        open_rooms.ask("0", Question("comm_cost", "question", number))
    open_rooms.ask("0", BUBBLE)
    assert open_rooms.tallies(code)[0].voters == 0


def test_a_room_that_nobody_voted_in_makes_place_for_the_next(clock, open_rooms):
    for number in range(MOST_ROOMS):
        clock.now_s = number
        open_rooms.ask(str(number), BUBBLE)
        if number != 3:
            open_rooms.vote(code_of(str(number)), BUBBLE, "ada", number)
    clock.now_s += rooms.SEEN_S
    assert open_rooms.ask("one more", BUBBLE)
    assert open_rooms.asked(code_of("3")) is None
    assert open_rooms.asked(code_of("4")) is not None


def test_rooms_made_up_without_end_take_the_place_of_none_whose_wall_is_there(clock, open_rooms):
    """1,200 of them once took the place of a room that had just been opened and waited for its first voter."""
    assert open_rooms.ask("lecture", BUBBLE)
    for number in range(1_200):
        clock.now_s += 1
        open_rooms.ask(f"made up {number}", BUBBLE)
        assert open_rooms.presides("lecture")  # as a wall that is drawn every few seconds
        assert open_rooms.asked(code_of("lecture")) is not None
    clock.now_s += rooms.SEEN_S + 1
    for number in range(MOST_ROOMS):
        open_rooms.ask(f"another {number}", BUBBLE)
    assert open_rooms.asked(code_of("lecture")) is None, "its wall has gone, and nobody voted"


def test_a_code_begins_with_its_servers_letter_and_tells_nothing_else_of_its_key():
    keys = [new_key(f"app{number}") for number in range(1, 24) for _ in range(20)]
    codes = [code_of(key) for key in keys]
    assert len({*codes}) == len(keys)
    assert [code[0] for code in codes] == [key[0] for key in keys]
    assert all({*code} <= {*LETTERS} and len(code) == CODE_LETTERS for code in codes)
    assert sum(code[1:] in key for code, key in zip(codes, keys, strict=True)) == 0


def test_threads_that_vote_at_once_lose_nothing(open_rooms):
    open_rooms.ask("key", BUBBLE)

    def vote(thread: int) -> None:
        for voter in range(40):
            open_rooms.vote(code_of("key"), BUBBLE, f"{thread} {voter}", voter)

    threads = [threading.Thread(target=vote, args=(thread,)) for thread in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert open_rooms.tallies(code_of("key"))[0].counts == tuple((float(value), 8) for value in range(40))


@given(
    st.lists(st.tuples(st.integers(0, 100), st.integers(1, 30)), max_size=30),
    st.dictionaries(st.sampled_from("abcd"), st.floats(0, 100)),
    st.floats(0, 100),
    st.floats(0.5, 5),
)
def test_nobody_is_in_two_heaps_and_who_is_right_is_in_none(counts, slips, truth, reach):
    found = heaps(counts, truth, slips, reach)
    near = [(said, count) for said, count in counts if any(abs(said - value) <= reach for value in slips.values())]
    assert sum(heap.count for heap in found) <= sum(count for _, count in near)
    assert sum(heap.count for heap in heaps([(truth, 7)], truth, slips, reach)) == 0
    assert [heap.count for heap in found] == sorted((heap.count for heap in found), reverse=True)


def test_the_drain_forgotten_is_named():
    """Eight stages, 16 microbatches: 7/23 of the time is idle, 7/46 where the drain is forgotten."""
    (heap,) = heaps([(15, 12), (30, 4), (60, 1)], 30.4, {"no_drain": 15.2, "overhead": 43.8}, 2)
    assert (heap.slip, heap.value, heap.count) == ("no_drain", 15.2, 12)
