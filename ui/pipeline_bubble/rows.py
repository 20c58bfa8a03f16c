"""Lab 04: what the page asks, the runs it draws, right and wrong, and the rows of its charts."""

import re
from dataclasses import dataclass
from fractions import Fraction

from core.pipeline_bubble.bubble import (
    bubble_fraction,
    counted_bubble,
    fill_drain,
    microbatches_for_budget,
    run_on_ticks,
    run_without_waiting,
    slips,
)
from core.pipeline_bubble.schedules.actions import Placement, Span
from core.pipeline_bubble.schedules.orders import mismatched
from core.pipeline_bubble.schedules.paths import waits
from core.pipeline_bubble.schedules.simulator import Timeline, simulate
from core.pipeline_bubble.schedules.validity import Violation, violations
from core.units import percent

NOBODY_WAITS = "nobody waits"
ONE_EARLY = "one stage a tick early"
WRONG_FORMULA = "a wrong formula"
DEADLOCK = "a deadlock"
WRONGS = (NOBODY_WAITS, ONE_EARLY, DEADLOCK, WRONG_FORMULA)
STUCK_TICKS = 8
"""Ticks drawn after the last action of a run that is stuck, for the words."""
MOST_STAGES, MOST_MICROBATCHES = 64, 1024


@dataclass(frozen=True)
class Bench:
    """What the bench asks for."""

    stages: int = 8
    microbatches: int = 16
    budget_percent: int = 10

    @property
    def budget(self) -> Fraction:
        """The share of time that may be idle."""
        return Fraction(self.budget_percent, 100)

    def text(self) -> str:
        """The sizes as they are kept in the address: `8x16`."""
        return f"{self.stages}x{self.microbatches}"

    @classmethod
    def pinned(cls, text: str) -> "Bench | None":
        """The sizes that `text` keeps, or None where it keeps none that the bench could have asked for."""
        found = re.fullmatch(r"(\d{1,2})x(\d{1,4})", text)
        stages, microbatches = (int(number) for number in found.groups()) if found else (0, 0)
        within = 1 <= stages <= MOST_STAGES and 1 <= microbatches <= MOST_MICROBATCHES
        return cls(stages, microbatches) if within else None


@dataclass(frozen=True)
class Ask:
    """What the page asks for."""

    stages: int = 8
    microbatches: int = 16
    wrong: str = NOBODY_WAITS
    bench: Bench = Bench()
    pin: Bench | None = None


@dataclass(frozen=True)
class Note:
    """Words to stand on the grid, centred at a rank and a tick."""

    rank: float
    tick: float
    text: str


def run(stages: int, microbatches: int) -> list[Span]:
    """The fill-drain run."""
    return run_on_ticks(fill_drain(stages, microbatches), stages)


