"""The search: every word must begin a word of the place; titles before texts; nothing unbounded."""

import pytest

from core.course.find_it import Indexed, find
from ui.course.pages import PAGES
from ui.find_it.index import index

PLACES = (
    Indexed(
        "Scene", "04 Pipelines: Question", "How long does the bubble last?", "pipeline_bubble?pipe_scene=question"
    ),
    Indexed("Term", "bubble", "The time in which a stage waits.", "pipeline_bubble?pipe_scene=see"),
    Indexed("Scene", "03 The bill: See it", "Latency and bandwidth, a bar each.", "comm_cost?bill_scene=see"),
)


def titles(query: str) -> list[str]:
    return [found.place.title for found in find(query, PLACES)]


def test_a_title_comes_before_a_text():
    assert titles("bubble") == ["bubble", "04 Pipelines: Question"]


def test_every_word_is_needed_and_a_beginning_is_enough():
    assert titles("lat band") == ["03 The bill: See it"]
    assert titles("latency bubble") == []


@pytest.mark.parametrize("query", ["", "   ", "!?*", "()"])
def test_a_query_without_a_word_finds_nothing(query):
    assert titles(query) == []


def test_a_passage_is_cut_at_words_around_what_was_asked():
    long = Indexed("Scene", "x", "start " + "filler " * 60 + "needle " + "filler " * 60, "x")
    passage = find("needle", [long])[0].passage
    assert "needle" in passage
    assert passage.startswith("… filler")
    assert len(passage) < 260


def test_the_index_has_every_scene_once_and_every_address_names_a_page():
    scenes = [place for place in index() if place.kind == "Scene"]
    assert len(scenes) == sum(len(page.scenes) for page in PAGES[1:])
    assert {place.address.split("?")[0] for place in index()} <= {page.stem for page in PAGES}


@pytest.mark.parametrize(
    ("query", "kind", "address"),
    [
        ("bubble", "Term", "pipeline_bubble"),
        ("one-shot", "Term", "comm_cost"),
        ("busbw", "Term", "comm_cost"),
        ("divide heads", "Scene", "sharding_math"),
    ],
)
def test_the_course_is_found_by_its_words(query, kind, address):
    hits = find(query, index())
    assert any(hit.place.kind == kind and hit.place.address.startswith(address) for hit in hits), hits


def test_a_scene_is_told_without_bullets_and_rulings_and_names_keep_their_underscores():
    told = {entry.title: entry.text for entry in index() if entry.kind == "Scene"}
    assert "counted_bubble(" in told["04 Pipelines: Build it"]
    assert "---" not in " ".join(told.values())
