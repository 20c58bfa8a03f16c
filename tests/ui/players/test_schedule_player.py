"""The schedule player's payload, and how it arrives in the page. What it draws is tested in a browser."""

import json
import struct

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from core.pipeline_bubble.bubble import fill_drain, run_on_ticks
from core.pipeline_bubble.schedules.grid import tick_grid
from ui.players import schedule_player as player


def grid_of(stages, microbatches, **extra):
    cells = tick_grid(run_on_ticks(fill_drain(stages, microbatches), stages), stages)
    labels = tuple(f"stage {stage}" for stage in range(stages))
    return player.Grid(cells.tobytes(), *cells.shape, labels, **extra)


def read(payload):
    """What the browser reads: the head, then each grid's cells."""
    (length,) = struct.unpack_from("<I", payload)
    head = json.loads(payload[4 : 4 + length])
    offset, cells = 4 + length, []
    for grid in head["grids"]:
        count = grid["ranks"] * grid["ticks"]
        cells.append(np.frombuffer(payload, "<i2", count, offset).reshape(grid["ranks"], grid["ticks"]))
        offset += 2 * count
    assert offset == len(payload)
    return head, cells


def test_cells_arrive_as_they_were_written():
    grids = [
        grid_of(8, 16),
        grid_of(
            2,
            3,
            title="zwölf · ½",
            marks=(player.Mark("wrong", 1, 2), player.Mark("note", 0, 3, "early")),
            path=(player.Stop(0, 0, 3),),
            held=((player.Level(0, 1), player.Level(3, 0)), (player.Level(1, 0.5),)),
        ),
    ]
    head, (first, second) = read(player.payload(grids, {"alt": "a figure"}))
    assert np.array_equal(first, tick_grid(run_on_ticks(fill_drain(8, 16), 8), 8))
    assert np.array_equal(second, [[0, 1, 2, -1], [-1, 0, 1, 2]])
    assert head["alt"] == "a figure"
    assert head["grids"][1]["title"] == "zwölf · ½"
    assert head["grids"][1]["marks"] == [{"kind": "note", "rank": 0, "tick": 3, "text": "early"}]
    assert head["grids"][1]["wrong"] == [[1, 2]]
    assert head["grids"][1]["held"] == [[[0, 1], [3, 0]], [[1, 0.5]]]
    assert head["grids"][1]["path"] == [{"rank": 0, "start": 0, "end": 3}]


@pytest.mark.parametrize("title", ["", "a", "ab", "abc", "abcd"])
def test_cells_start_on_a_whole_word(title):
    """The browser lays an int16 view over the bytes, which must begin at an even offset."""
    (length,) = struct.unpack_from("<I", player.payload([grid_of(1, 1, title=title)], {}))
    assert length % 4 == 0


def test_a_grid_of_64_ranks_and_1024_microbatches_travels_in_140_kilobytes():
    assert len(player.payload([grid_of(64, 1024)], {})) < 142_000


def test_a_grid_that_does_not_match_its_size_is_refused():
    with pytest.raises(ValueError, match="cells"):
        player.Grid(b"\0\0", 1, 2, ("stage 0",))
    with pytest.raises(ValueError, match="labels"):
        player.Grid(b"\0\0", 1, 1, ())


def test_the_player_mounts_with_its_bytes():
    def app():
        from ui.players.schedule_player import Grid, schedule_player

        schedule_player(Grid(b"\0\0\1\0", 1, 2, ("stage 0",)), key="p", alt="one stage, two microbatches")

    at = AppTest.from_function(app, default_timeout=30).run()
    assert not at.exception
    proto = at.get("bidi_component")[0].proto
    head, (cells,) = read(proto.bytes)
    assert (head["start"], head["present"], head["controls"]) == ("start", False, True)
    assert cells.tolist() == [[0, 1]]
