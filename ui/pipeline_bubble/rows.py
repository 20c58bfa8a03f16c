"""Lab 04: what the page's bench asks of one run, the rows of its charts, and the fractions it writes by hand."""

from fractions import Fraction
from functools import lru_cache

from core.pipeline_bubble.bubble import (
    FillDrain,
    bubble_fraction,
    counted_bubble,
    fill_drain,
    formulas,
    run_on_ticks,
)
from core.pipeline_bubble.compositions import Compositions
from core.pipeline_bubble.experiments import MOST_MICROBATCHES, Bench, Cheat, Serving, Stuck
from core.pipeline_bubble.layouts import Layout
from core.pipeline_bubble.pairs import Drawn
from core.pipeline_bubble.schedules.actions import Span
from core.pipeline_bubble.schedules.serving import steady_decode
from runtime.kept import kept
from runtime.prose import said
from runtime.rows import Row

STEM = "pipeline_bubble"
NOBODY_WAITS = "nobody waits"
ONE_EARLY = "one stage a tick early"
DEADLOCK = "a deadlock"
WRONG_FORMULA = "a wrong formula"
WRONGS = (NOBODY_WAITS, ONE_EARLY, DEADLOCK, WRONG_FORMULA)


cheat, stuck = lru_cache(maxsize=64)(Cheat), lru_cache(maxsize=8)(Stuck)
"""A wrong run is worked out once for whoever looks at its sizes: the page offers 24 of them, in two ways wrong."""


def fill_drain_run(sizes: FillDrain) -> list[Span]:
    return run_on_ticks(fill_drain(sizes.stages, sizes.microbatches), sizes.stages)


def held_rows(*sides: Drawn) -> list[Row]:
    return [
        Row(name=side.name, rank=rank, held=float(held)) for side in sides for rank, held in enumerate(side.held)
    ]


@kept
def serve_curve(serve: Serving) -> list[Row]:
    """From one in flight to twice what fills the pipe."""
    counts = range(1, max(2 * serve.full, serve.in_flight) + 1)
    settled = [(m, steady_decode(serve.pipe, m)) for m in counts]
    return [
        Row(in_flight=m, tokens_per_tick=float(steady.items_per_time), token_ticks=float(steady.cycle))
        for m, steady in settled
    ]


def layout_rows(compose: Compositions, beside_one: bool = True) -> list[Row]:
    """A row a composition, and one GPU beside them."""
    rows = [*compose.layouts, *([compose.one] if beside_one else [])]
    return [
        Row(
            name=layout.name if layout.tp_size * layout.pp_size > 1 else said(STEM, "compose.one_gpu"),
            detail=said(STEM, _detail_of(layout), layout, sequences=compose.sequences),
            compute_s=layout.compute_s,
            latency_s=layout.latency_s,
            bandwidth_s=layout.bandwidth_s,
            total=said(STEM, "compose.total", layout, speed_up=compose.speed_up(layout)),
        )
        for layout in rows
    ]


def _detail_of(layout: Layout) -> str:
    if layout.pp_size == 1:
        return "compose.detail_wide" if layout.sums_over_network else "compose.detail_flat"
    return "compose.detail_far" if layout.network_handoffs else "compose.detail_near"


def _point(series: str, stages: int, microbatches: int, text: str = "") -> Row:
    return Row(
        series=series,
        stages=stages,
        microbatches=microbatches,
        bubble_fraction=float(bubble_fraction(stages, microbatches)),
        text=text,
    )


def curve(bench: Bench, pin: Bench | None = None) -> list[Row]:
    """The bubble against m on the bench's stages, and on the pinned ones."""
    series = [("now", bench.stages), *([("pinned", pin.stages)] if pin else [])]
    sizes = sorted({round(2 ** (step / 8)) for step in range(81)})
    return [_point(name, stages, m) for name, stages in series for m in sizes]


def curve_marks(bench: Bench, pin: Bench | None = None) -> list[Row]:
    """Where the bench stands, where the budget is met, and where the pin stands."""
    at = bench.budget.at.microbatches
    marks = [_point("now", bench.stages, bench.microbatches, f"m = {bench.microbatches}")]
    if at <= MOST_MICROBATCHES and at != bench.microbatches:
        marks.append(_point("budget", bench.stages, at, f"m = {at}"))
    if pin:
        words = said(STEM, "bench.pin", pin)
        marks.append(_point("pinned", pin.stages, pin.microbatches, words))
    return marks


def formula_rows(sizes: FillDrain) -> list[Row]:
    """The right formula and those it is mistaken for, at the page's sizes."""
    return [
        Row(
            letters=one.letters,
            what=said(STEM, f"formula.{one.code}", one),
            fraction=float(one.fraction),
            value=said(STEM, "formula.value", one),
        )
        for one in formulas(sizes.stages, sizes.microbatches)
    ]


Terms = tuple[tuple[str, str] | str, ...]


@kept
def counted_terms(sizes: FillDrain) -> Terms:
    """The counted bubble as it is written by hand."""
    bubble = counted_bubble(fill_drain_run(sizes), sizes.stages)
    return (
        (said("pipeline_bubble", "says.idle_cells"), said("pipeline_bubble", "says.all_cells")),
        (str(bubble * sizes.cells), str(sizes.cells)),
        _reduced(bubble),
    )


def formula_terms(sizes: FillDrain) -> Terms:
    """The formula with its values put in."""
    p, m = sizes.stages, sizes.microbatches
    return ("p − 1", "m + p − 1"), (f"{p} − 1", f"{m} + {p} − 1"), _reduced(sizes.fraction)


def triangles_terms(sizes: FillDrain) -> Terms:
    """Two triangles of idle cells over the grid, the fraction they reduce to, and its letters."""
    grid = (
        said("pipeline_bubble", "says.idle", triangle=sizes.triangle, triangle_2=sizes.triangle),
        said("pipeline_bubble", "says.cells", stages=sizes.stages, ticks=sizes.ticks),
    )
    return grid, _reduced(sizes.fraction), ("p − 1", "m + p − 1")


def _reduced(fraction: Fraction) -> tuple[str, str]:
    return str(fraction.numerator), str(fraction.denominator)
