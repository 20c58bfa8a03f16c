"""A lecture's path: Next and Back go through its scenes over all pages, and back to it from off it."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from ui.course.pages import entry
from ui.paths import PATHS

ENTRY = Path(__file__).resolve().parents[2] / "streamlit_app.py"


def opened(stem, scene, **query):
    page = entry(stem)
    at = AppTest.from_file(str(ENTRY), default_timeout=60)
    for name, value in {**page.scene(scene), **query}.items():
        at.query_params[name] = value
    at.switch_page(page.path)
    at.run()
    assert not at.exception
    return at


def place_of(at):
    return next(
        str(element.value) for element in at.markdown if " of " in element.value and ", minute " in element.value
    )


def pressed(at, name):
    keys = {button.key for button in at.button}
    at.button(key=name if name in keys else f"{name}_page").click().run()
    assert not at.exception
    return at


def test_next_goes_from_a_page_to_the_next_page_of_the_path_and_back_returns():
    """The third and fourth of the stops beyond Start here: lab 01's Count it, then lab 03."""
    at = opened("sharding_math", "count", path="50", present="true")
    assert place_of(at).startswith("7 of 13, minute 23 to 26")
    pressed(at, "next")
    assert place_of(at).startswith("8 of 13, minute 26 to 30")
    pressed(at, "back")
    assert place_of(at).startswith("7 of 13, ")


def test_a_scene_off_the_path_leads_back_to_where_the_path_was_left():
    at = opened("sharding_math", "count", path="50")
    at.query_params["shard_scene"] = "limits"
    at.run()
    assert {button.key for button in at.button} >= {"back", "next_page"}
    assert place_of(pressed(at, "next")).startswith("8 of 13, ")


def test_without_a_path_next_is_the_next_scene_of_the_page():
    at = opened("start_here", "prefill", path="")
    assert at.button(key="next").label == "Next: Fit and speed"
    assert opened("start_here", "prefill", path="50").button(key="next").label == "Next: Rank and link"


@pytest.mark.parametrize("name", PATHS)
def test_a_path_is_of_scenes_that_there_are(name):
    assert all(stop.scene in entry(stop.stem).names for stop in PATHS[name])


def test_an_answer_is_hidden_again_on_a_wall_alone():
    at = opened("start_here", "decode", present="true", start_decode_revealed="true")
    at.button(key="hide").click().run()
    assert "start_decode_revealed" not in at.query_params
    assert at.button(key="reveal").label == "Reveal"
    assert opened("start_here", "decode", start_decode_revealed="true").button(key="reveal").disabled


@pytest.mark.parametrize("name", PATHS)
def test_the_notes_have_a_word_for_every_stop_its_minutes_and_the_way_to_it(name):
    at = AppTest.from_file(str(ENTRY), default_timeout=60)
    at.query_params["notes"], at.query_params["path"] = "true", name
    at.run()
    assert not at.exception
    told = [str(element.value) for element in at.markdown if "Minute " in str(element.value)]
    assert len(told) == len(PATHS[name])
    for stop, note in zip(PATHS[name], told, strict=True):
        assert f"(./{stop.stem}?{entry(stop.stem).prefix}_scene={stop.scene}&path={name})" in note
        assert len(note.split("\n", 1)[1].split()) > 20
    assert f"to {name}." in told[-1]
