"""The room is the cluster: one visit presides, phones are ranks, and the wall draws what they pass."""

import json
import re
from html import unescape

import pytest

from core.course.cluster.standing import WAIT_S, fitted
from runtime.rooms import ROOMS
from tests.pages.test_room import opened, text_of
from ui.cluster import rows, words

SECONDS = {"ring": 0.0}


@pytest.fixture
def clock(monkeypatch):
    """The clock of this process's rooms, moved by the test."""
    monkeypatch.setattr(ROOMS, "_clock", lambda: SECONDS["ring"])
    monkeypatch.setattr(ROOMS, "_rooms", {})
    SECONDS["ring"] = 1e6
    return SECONDS


@pytest.fixture
def wall(clock):
    wall = opened("cluster", present="true", cluster_ranks=3)
    wall.button(key="open_ring").click().run()
    assert not wall.exception
    return wall


def drawn(at):
    """What the wall's picture says to who does not see it, and its letters."""
    (still,) = [part for part in at.get("bidi_component") if part.proto.component_name == "shardlab_still"]
    return json.loads(still.proto.json)["svgs"][0]


def said(at):
    """What a screen reader is told of the page."""
    (told,) = re.findall(r'data-said="(.*?)"', "".join(part.proto.body for part in at.get("html")))
    return unescape(told)


def hand(at):
    """What a phone is told of its rank; None where it has none."""
    told = [part for part in at.get("bidi_component") if part.proto.component_name == "shardlab_pass_player"]
    return json.loads(told[0].proto.json) if told else None


def test_a_room_is_opened_joined_begun_passed_and_ends_with_one_sum(wall, clock):
    code = wall.query_params["room"]
    ada, bob = (opened(room=code) for _ in range(2))
    assert ada.query_params["cluster_scene"] == "ring"
    assert "Your rank comes" in text_of(ada)
    wall.run()
    assert "2 phones are here; 1 rank is simulated." in text_of(wall)
    wall.button(key="start_ring").click().run()
    for phone in (ada, bob):
        phone.run()
    assert [hand(phone)["rank"] for phone in (ada, bob)] == [0, 1]
    assert "Every rank has a chunk to send." in text_of(wall)
    ring, voters = ROOMS.ring(code), [phone.session_state["_voter"][1] for phone in (ada, bob)]
    for _ in range(40):
        clock["ring"] += 2
        for who in voters:
            told = ring.here(who)
            assert ring.send(who, told.run, told.round) == (told.chunk is not None)
    for visit in (wall, ada, bob):
        visit.run()
    assert "3 of 3 ranks hold the same sum" in text_of(wall)
    assert hand(ada)["held"] == hand(bob)["held"] == [list(chunk) for chunk in ROOMS.ring(code).standing().sums]
    assert "4 rounds" in drawn(wall)
    assert "same sum" in said(wall)  # and a screen reader is told so
    late = opened(room=code)
    assert "You get a rank when the next one begins" in text_of(late)


def test_the_wall_says_whom_all_wait_for_and_passes_for_who_fell_silent(wall, clock):
    code = wall.query_params["room"]
    ada = opened(room=code)
    wall.button(key="start_ring").click().run()
    clock["ring"] += 9
    wall.run()
    assert "Everybody waits for r0." in text_of(wall)
    with pytest.raises(KeyError):
        wall.button(key="pass_for")
    clock["ring"] += 2
    wall.run()
    assert wall.button(key="pass_for").label == "Pass for r0"
    wall.button(key="pass_for").click().run()
    clock["ring"] += 60
    wall.run()
    assert "3 of 3 ranks hold the same sum" in text_of(wall)
    ada.run()
    assert hand(ada) is None


def test_a_phone_may_leave_and_come_back(wall):
    ada = opened(room=wall.query_params["room"])
    ada.button(key="ring_leave").click().run()
    assert "You have left the ring" in text_of(ada)
    assert ROOMS.ring(wall.query_params["room"]).present() == 0
    ada.button(key="ring_back").click().run()
    assert ROOMS.ring(wall.query_params["room"]).present() == 1


def test_a_learner_neither_begins_nor_ends_a_ring(wall):
    code = wall.query_params["room"]
    for visit in (opened("cluster", room=code), opened("cluster", room=code, chair="guessed", present="true")):
        for key in ("open_ring", "start_ring", "stop_ring", "again_ring", "pass_for"):
            with pytest.raises(KeyError):
                visit.button(key=key)


def test_two_sizes_of_chunk_give_alpha_and_beta_and_the_slow_rank_its_cost(wall, clock):
    """Simulated ranks: α of 1 s and half a second a number, so that the fit is known; then one waits 5 s."""
    ring, code, key = (
        ROOMS.ring(wall.query_params["room"]),
        *(wall.query_params[name] for name in ("room", "chair")),
    )
    for number, asked in enumerate(((3, 1), (3, 4), (3, 4, 2))):
        assert ring.start(*asked)
        clock["ring"] += 1000
        told = opened("cluster", cluster_scene="time", present="true", room=code, chair=key)
        said = text_of(told)
        assert ("So far all chunks had one size" in said) == (number == 0)
        assert (":violet[**1.00 s**]" in said and ":yellow[**500 ms a number**]" in said) == (number > 0)
        assert ("One slow rank" in said) == (number == 2)
    runs = ring.runs()
    fit = fitted(runs)
    assert fit.ring_s(3, 4, WAIT_S) == pytest.approx(4 * 8)
    assert words.fields(runs)["slow"].slow_rank == runs[-1].slowest_rank == 2
    assert [band.ends - band.begins for band in rows.bands(runs)] == [4, 4, 4]
    assert [(band.latency_s, band.sent_s, band.waited_s) for band in rows.bands(runs)] == [
        (pytest.approx(1), pytest.approx(1 + n / 2), pytest.approx(1 + n / 2 + wait))
        for n, wait in ((1, 0), (4, 0), (4, 5))
    ]


def test_a_room_that_is_gone_is_said_on_the_phone_and_the_wall_opens_another():
    gone = opened("cluster", room="CCCCCC")
    assert "There is no room" in text_of(gone).replace("\\", "")
    assert gone.button(key="open_ring").label == "Open the room"


def test_what_a_browser_sends_in_place_of_a_press_passes_nothing(wall, clock):
    from ui.cluster import phone

    ada = opened(room=wall.query_params["room"])
    wall.button(key="start_ring").click().run()
    ada.run()
    ring = ROOMS.ring(wall.query_params["room"])
    for told in (
        None,
        [],
        "0",
        {"run": "1", "round": 0},
        {"run": 1},
        {"run": 1, "round": 1e300},
        {"run": 1, "round": -1},
    ):
        phone.pass_told(ring, ada.session_state["_voter"][1], told)
    assert ring.standing().ranks[0].done == 0
    assert ring.here(ada.session_state["_voter"][1]).round == 0
    phone.pass_told(ring, ada.session_state["_voter"][1], {"run": 1, "round": 0})
    assert ring.here(ada.session_state["_voter"][1]).round == 1
