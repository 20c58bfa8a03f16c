"""The puzzles' page: the board is told core's rules, and an address of anything opens it."""

from itertools import product

import pytest

from core.course.puzzles.bank import PUZZLES
from core.course.puzzles.board import choices_of, score
from tests.pages.test_every_scene import said, visit
from ui.course.pages import entry
from ui.puzzles.rows import PuzzleRow, puzzle_rows


def followed(row: PuzzleRow, choices: tuple[int, ...]):
    """What the board does with choices: bytes and hops where they reach the goal, else None."""
    place, left, traffic, hops = row.begins, iter(choices), 0.0, 0
    for step in row.steps:
        move = step.moves[place][next(left) if step.options else 0]
        if not move.after:
            return None
        place, traffic, hops = move.after, traffic + move.traffic, hops + move.hops
    return (traffic, hops) if place.split(".")[0] == row.goal else None


@pytest.mark.parametrize("place", range(len(PUZZLES)), ids=[puzzle.key for puzzle in PUZZLES])
def test_the_board_scores_every_answer_as_core_does(place):
    puzzle, row = PUZZLES[place], puzzle_rows()[place]
    steps = choices_of(puzzle)
    for choices in list(product(*(range(len(step.options)) for step in steps)))[::7]:
        found = score(puzzle, tuple(step.options[k] for step, k in zip(steps, choices, strict=True)))
        assert followed(row, choices) == (None if found is None else (found.traffic_bytes, found.hops))
    best = tuple(step.options.index(one) for step, one in zip(steps, puzzle.answer, strict=True))
    assert followed(row, best) == (row.best_traffic, row.best_hops)


@pytest.mark.parametrize("address", ["7.10211021.1220000000", "<script>", "99.9.9", "...", ""])
def test_any_address_opens_the_board(address):
    app = visit(entry("puzzles"), puzzles_at=address)
    assert not app.exception
    assert "Ignored" not in said(app)
    assert any("best_traffic" in str(one.proto) for one in app.get("bidi_component"))
