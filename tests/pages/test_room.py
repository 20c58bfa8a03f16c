"""A lecture's room: one visit asks, others answer with the prediction they make anyway, and it counts them."""

from pathlib import Path
from types import SimpleNamespace

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from runtime import reach
from runtime.rooms import ROOMS, Tally, code_of
from ui.course.pages import entry
from ui.room import phones, poll

ENTRY = Path(__file__).resolve().parents[2] / "streamlit_app.py"


def opened(stem="", **query):
    at = AppTest.from_file(str(ENTRY), default_timeout=60)
    for name, value in query.items():
        at.query_params[name] = str(value)
    if stem:
        at.switch_page(entry(stem).path)
    at.run()
    assert not at.exception
    return at


def text_of(at):
    return " ".join(str(element.value) for element in at.markdown).replace("\u00a0", " ")


@pytest.fixture
def wall():
    """A projected question, and its room asked."""
    at = opened("pipeline_bubble", pipe_scene="question", present="true")
    assert not any("room" in str(element.value).lower() for element in at.markdown)
    at.button(key="ask_room").click().run()
    assert not at.exception
    return at


def said_in(at, number):
    at.slider(key="pipe_guess").set_value(number).run()
    assert not at.exception
    return text_of(at)


def test_a_room_is_off_until_somebody_asks_and_never_on_a_page_that_is_read():
    with pytest.raises(KeyError):
        opened("pipeline_bubble", pipe_scene="question").button(key="ask_room")


@pytest.mark.parametrize(
    ("url", "own", "told", "codes"),
    [
        (
            "http://localhost:8501/x",
            ["192.168.1.7", "10.0.0.5"],
            "**192.168.1.7:8501/?room={0}** · **10.0.0.5",
            1,
        ),
        ("http://127.0.0.1:8501/x", [], "No phone can come", 0),
        ("https://course.example.org/x", ["192.168.1.7"], "Join at **course.example.org/?room={0}**", 1),
    ],
)
def test_a_wall_offers_an_address_that_phones_reach_or_says_that_none_can_come(
    monkeypatch, wall, url, own, told, codes
):
    """By the address that was typed, unless that is every machine's own; so do the notes for another device."""
    monkeypatch.setattr(type(st.context), "url", url)
    monkeypatch.setattr(type(st.context), "ip_address", None)
    monkeypatch.setattr(reach, "addresses", lambda: own)
    monkeypatch.setattr(reach, "_IN_A_CONTAINER", ())
    drawn = []
    monkeypatch.setattr(poll, "still", lambda svg, key: drawn.append(key))
    said = text_of(wall.run()).replace("\\", "")
    assert told.format(wall.query_params["room"]) in said
    assert drawn == ["room_code"] * codes
    assert ("Only from the network" in said) == ("localhost" in url)
    kept = {name: wall.query_params[name] for name in ("room", "chair")}
    notes = text_of(opened(notes="true", **kept)).replace("\\", "")
    assert ("No phone can come" in notes) == (not codes)
    assert "localhost" not in notes
    assert ("127.0.0.1" in notes) == (not codes), "where no other device can come, another browser here still may"


def test_learners_send_the_prediction_they_make_and_the_wall_counts_it_and_names_the_slip(wall):
    code = wall.query_params["room"]
    assert code == code_of(wall.query_params["chair"])
    assert f"room={code}" in text_of(wall).replace("\\", "")
    learners = [opened("pipeline_bubble", pipe_scene="question", room=code.lower()) for _ in range(3)]
    for learner, number in zip(learners, (15, 15, 40), strict=True):
        assert "goes to the room" in text_of(learner)
        assert f"Sent to the room {code}" in said_in(learner, number)
    said_in(learners[2], 30)
    wall.run()
    assert [tally.counts for tally in ROOMS.tallies(code)] == [((15.0, 2), (30.0, 1))]
    assert "drain" not in text_of(wall)
    wall.button(key="ask_room").click().run()
    assert "votes a second time" in text_of(learners[1].run())
    said_in(learners[0], 31)
    wall.run()
    assert [tally.voters for tally in ROOMS.tallies(code)] == [3, 1]
    learners[1].button(key="room_keep").click().run()
    assert "Sent to the room" in text_of(learners[1])
    assert ROOMS.tallies(code)[1].counts == ((15.0, 1), (31.0, 1))
    wall.button(key="reveal").click().run()
    assert "2 predictions near 15.2%, 1 in the second vote: the drain forgotten" in text_of(wall).replace("\\", "")
    assert "takes no more predictions" in said_in(learners[1], 20)


