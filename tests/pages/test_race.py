"""The planner's race: the winner is named, and only then shown."""

import json

import pytest

from core.strategy import race
from tests.pages.test_every_scene import said, visit
from ui.course.pages import entry

SCENE = {"place_scene": "race"}


def test_nothing_is_run_before_the_guess_is_revealed_or_the_room_is_asked_this(monkeypatch):
    ran, run = [], race.race
    monkeypatch.setattr(race, "race", lambda *asked: ran.append(asked) or run(*asked))
    app = visit(entry("placement"), **SCENE, prompt="2053", place_race_guess="2")
    assert not app.button(key="reveal").disabled
    elsewhere = visit(entry("comm_cost"), bill_scene="question", present="true")
    elsewhere.button(key="ask_room").click().run()
    room = {name: elsewhere.query_params[name] for name in ("room", "chair")}
    wall = visit(entry("placement"), **SCENE, **room, prompt="2055", present="true")
    learner = visit(entry("placement"), **SCENE, room=room["room"], prompt="2057")
    assert not ran
    app.button(key="reveal").click().run()
    assert len(ran) == 1
    wall.button(key="ask_room").click().run()
    assert len(ran) == 2
    learner.run()
    assert len(ran) == 3


def test_nobody_is_told_who_wins_before_the_guess_is_revealed():
    app = visit(entry("placement"), **SCENE)
    assert not app.get("bidi_component")[1:] or "standings" not in str(app.get("bidi_component")[-1].proto)
    assert "the winner is this plan" not in said(app)
    assert "Name the winner" in said(app)
    assert app.button(key="reveal").disabled


@pytest.mark.parametrize(("guess", "word"), [("2", "You named the winner"), ("1", "You named another plan")])
def test_a_guess_is_held_against_the_race(guess, word):
    app = visit(entry("placement"), **SCENE, place_race_guess=guess, place_race_revealed="true")
    assert not app.exception
    assert word in said(app)
    assert any("standings" in str(one.proto) for one in app.get("bidi_component"))


def test_a_held_axis_is_as_long_as_the_race_that_it_was_held_in():
    app = visit(entry("placement"), **SCENE, place_race_revealed="true")
    app.button(key="held_axes").click().run()
    rush = raced(app)
    app.segmented_control(key="place_race_load").set_value("light").run()
    light = raced(app)
    own = raced(visit(entry("placement"), **SCENE, place_race_load="light", place_race_revealed="true"))
    assert light["times"][-1] == max(rush["times"][-1], own["times"][-1], key=lambda said: float(said.split()[0]))
    assert light["mostWaiting"] == max(rush["mostWaiting"], own["mostWaiting"])


def raced(app):
    """What the race's player is told."""
    (told,) = [one for one in app.get("bidi_component") if "race_player" in one.proto.component_name]
    return json.loads(told.proto.json)


@pytest.mark.parametrize(("load", "pace"), [("light", "A token, alone"), ("rush", "A token, when full")])
def test_a_wall_shows_the_pace_at_the_load_that_is_asked_and_a_laptop_both(load, pace):
    """A table of one line a plan: with more columns the polled question took a third screen of 720 lines."""
    paces = {"A token, alone", "A token, when full"}
    wall = said(visit(entry("placement"), **SCENE, place_race_load=load, present="true"))
    assert {one for one in paces if one in wall} == {pace}
    laptop = said(visit(entry("placement"), **SCENE, place_race_load=load))
    assert "Between tokens, one sequence" in laptop
    assert "Between tokens, when full" in laptop


def test_the_guess_waits_while_another_scene_is_open():
    app = visit(entry("placement"), place_scene="limits", place_race_guess="2")
    assert not app.exception
    assert app.query_params["place_race_guess"] == "2"


@pytest.mark.parametrize("guess", ["9", "x", "0"])
def test_a_guess_that_names_no_plan_is_none(guess):
    app = visit(entry("placement"), **SCENE, place_race_guess=guess)
    assert not app.exception
    assert app.button(key="reveal").disabled


def test_one_gpu_has_nothing_to_race():
    app = visit(entry("placement"), **SCENE, place_gpus="1")
    assert "nothing to race" in said(app)


@pytest.mark.parametrize(
    ("stem", "query", "guess", "key", "other"),
    [
        ("placement", SCENE, "place_race_guess", "place_race_load", "light"),
        ("comm_cost", {"bill_scene": "question"}, "bill_guess", "tp", "4"),
    ],
)
def test_a_guess_is_not_held_against_another_answer_and_can_be_made_again(stem, query, guess, key, other):
    shown = guess.replace("guess", "revealed")
    app = visit(entry(stem), **query, **{guess: "4", shown: "true"})
    assert "made your prediction before" not in said(app)
    app.query_params[key] = other
    app.run()
    assert "made your prediction before" in said(app)
    assert not app.exception
    held = f"{entry(stem).prefix}_held"
    assert "made your prediction before" in said(
        visit(entry(stem), **query, **{guess: "4", shown: "true", key: other}, **{held: app.query_params[held]})
    )
    app.button(key="predict_anew").click().run()
    assert "made your prediction before" not in said(app)
    assert app.button(key="reveal").disabled
    assert shown not in app.query_params
