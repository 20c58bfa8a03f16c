"""The rules of a puzzle: what every rank holds after each step, what a step refuses, and what a collective sends.

N ranks, T tokens, w the width of the rows at this place, 2 bytes a value: n = T · w · 2 on one rank, whole. A
collective costs what core.collectives.cost says of it as a ring, and an all-to-all as one exchange.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from core.collectives.cost import (
    CollectiveCost,
    direct_all_to_all,
    ring_all_gather,
    ring_all_reduce,
    ring_reduce_scatter,
)
from core.specs import LinkSpec

Held = Literal["whole", "features", "tokens", "parts", "experts"]
"""What the ranks hold of the rows: all of them, each its own columns, each its own rows, a partial sum each, or the
rows that its own experts want."""

Choice = Literal[
    "whole", "outputs", "inputs", "nothing", "all_reduce", "all_gather", "to_features", "to_tokens", "all_to_all"
]
CUTS: tuple[Choice, ...] = ("whole", "outputs", "inputs")
"""How a weight matrix may lie on the ranks."""
COLLECTIVES: tuple[Choice, ...] = ("nothing", "all_reduce", "all_gather", "to_features", "to_tokens", "all_to_all")
"""What may stand in a slot; `to_…` are reduce-scatters, by columns or by rows."""

Refusal = Literal[
    "no_room", "needs_whole", "needs_columns", "sum_first", "norm_row", "norm_room", "all_tokens", "elsewhere",
    "no_sum", "no_gather", "no_exchange", "goal",
]  # fmt: skip

Kind = Literal["matrix", "slot", "activation", "norm", "cut_norm", "attention", "experts", "best"]

_COUNTED = LinkSpec("counted", "counted", latency_s=0.0, bandwidth_bytes_per_s=1.0)
"""Bytes and hops are the same on every link."""

_VALUE_BYTES = 2

BEST = 2
"""What is left of a row when its best value was taken: the value, and where it stands."""


@dataclass(frozen=True)
class Step:
    """One step of a puzzle. A matrix makes rows of `width`; its and a slot's `options` are what may be placed."""

    kind: Kind
    name: str = ""
    width: int = 0
    options: tuple[Choice, ...] = ()


@dataclass(frozen=True)
class Puzzle:
    """What the ranks begin with, the steps, and what they must end with. `answer` is one of the best answers.

    Without `room` no rank can hold a whole matrix.
    """

    key: str
    ranks: int
    tokens: int
    width: int
    begins: Held
    goal: Held
    steps: tuple[Step, ...]
    answer: tuple[Choice, ...]
    room: bool = False


@dataclass(frozen=True)
class Place:
    """Where a walk stands: what is held, and how wide the rows are."""

    held: Held
    width: int


@dataclass(frozen=True)
class Move:
    """One step from one place with one choice: where it leads, or why it is refused, and what it sends."""

    after: Place | None
    refusal: Refusal | None = None
    traffic_bytes: float = 0.0
    hops: int = 0


@dataclass(frozen=True, order=True)
class Score:
    """What one rank sends over all collectives, and how often it waits for a hop: fewer bytes first, then hops."""

    traffic_bytes: float
    hops: int


def move(puzzle: Puzzle, step: Step, place: Place, choice: Choice | None) -> Move:
    """What a step does at a place; `choice` is None where there is none to make."""
    if step.kind == "matrix":
        return _multiplied(puzzle, step, place, choice)
    if step.kind == "slot":
        return _sent(puzzle, place, choice)
    return _computed(puzzle, step, place)


def _multiplied(puzzle: Puzzle, step: Step, place: Place, choice: Choice | None) -> Move:
    if choice == "whole" and not puzzle.room:
        return Move(None, "no_room")
    leads: dict[tuple[Choice | None, Held], Held] = {
        ("whole", "whole"): "whole",
        ("whole", "tokens"): "tokens",
        ("whole", "parts"): "parts",
        ("outputs", "whole"): "features",
        ("inputs", "features"): "parts",
        ("inputs", "whole"): "parts",
    }
    held = leads.get((choice, place.held))
    if held is None:
        return Move(None, "needs_columns" if choice == "inputs" else "needs_whole")
    return Move(Place(held, step.width))


