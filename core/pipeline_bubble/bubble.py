"""The pipeline bubble: how long p stages stand idle while m microbatches fill the pipe and drain from it.

Forward only, one stage a rank, every stage one tick, links free. A stage waits for its first microbatch and
again after its last; those idle cells are the bubble. It is counted on a simulated run and given by formula,
both as exact fractions, so that equal means equal.

Letters: p stages, m microbatches.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from core.errors import OutOfRangeError
from core.pipeline_bubble.schedules.actions import Action, Placement, Span, exact, whole
from core.pipeline_bubble.schedules.orders import fill_drain
from core.pipeline_bubble.schedules.simulator import Timeline, simulate
from core.pipeline_bubble.schedules.validity import is_valid

__all__ = [
    "Action",
    "Span",
    "bubble_fraction",
    "bubble_overhead",
    "counted_bubble",
    "fill_drain",
    "is_valid",
    "microbatches_for_budget",
    "run_on_ticks",
    "run_without_waiting",
]


def run_on_ticks(actions: Sequence[Action], stages: int) -> list[Span]:
    """The actions on a grid of ticks: each lasts one, and starts once its stage is free and its input is there."""
    return list(timeline_on_ticks(actions, stages))


def run_without_waiting(stages: int, microbatches: int, early_stage: int | None = None) -> list[Span]:
    """A wrong run: `early_stage` and those after it start one tick before their input, or all stages at tick 0.

    It idles less than any run can, and `violations` says where it cheats.
    """
    m = whole("microbatches", microbatches)
    if early_stage is None:
        delays = [0] * whole("stages", stages)
    else:
        delays = [stage - (stage >= whole("early_stage", early_stage)) for stage in range(whole("stages", stages))]
    return [
        Span(Action(stage, "F", microbatch), stage, delay + microbatch, delay + microbatch + 1)
        for stage, delay in enumerate(delays)
        for microbatch in range(m)
    ]


def timeline_on_ticks(actions: Sequence[Action], stages: int) -> Timeline:
    """As `run_on_ticks`, with the makespan and what could not run."""
    return simulate(actions, Placement(whole("stages", stages)))


def counted_bubble(spans: Iterable[Span], stages: int) -> Fraction:
    """Idle cells over all cells, counted on the grid from tick 0 to the last end.

        idle / (p · makespan)

    Raises OutOfRangeError when nothing ran: a grid without cells has no fraction.
    """
    placed = list(spans)
    cells = whole("stages", stages) * max((span.end for span in placed), default=0)
    if not cells:
        raise OutOfRangeError("spans", 0, "one_or_more")
    return 1 - Fraction(sum(span.end - span.start for span in placed)) / cells


def bubble_fraction(stages: int, microbatches: int) -> Fraction:
    """The idle share of all rank time, from the first start to the last end.

        (p - 1) / (m + p - 1)

    Source: Huang et al. 2019, GPipe, section 2.3.
    """
    p, m = whole("stages", stages), whole("microbatches", microbatches)
    return Fraction(p - 1, m + p - 1)


def bubble_overhead(stages: int, microbatches: int) -> Fraction:
    """How much longer the run is than its work alone would be.

        (p - 1) / m

    The other figure that papers call the bubble: idle over ideal, not idle over total.
    Source: Narayanan et al. 2021, Efficient large-scale language model training on GPU clusters, section 2.2.1.
    """
    p, m = whole("stages", stages), whole("microbatches", microbatches)
    return Fraction(p - 1, m)


@dataclass(frozen=True)
class FillDrain:
    """One fill-drain run by its sizes: p rows of m + p - 1 cells, p - 1 idle in each."""

    stages: int
    microbatches: int

    @property
    def wait(self) -> int:
        """Ticks for which each stage stands idle: p - 1, which is the last stage's number as well."""
        return self.stages - 1

    @property
    def ticks(self) -> int:
        """m + p - 1 ticks: every microbatch, and the wait for the first."""
        return self.microbatches + self.wait

    @property
    def cells(self) -> int:
        return self.stages * self.ticks

    @property
    def idle_cells(self) -> int:
        return self.stages * self.wait

    @property
    def triangle(self) -> int:
        """Idle cells of the fill alone, and of the drain."""
        return self.idle_cells // 2

    @property
    def fraction(self) -> Fraction:
        """(p-1)/(m+p-1): idle ticks over all ticks."""
        return bubble_fraction(self.stages, self.microbatches)

    @property
    def overhead(self) -> Fraction:
        """(p-1)/m: idle ticks over those of work."""
        return bubble_overhead(self.stages, self.microbatches)


@dataclass(frozen=True)
class Formula:
    """A formula for the bubble, right or mistaken for it, in letters and worked out."""

    code: Literal["right", "overhead", "one_too_many", "no_drain", "no_microbatches"]
    letters: str
    fraction: Fraction


def formulas(stages: int, microbatches: int) -> list[Formula]:
    """The right one, then those it is mistaken for, each worked for p stages and m microbatches."""
    right, p, m = bubble_fraction(stages, microbatches), stages, microbatches
    return [
        Formula("right", "(p − 1) / (m + p − 1)", right),
        Formula("overhead", "(p − 1) / m", bubble_overhead(p, m)),
        Formula("one_too_many", "p / (m + p)", Fraction(p, m + p)),
        Formula("no_drain", "(p − 1) / 2(m + p − 1)", right / 2),
        Formula("no_microbatches", "(p − 1) / p", Fraction(p - 1, p)),
    ]


def known_slips(sizes: FillDrain) -> dict[str, float]:
    """What the formulas that are mistaken for the right one give, in per cent, by their names in room.md."""
    wrong = formulas(sizes.stages, sizes.microbatches)[1:]
    return {formula.code: 100 * float(formula.fraction) for formula in wrong}


def microbatches_for_budget(stages: int, budget: int | float | str | Fraction, *, under: bool = False) -> int:
    """The fewest microbatches that keep the bubble at `budget` or less, or below it when `under`.

        m ≥ (p - 1)(1 - b) / b

    `budget` is read as it is written: `0.1` is 1/10. In floating point 1 - 63/70 comes out below 0.1, and 63
    would pass for under.
    Raises OutOfRangeError for a budget that no finite m meets.
    """
    p, b = whole("stages", stages), exact("budget", budget)
    if b < 0 or (b == 0 and (p > 1 or under)):
        raise OutOfRangeError("budget", budget, "budget", stages=p, least=0)
    if p == 1 or b >= 1:
        return 1
    least = (p - 1) * (1 - b) / b
    return max(1, least.__floor__() + 1 if under else least.__ceil__())


@dataclass(frozen=True)
class Budget:
    """A share of time that may be idle on p stages, and the fewest microbatches that keep to it."""

    stages: int
    fraction: Fraction

    @property
    def at(self) -> FillDrain:
        """The shortest run within the budget."""
        return FillDrain(self.stages, microbatches_for_budget(self.stages, self.fraction))

    @property
    def under(self) -> FillDrain:
        """The shortest run below it."""
        return FillDrain(self.stages, microbatches_for_budget(self.stages, self.fraction, under=True))

    @property
    def is_met(self) -> bool:
        """Whether a run lands on the budget itself."""
        return self.at.fraction == self.fraction
