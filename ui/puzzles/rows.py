"""What the puzzles' board is told: every step from every place that can be reached, as core's rules have it."""

from collections.abc import Mapping
from typing import Any

from core.course.puzzles.bank import PUZZLES
from core.course.puzzles.board import BEST, Move, Place, Puzzle, move, solve, walk
from runtime.kept import kept
from runtime.prose import said
from runtime.quantities import grouped


@kept
def board(present: bool = False) -> list[dict[str, Any]]:
    """All ten with their words, as plain JSON for the browser. A wall has no room to say how wide the rows are.

    `told` says what a rank holds at each place, and `moves` of a step where each of its choices leads from each.
    """
    return [_puzzle(puzzle, present) for puzzle in PUZZLES]


def _puzzle(puzzle: Puzzle, present: bool) -> dict[str, Any]:
    best, ends = solve(puzzle).best, list(walk(puzzle, puzzle.answer))[-1].after
    assert ends is not None
    steps, told = _steps(puzzle, present)
    return {
        "key": puzzle.key,
        **{part: said("puzzles", f"{part}.{puzzle.key}", puzzle) for part in ("name", "task", "hint", "moral")},
        "ranks": puzzle.ranks,
        "begins": _place(Place(puzzle.begins, puzzle.width)),
        "goal": puzzle.goal,
        "ends": _place(ends),
        "told": told,
        "steps": steps,
        "best_traffic": best.traffic_bytes,
        "best_hops": best.hops,
    }


def _steps(puzzle: Puzzle, present: bool) -> tuple[list[dict[str, Any]], Mapping[str, str]]:
    """The steps in order, each with its moves from every place that is reached; all places in words."""
    places, rows = [Place(puzzle.begins, puzzle.width)], []
    told, best = {_place(place): _told(place, present) for place in places}, False
    for step in puzzle.steps:
        best |= step.kind == "best"
        made = {
            place: [move(puzzle, step, place, choice) for choice in step.options or (None,)] for place in places
        }
        reached = sorted({one.after for each in made.values() for one in each if one.after is not None}, key=_place)
        told |= {_place(place): _told_best(place) if best else _told(place, present) for place in reached}
        rows.append(
            {
                "kind": step.kind,
                "name": said("puzzles", f"step.{step.name or step.kind}"),
                "makes": grouped(step.width) if step.width else "",
                "options": [(choice, said("puzzles", f"choice.{choice}")) for choice in step.options],
                "moves": {_place(place): list(map(_moved, each)) for place, each in made.items()},
            }
        )
        places = reached
    return rows, told


def _moved(made: Move) -> dict[str, Any]:
    """The place that a choice leads to, or the refusal; what a rank sends in it."""
    after = _place(made.after) if made.after else ""
    return {"after": after, "refusal": made.refusal or "", "traffic": made.traffic_bytes, "hops": made.hops}


def _told(place: Place, present: bool) -> str:
    held = said("puzzles", f"held.{place.held}")
    of = "columns" if place.held == "features" else "rows"
    return held if present else said("puzzles", f"wide.{of}", held=held, width=place.width)


def _told_best(place: Place) -> str:
    """Once each rank has named its best value: its own, those of all ranks, or the one that is left."""
    which = "own" if place.held == "features" else "one" if place.width == BEST else "all"
    return said("puzzles", f"best.{which}")


def _place(place: Place) -> str:
    return f"{place.held}.{place.width}"
