"""What is printed of a lecture: which scenes, in which order, and what is said of them."""

from types import SimpleNamespace

import pytest

from runtime import content
from scripts import slides as made
from scripts.settled import frames
from scripts.slides import DESK, HANDOUT, MOST_STEPS, ROOM, VARIANTS, Slide, document, note, scenes
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


class Player:
    """A stand-in for a figure on a page, of so many stops."""

    def __init__(self, stops, at=0):
        self.stops, self.at = stops, at

    def evaluate(self, _, by):
        self.at = max(0, min(self.stops - 1, self.at + by))
        return self.at

    def is_visible(self):
        return True

    def bounding_box(self):
        return {"y": 10, "height": 100}


@pytest.fixture
def screen(monkeypatch):
    """What is pictured of a screen with some players: where each of them stands."""

    def pictured(players, most):
        page = SimpleNamespace(
            locator=lambda _: SimpleNamespace(all=lambda: players), viewport_size={"height": 720}
        )
        monkeypatch.setattr("scripts.settled.picture", lambda _: tuple(player.at for player in players))
        return list(frames(page, most))

    return pictured


def test_a_figure_that_is_stepped_has_a_picture_a_step_wherever_it_stood(screen):
    assert screen([Player(4, at=2)], 16) == [(0,), (1,), (2,), (3,)]
    assert screen([Player(2), Player(3, at=2)], 16) == [(0, 0), (1, 0), (1, 1), (1, 2)]
    assert screen([], 16) == [()]


def test_a_long_one_has_both_its_ends_and_a_handout_the_last_alone(screen):
    assert screen([Player(100, at=7)], 16) == [(0,), (99,)]
    assert screen([Player(16)], 16)[-1] == (15,)
    assert len(screen([Player(16)], 16)) == 16
    assert screen([Player(5)], 1) == [(4,)]


@pytest.mark.parametrize(
    ("handout", "notes", "lines", "most"),
    [(None, False, False, MOST_STEPS), (ROOM, False, True, 1), (DESK, True, False, 1)],
)
def test_the_desk_has_the_notes_and_the_answers_the_room_lines_to_write_on(
    monkeypatch, handout, notes, lines, most
):
    """A question is revealed on slides and on the desk, never in the room."""
    revealed, asked_of = [], []
    reveal = SimpleNamespace(count=lambda: 1, first=SimpleNamespace(click=lambda: revealed.append(True)))
    page = SimpleNamespace(
        add_style_tag=lambda **_: None, locator=lambda _: reveal, context=SimpleNamespace(close=lambda: None)
    )
    monkeypatch.setattr(made, "visit", lambda _, address, *__: asked_of.append(address) or page)
    monkeypatch.setattr(made, "settle", lambda _: None)
    monkeypatch.setattr(made, "screens", lambda _, most: iter([bytes([most])]))
    asked = SimpleNamespace(handout=handout, theme="light", lang="es")
    shown = list(made.slides(None, "http://here", "comm_cost", "question", asked))
    assert len(shown) == (1 if handout == ROOM else 2)
    assert bool(revealed) == (handout != ROOM)
    assert {slide.png for slide in shown} == {bytes([most])}
    assert [bool(slide.note) for slide in shown] == [*[False] * (len(shown) - 1), notes]
    assert shown[-1].lines == lines
    assert ("class=lines" in document(shown, HANDOUT).partition("</style>")[2]) == lines
    assert all("lang=es" in address for address in asked_of)


@pytest.mark.parametrize("scene", VARIANTS, ids=".".join)
def test_what_a_lecture_turns_a_scene_to_is_what_its_control_offers(scene):
    from ui.sharding_math.rows import KINDS

    assert [turned["shard_layer"] for turned in VARIANTS[scene]] == [content.slug(name) for name in KINDS][:3]
    assert scene[1] in entry(scene[0]).names
