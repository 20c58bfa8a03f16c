"""What is printed of a lecture: which scenes, in which order, and what is said of them."""

import pytest

from runtime import content
from scripts.slides import HANDOUT, Slide, document, note, scenes
from ui.course.pages import entry
from ui.paths import PATHS


@pytest.mark.parametrize("path", PATHS)
def test_a_path_is_printed_stop_by_stop_and_each_has_its_note(path):
    assert scenes(path, None) == [(stop.stem, stop.scene) for stop in PATHS[path]]
    assert all(note(*scene) for scene in scenes(path, None))


def test_a_page_is_printed_scene_by_scene_and_what_has_no_note_has_none():
    assert [scene for _, scene in scenes(None, "comm_cost")] == list(entry("comm_cost").names)
    assert note("comm_cost", "engines") == ""


def test_a_note_is_printed_in_the_language_that_is_spoken():
    english = note("start_here", "rank")
    with content.speaking("es"):
        assert note("start_here", "rank") == content.load("notes")["start_here.rank"]
    assert english == content.load("notes")["start_here.rank"]


def test_every_slide_is_in_the_document_and_a_note_is_text():
    printed = document([Slide(b"one", "a < b"), Slide(b"two")], HANDOUT)
    assert printed.count("<img") == printed.count("<figure>") == 2
    assert "<p>a &lt; b</p>" in printed
    assert "http" not in printed
