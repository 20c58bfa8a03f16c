"""The puzzles' page: the board is told core's rules, and an address of anything opens it."""

from itertools import product

import pytest

from core.course.puzzles.bank import PUZZLES
from core.course.puzzles.board import score
from runtime.quantities import grouped
from tests.pages.test_every_scene import said, visit
from ui.course.pages import entry
from ui.puzzles.rows import board


def followed(row: dict, choices: tuple[int, ...]):
    """What the board does with choices: bytes and hops where they reach the goal, else None."""
    place, left, traffic, hops = row["begins"], iter(choices), 0.0, 0
    for step in row["steps"]:
        move = step["moves"][place][next(left) if step["options"] else 0]
        if not move["after"]:
            return None
        place, traffic, hops = move["after"], traffic + move["traffic"], hops + move["hops"]
    return (traffic, hops) if place.split(".")[0] == row["goal"] else None


@pytest.mark.parametrize("place", range(len(PUZZLES)), ids=[puzzle.key for puzzle in PUZZLES])
def test_the_board_scores_every_answer_as_core_does(place):
    puzzle, row = PUZZLES[place], board()[place]
    steps = [step for step in puzzle.steps if step.options]
    for choices in list(product(*(range(len(step.options)) for step in steps)))[::7]:
        found = score(puzzle, tuple(step.options[k] for step, k in zip(steps, choices, strict=True)))
        assert followed(row, choices) == (None if found is None else (found.traffic_bytes, found.hops))
    best = tuple(step.options.index(one) for step, one in zip(steps, puzzle.answer, strict=True))
    assert followed(row, best) == (row["best_traffic"], row["best_hops"])


def test_every_place_is_told_with_its_width():
    """So that a newcomer can work the score out: 8 tokens of 1,024 two-byte values are 16 KiB."""
    for row in board():
        reached = {move["after"] for step in row["steps"] for moves in step["moves"].values() for move in moves} - {
            ""
        }
        assert set(row["told"]) == reached | {row["begins"]}
        assert row["ends"] in row["told"]
    assert [step["makes"] for step in board()[2]["steps"]] == [grouped(4096), "", "", grouped(1024), ""]
    assert board()[2]["told"]["features.4096"] == f"its own columns of {grouped(4096)}"
    last = board()[-1]
    assert (last["told"]["features.16"], last["told"][last["ends"]]) == (
        "its own best value",
        "the best value of all",
    )


@pytest.mark.parametrize("address", ["7.10211021.1220000000", "<script>", "99.9.9", "...", ""])
def test_any_address_opens_the_board(address):
    app = visit(entry("puzzles"), puzzles_at=address)
    assert not app.exception
    assert "Ignored" not in said(app)
    assert any("best_traffic" in str(one.proto) for one in app.get("bidi_component"))
