"""What the puzzles' board is told: every step from every place that can be reached, as core's rules have it."""

from collections.abc import Mapping
from dataclasses import dataclass

from core.course.puzzles.bank import PUZZLES, TOKENS
from core.course.puzzles.board import Choice, Place, Puzzle, Step, move, solve
from runtime.prose import said


@dataclass(frozen=True)
class MoveRow:
    """A step with one choice: the place it leads to, or the refusal; what a rank sends in it."""

    after: str
    refusal: str
    traffic: float
    hops: int


@dataclass(frozen=True)
class StepRow:
    """A step: its name, the labels of its choices, and its moves from each place, one a choice."""

    kind: str
    name: str
    options: tuple[tuple[str, str], ...]
    moves: Mapping[str, tuple[MoveRow, ...]]


@dataclass(frozen=True)
class PuzzleRow:
    """One puzzle with its words."""

    key: str
    name: str
    task: str
    hint: str
    moral: str
    ranks: int
    begins: str
    goal: str
    steps: tuple[StepRow, ...]
    best_traffic: float
    best_hops: int


def puzzle_rows() -> list[PuzzleRow]:
    """All ten."""
    return [_row(puzzle) for puzzle in PUZZLES]


def _row(puzzle: Puzzle) -> PuzzleRow:
    best = solve(puzzle).best
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
        steps=_steps(puzzle),
        best_traffic=best.traffic_bytes,
        best_hops=best.hops,
    )


def _steps(puzzle: Puzzle) -> tuple[StepRow, ...]:
    """The steps in order, each with its moves from every place that some choice before it leads to."""
    places, rows = {Place(puzzle.begins, puzzle.width)}, []
    for step in puzzle.steps:
        reached = set()
        moves = {}
        for place in sorted(places, key=_place):
            made = [move(puzzle, step, place, choice) for choice in step.options or (None,)]
            reached |= {one.after for one in made if one.after is not None}
            moves[_place(place)] = tuple(
                MoveRow(_place(one.after) if one.after else "", one.refusal or "", one.traffic_bytes, one.hops)
                for one in made
            )
        rows.append(StepRow(step.kind, _name(step), tuple(map(_option, step.options)), moves))
        places = reached
    return tuple(rows)


def _name(step: Step) -> str:
    return said("puzzles", f"step.{step.name or step.kind}")


def _option(choice: Choice) -> tuple[str, str]:
    return choice, said("puzzles", f"choice.{choice}")


def _place(place: Place) -> str:
    return f"{place.held}.{place.width}"


def fields() -> Mapping[str, object]:
    """What the page's prose names."""
    return {"puzzles": len(PUZZLES), "tokens": TOKENS}
