"""Lab 04, the pipeline bubble: your code. The tasks are in README.md.

p stages, m microbatches. Every action is a forward and lasts one tick; stage s runs on rank s.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction

from core.errors import OutOfRangeError
from core.pipeline_bubble.schedules.actions import Action, Span

__all__ = ["OutOfRangeError"]


def fill_drain(stages: int, microbatches: int) -> list[Action]:
    """Every stage takes the microbatches in order: `Action(stage, "F", microbatch)` for each of the p·m pairs."""
    raise NotImplementedError("lab-04, task 1: fill_drain")


def run_on_ticks(actions: Sequence[Action], stages: int) -> list[Span]:
    """When each action runs: `Span(action, rank, start, end)` with `end = start + 1`.

    A stage keeps the order of the list and runs one action at a time. It may start a microbatch once the stage
    before has ended it, and then starts as early as it can. The list may name the stages in any order.
    """
    raise NotImplementedError("lab-04, task 2: run_on_ticks")


def counted_bubble(spans: Iterable[Span], stages: int) -> Fraction:
    """Idle cells over all cells, counted on a grid of p rows from tick 0 to the last end."""
    raise NotImplementedError("lab-04, task 3: counted_bubble")


def bubble_fraction(stages: int, microbatches: int) -> Fraction:
    """The idle share of the time of all stages, in p and m alone."""
    raise NotImplementedError("lab-04, task 4: bubble_fraction")


def bubble_overhead(stages: int, microbatches: int) -> Fraction:
    """Idle time over working time: by how much the run is longer than its work alone."""
    raise NotImplementedError("lab-04, task 5: bubble_overhead")


def microbatches_for_budget(stages: int, budget: float | str | Fraction, *, under: bool = False) -> int:
    """The fewest microbatches whose bubble fraction is at most `budget`, or less than it when `under`.

    `Fraction(str(0.1))` is 1/10; `Fraction(0.1)` is not. Where there are several stages, no number of microbatches
    meets a budget of 0 or below: raise OutOfRangeError("budget", budget, "…").
    """
    raise NotImplementedError("lab-04, task 6: microbatches_for_budget")


def is_valid(spans: Iterable[Span], stages: int, microbatches: int) -> bool:
    """True when every stage runs every microbatch once, after the stage before has, and never two at a time."""
    raise NotImplementedError("lab-04, task 7: is_valid")