def early_stage(stages: int) -> int:
    """The stage that jumps the gun in the second wrong run: one in the middle, never the first."""
    return max(1, stages // 2 - 1)


def wrong_run(ask: Ask) -> list[Span]:
    """The run that cheats, as the page asks for it."""
    early = early_stage(ask.stages) if ask.wrong == ONE_EARLY else None
    return run_without_waiting(ask.stages, ask.microbatches, early)


def broken(ask: Ask) -> list[Violation]:
    """What the predicate finds in that run."""
    return list(violations(wrong_run(ask), ask.stages, ask.microbatches))


def stuck_run(ask: Ask) -> Timeline:
    """1F1B on all ranks but the last, which runs GPipe: as far as it comes."""
    return simulate(mismatched(ask.stages, ask.microbatches), Placement(ask.stages))


def stuck_notes(timeline: Timeline) -> list[Note]:
    """What each rank waits for, beside the last thing it ran."""
    tick = float(timeline.makespan) + STUCK_TICKS / 2
    return [Note(wait.rank + 0.5, tick, f"{wait.action} waits for {wait.missing}") for wait in waits(timeline)]


def broken_spans(ask: Ask) -> list[Span]:
    """Each span that breaks a rule."""
    return [violation.span for violation in broken(ask) if violation.span]


def triangle_notes(ask: Ask) -> list[Note]:
    """The idle cells of the fill and of the drain, each counted inside its triangle; none where it is too small."""
    p, ticks = ask.stages, ask.microbatches + ask.stages - 1
    if p < 8 or ticks > 60:
        return []
    text = f"{p * (p - 1) // 2} idle"
    return [Note(0.757 * p, 0.25 * p, text), Note(0.243 * p, ticks - 0.25 * p, text)]


def budget_rule(bench: Bench) -> str:
    """`exact` when some number of microbatches gives the budget itself, `between` when none does."""
    at = microbatches_for_budget(bench.stages, bench.budget)
    return "exact" if bubble_fraction(bench.stages, at) == bench.budget else "between"


@dataclass(frozen=True)
class CurvePoint:
    """The bubble at one number of microbatches. `series` is `now` or `pinned`."""

    series: str
    stages: int
    microbatches: int
    bubble_percent: float


@dataclass(frozen=True)
class CurveMark:
    """A point worth pointing at."""

    series: str
    microbatches: int
    bubble_percent: float
    text: str


def _point(series: str, stages: int, microbatches: int) -> CurvePoint:
    return CurvePoint(series, stages, microbatches, 100 * float(bubble_fraction(stages, microbatches)))


def curve(ask: Ask) -> list[CurvePoint]:
    """The bubble against m on the bench's stages, and on the pinned ones."""
    series = [("now", ask.bench.stages), *([("pinned", ask.pin.stages)] if ask.pin else [])]
    sizes = sorted({round(2 ** (step / 8)) for step in range(81)})
    return [_point(name, stages, m) for name, stages in series for m in sizes]


def curve_marks(ask: Ask) -> list[CurveMark]:
    """Where the bench stands, where the budget is met, and where the pin stands."""
    bench, pin = ask.bench, ask.pin
    at = microbatches_for_budget(bench.stages, bench.budget)
    marks = [_mark("now", bench.stages, bench.microbatches, f"m = {bench.microbatches}")]
    if at <= MOST_MICROBATCHES and at != bench.microbatches:
        marks.append(_mark("budget", bench.stages, at, f"m = {at}"))
    if pin:
        marks.append(
            _mark("pinned", pin.stages, pin.microbatches, f"pinned: p = {pin.stages}, m = {pin.microbatches}")
        )
    return marks


def _mark(series: str, stages: int, microbatches: int, text: str) -> CurveMark:
    point = _point(series, stages, microbatches)
    return CurveMark(series, microbatches, point.bubble_percent, text)


@dataclass(frozen=True)
class SlipRow:
    """A formula taken for the bubble, and what it says."""

    formula: str
    what: str
    percent: float
    value: str
    right: bool


def slip_rows(ask: Ask) -> list[SlipRow]:
    """The right formula and the slips, for the page's sizes."""
    return [
        SlipRow(slip.formula, slip.what, 100 * float(slip.fraction), percent(float(slip.fraction)), index == 0)
        for index, slip in enumerate(slips(ask.stages, ask.microbatches))
    ]


Terms = tuple[tuple[str, str] | str, ...]


def counted_terms(ask: Ask) -> Terms:
    """The counted bubble as it is written by hand."""
    bubble = counted_bubble(run(ask.stages, ask.microbatches), ask.stages)
    cells = ask.stages * (ask.microbatches + ask.stages - 1)
    return ("idle cells", "all cells"), (str(bubble * cells), str(cells)), _reduced(bubble)


def formula_terms(ask: Ask) -> Terms:
    """The formula with its values put in."""
    p, m = ask.stages, ask.microbatches
    return ("p − 1", "m + p − 1"), (f"{p} − 1", f"{m} + {p} − 1"), _reduced(bubble_fraction(p, m))


def triangles_terms(ask: Ask) -> Terms:
    """Two triangles of idle cells over the grid, the fraction they reduce to, and its letters."""
    p, m = ask.stages, ask.microbatches
    triangle = p * (p - 1) // 2
    grid = (f"{triangle} + {triangle} idle", f"{p} × {m + p - 1} cells")
    return grid, _reduced(bubble_fraction(p, m)), ("p − 1", "m + p − 1")


def _reduced(fraction: Fraction) -> tuple[str, str]:
    return str(fraction.numerator), str(fraction.denominator)
