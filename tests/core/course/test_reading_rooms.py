"""The reading rooms: enough places, each with its note and its lab."""

import pytest

from core.course.reading_rooms import PLACES, ROOMS, places
from runtime import content
from ui.course.pages import LABS


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.key)
def test_a_room_has_at_least_eight_places_each_with_its_note(room):
    notes = content.load("reading_rooms")
    assert len(places(room)) >= 8
    assert {f"{room.key}.{place.key}" for place in places(room)} <= set(notes)


def test_every_place_belongs_to_a_lab_and_a_scene_of_it():
    scenes = {lab.stem: set(lab.scenes) for lab in LABS}
    assert all(place.scene in scenes[place.lab] for place in PLACES)


def test_no_place_is_read_twice():
    assert len({(place.room, place.file, place.symbol) for place in PLACES}) == len(PLACES)