def _sent(puzzle: Puzzle, place: Place, choice: Choice | None) -> Move:
    if choice == "nothing":
        return Move(place)
    leads: dict[tuple[Choice | None, Held], Held] = {
        ("all_reduce", "parts"): "whole",
        ("to_features", "parts"): "features",
        ("to_tokens", "parts"): "tokens",
        ("all_gather", "features"): "whole",
        ("all_gather", "tokens"): "whole",
        ("all_to_all", "tokens"): "experts",
        ("all_to_all", "experts"): "tokens",
    }
    held = leads.get((choice, place.held))
    if held is None:
        refusals: dict[Choice | None, Refusal] = {"all_gather": "no_gather", "all_to_all": "no_exchange"}
        return Move(None, refusals.get(choice, "no_sum"))
    cost = _cost(choice, puzzle.tokens * place.width * _VALUE_BYTES, puzzle.ranks)
    return Move(Place(held, place.width), None, cost.traffic_bytes, cost.steps)


def _cost(choice: Choice | None, payload_bytes: float, ranks: int) -> CollectiveCost:
    """A collective of rows that are `payload_bytes` whole; in an all-to-all a rank has its share of them."""
    if choice == "all_to_all":
        return direct_all_to_all(payload_bytes / ranks, ranks, _COUNTED)
    rings = {"all_reduce": ring_all_reduce, "all_gather": ring_all_gather}
    return rings.get(str(choice), ring_reduce_scatter)(payload_bytes, ranks, _COUNTED)


def _computed(puzzle: Puzzle, step: Step, place: Place) -> Move:
    """A step without a choice: what it makes of each way to hold the rows, or why not."""
    if step.kind == "experts":
        leads: dict[Held, Held] = {"experts": "experts", "whole": "parts"}
        held = leads.get(place.held)
        return Move(None, "elsewhere") if held is None else Move(Place(held, place.width))
    if place.held == "parts":
        return Move(None, "sum_first")
    refused: dict[tuple[Kind, Held], Refusal] = {
        ("norm", "features"): "norm_row",
        ("cut_norm", "features"): "norm_row",
        ("cut_norm", "whole"): "norm_room",
        ("attention", "tokens"): "all_tokens",
    }
    refusal = refused.get((step.kind, place.held))
    if refusal is not None:
        return Move(None, refusal)
    candidates = BEST * (puzzle.ranks if place.held == "features" else 1)
    return Move(Place(place.held, candidates if step.kind == "best" else place.width))


def walk(puzzle: Puzzle, choices: tuple[Choice, ...]) -> Iterator[Move]:
    """Every step's move, to the end or the first refusal; a wrong end is a refusal of its own, `goal`.

    A choice that is missing is refused where it is asked for.
    """
    place, left = Place(puzzle.begins, puzzle.width), iter(choices)
    for step in puzzle.steps:
        made = move(puzzle, step, place, next(left, None) if step.options else None)
        yield made
        if made.after is None:
            return
        place = made.after
    if place.held != puzzle.goal:
        yield Move(None, "goal")


def score(puzzle: Puzzle, choices: tuple[Choice, ...]) -> Score | None:
    """What an answer sends; None where it is none."""
    moves = list(walk(puzzle, choices))
    if any(one.after is None for one in moves):
        return None
    return Score(sum(one.traffic_bytes for one in moves), sum(one.hops for one in moves))


@dataclass(frozen=True)
class Solved:
    """The least score there is, and every answer that has it."""

    best: Score
    answers: tuple[tuple[Choice, ...], ...]


def solve(puzzle: Puzzle) -> Solved:
    """The best answers, found step by step: of all ways to the same place only the cheapest go on.

    Raises ValueError for a puzzle without an answer.
    """
    start = Place(puzzle.begins, puzzle.width)
    ways: dict[Place, tuple[Score, list[tuple[Choice, ...]]]] = {start: (Score(0.0, 0), [()])}
    for step in puzzle.steps:
        reached: dict[Place, tuple[Score, list[tuple[Choice, ...]]]] = {}
        for place, (so_far, answers) in ways.items():
            for choice in step.options or (None,):
                made = move(puzzle, step, place, choice)
                if made.after is None:
                    continue
                total = Score(so_far.traffic_bytes + made.traffic_bytes, so_far.hops + made.hops)
                longer = [(*answer, *([choice] if choice else [])) for answer in answers]
                known = reached.get(made.after)
                if known is None or total < known[0]:
                    reached[made.after] = (total, longer)
                elif not known[0] < total:
                    known[1].extend(longer)
        ways = reached
    ends = [way for place, way in ways.items() if place.held == puzzle.goal]
    if not ends:
        raise ValueError(f"{puzzle.key} has no answer")
    best = min(total for total, _ in ends)
    return Solved(best, tuple(answer for total, answers in ends if total == best for answer in answers))