def test_a_reload_is_the_voter_that_its_browser_kept_and_no_other(wall, monkeypatch):
    """What a visit said before its browser was heard is that voter's; who takes name after name has one vote."""
    code = wall.query_params["room"]
    first, again = (opened("pipeline_bubble", pipe_scene="question", room=code) for _ in range(2))
    said_in(first, 15)
    said_in(again, 30)
    assert ROOMS.tallies(code)[0].voters == 2
    name, fresh = (visit.session_state["_voter"][1] for visit in (first, again))
    monkeypatch.setattr(poll, "st", SimpleNamespace(session_state={"_voter": (code, fresh)}))
    monkeypatch.setattr(poll, "code", lambda: code)
    for told in (None, name, {"room": code}, {"room": code, "name": "ada"}, {"room": "CDFGHJ", "name": name}):
        poll.recall(told)
        assert poll.voter() == fresh
    for kept in (name, "0" * 16, name):
        poll.recall({"room": code, "name": kept})
        assert poll.voter() == kept
        assert ROOMS.tallies(code) == (Tally(((30.0, 1),)),)


def test_a_visit_asks_for_so_many_codes_and_no_more(wall):
    """Each visit, whose number the proxy bounds: a code is none that somebody finds by trying."""
    code = wall.query_params["room"]
    guesser = opened("pipeline_bubble", pipe_scene="question", room="C" * 8)
    for letter in "DFGHJKLM":
        assert "There is no room" in text_of(guesser).replace("\\", "") or letter > "J"
        guesser.query_params["room"] = letter * 8
        guesser.run()
    guesser.query_params["room"] = code
    guesser.run()
    assert "goes to the room" not in text_of(guesser)
    said_in(guesser, 15)
    assert ROOMS.tallies(code)[0].voters == 0
    assert f"Sent to the room {code}" in said_in(opened("pipeline_bubble", pipe_scene="question", room=code), 15)


def test_the_tabs_of_a_browser_have_one_vote_and_a_made_up_name_has_none(wall, monkeypatch):
    code = wall.query_params["room"]
    cookies = {}
    monkeypatch.setattr("streamlit.runtime.context.ContextProxy.cookies", property(lambda _: cookies))
    kept = phones.new_cookie().partition(";")[0].partition("=")[2]
    name, _, signed = kept.partition(".")
    for cookie in (kept, kept, f"{'0' * 16}.{signed}", f"{name}.{'0' * 32}", name, ""):
        cookies[phones.COOKIE] = cookie
        said_in(opened("pipeline_bubble", pipe_scene="question", room=code), 15)
        (tally,) = ROOMS.tallies(code)
        assert tally.voters == 1 if cookie == kept else tally.voters > 1
    assert tally.voters == 1 + 4, "a visit whose name was not given votes under its own"


def test_the_short_address_leads_to_what_the_room_is_asked(wall):
    code = wall.query_params["room"]
    learner = opened(room=code)
    assert learner.query_params["pipe_scene"] == "question"
    assert "goes to the room" in text_of(learner)


def test_other_settings_are_another_question(wall):
    """At 64 microbatches another share is idle: what is said of it is no answer to what the wall asks."""
    code = wall.query_params["room"]
    learner = opened("pipeline_bubble", pipe_scene="question", room=code, pipe_m=64)
    assert f"Go to its question](./?room={code})" in text_of(learner)
    said_in(learner, 10)
    assert ROOMS.tallies(code)[0].voters == 0


def test_a_learner_presides_over_nothing(wall):
    """A code in the address, and a key that is not its own: no button to ask, no count."""
    code = wall.query_params["room"]
    other = opened("pipeline_bubble", pipe_scene="question", room=code, chair="guessed", present="true")
    assert other.button(key="ask_room").label == "Ask the room"
    other.button(key="ask_room").click().run()
    assert other.query_params["room"] != code
    assert ROOMS.asked(code).takes_votes


def test_who_comes_too_late_is_told():
    assert "There is no room" in text_of(opened("pipeline_bubble", room="CCCCCC")).replace("\\", "")


def test_a_race_is_predicted_by_the_room_as_any_other_question():
    wall = opened("placement", place_scene="race", present="true")
    wall.button(key="ask_room").click().run()
    assert not wall.exception
    code = wall.query_params["room"]
    learner = opened("placement", place_scene="race", room=code)
    learner.query_params["place_race_guess"] = "2"
    learner.run()
    assert f"Sent to the room {code}" in text_of(learner)
    assert ROOMS.tallies(code)[0].counts == ((2.0, 1),)
    wall.run()
    wall.button(key="reveal").click().run()
    assert not wall.exception
