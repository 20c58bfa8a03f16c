"""What the puzzles' board is told: every step from every place that can be reached, as core's rules have it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from core.course.puzzles.bank import PUZZLES
from core.course.puzzles.board import BEST, Choice, Move, Place, Puzzle, Step, move, solve, walk
from runtime.kept import kept
from runtime.prose import said
from runtime.quantities import grouped


@dataclass(frozen=True)
class MoveRow:
    """A step with one choice: the place it leads to, or the refusal; what a rank sends in it."""

    after: str
    refusal: str
    traffic: float
    hops: int


@dataclass(frozen=True)
class StepRow:
    """A step: its name, how wide a matrix makes the rows, its choices, and their moves from each place."""

    kind: str
    name: str
    makes: str
    options: tuple[tuple[str, str], ...]
    moves: Mapping[str, tuple[MoveRow, ...]]


@dataclass(frozen=True)
class PuzzleRow:
    """One puzzle with its words; `told` says what a rank holds at each place."""

    key: str
    name: str
    task: str
    hint: str
    moral: str
    ranks: int
    begins: str
    goal: str
    ends: str
    told: Mapping[str, str]
    steps: tuple[StepRow, ...]
    best_traffic: float
    best_hops: int


def puzzle_rows(present: bool = False) -> list[PuzzleRow]:
    """All ten. A wall has no room to say how wide the rows are."""
    return [_row(puzzle, present) for puzzle in PUZZLES]


@kept
def board(present: bool) -> list[dict[str, Any]]:
    """The same as plain JSON, for the browser."""
    return [asdict(puzzle) for puzzle in puzzle_rows(present)]


def _row(puzzle: Puzzle, present: bool) -> PuzzleRow:
    best, ends = solve(puzzle).best, list(walk(puzzle, puzzle.answer))[-1].after
    assert ends is not None
    steps, told = _steps(puzzle, present)
    name, task, hint, moral = (
        said("puzzles", f"{part}.{puzzle.key}", puzzle) for part in ("name", "task", "hint", "moral")
    )
    return PuzzleRow(
        key=puzzle.key,
        name=name,
        task=task,
        hint=hint,
        moral=moral,
        ranks=puzzle.ranks,
        begins=_place(Place(puzzle.begins, puzzle.width)),
        goal=puzzle.goal,
        ends=_place(ends),
        told=told,
        steps=steps,
        best_traffic=best.traffic_bytes,
        best_hops=best.hops,
    )


def _steps(puzzle: Puzzle, present: bool) -> tuple[tuple[StepRow, ...], Mapping[str, str]]:
    """The steps in order, each with its moves from every place that is reached; all places in words."""
    places, rows = [Place(puzzle.begins, puzzle.width)], []
    told, best = {_place(place): _told(place, present) for place in places}, False
    for step in puzzle.steps:
        best |= step.kind == "best"
        made = {
            place: [move(puzzle, step, place, choice) for choice in step.options or (None,)] for place in places
        }
        reached = sorted({one.after for each in made.values() for one in each if one.after is not None}, key=_place)
        moves = {_place(place): tuple(map(_moved, each)) for place, each in made.items()}
        told |= {_place(place): _told_best(place) if best else _told(place, present) for place in reached}
        rows.append(
            StepRow(
                step.kind,
                _name(step),
                grouped(step.width) if step.width else "",
                tuple(map(_option, step.options)),
                moves,
            )
        )
        places = reached
    return tuple(rows), told


def _moved(made: Move) -> MoveRow:
    after = _place(made.after) if made.after else ""
    return MoveRow(after, made.refusal or "", made.traffic_bytes, made.hops)


def _told(place: Place, present: bool) -> str:
    held = said("puzzles", f"held.{place.held}")
    of = "columns" if place.held == "features" else "rows"
    return held if present else said("puzzles", f"wide.{of}", held=held, width=place.width)


def _told_best(place: Place) -> str:
    """Once each rank has named its best value: its own, those of all ranks, or the one that is left."""
    which = "own" if place.held == "features" else "one" if place.width == BEST else "all"
    return said("puzzles", f"best.{which}")


def _name(step: Step) -> str:
    return said("puzzles", f"step.{step.name or step.kind}")


def _option(choice: Choice) -> tuple[str, str]:
    return choice, said("puzzles", f"choice.{choice}")


def _place(place: Place) -> str:
    return f"{place.held}.{place.width}"
