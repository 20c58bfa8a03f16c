"""The reading rooms: enough places, each with its note and its lab; an installed release has their names."""

import importlib.util
from importlib import metadata
from pathlib import Path

import pytest

from core.course.reading_rooms import FSDP, PLACES, ROOMS, places
from runtime import content
from scripts.reading_rooms import look_up, main
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


def test_the_names_of_fsdp_are_those_of_the_installed_pytorch():
    """The package is pinned to the release the room names; it is read, not imported."""
    installed = importlib.util.find_spec("torch")
    if installed is None:
        pytest.skip("PyTorch is not installed")
    origin = installed.origin
    assert metadata.version("torch").split("+")[0] == FSDP.release
    missing = [found for found in look_up(FSDP, Path(origin).parents[1]) if not found.there]
    assert not missing


def test_a_name_that_is_not_there_ends_in_exit_1(tmp_path, capsys):
    folder = tmp_path / "vllm" / "distributed"
    folder.mkdir(parents=True)
    (folder / "utils.py").write_text("def divide(a, b):\n    return a // b\n")
    assert main(["vllm", str(tmp_path)]) == 1
    printed = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [row for row in printed if row[0] == "there"] == [["there", "distributed/utils.py", "divide"]]
    assert {row[0] for row in printed} == {"there", "MISSING"}


def test_a_folder_that_is_no_release_is_refused_in_one_line(tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["megatron", str(tmp_path)])
    said = capsys.readouterr()
    assert ended.value.code == 2
    assert said.out == ""
    assert said.err.count("\n") == 1
