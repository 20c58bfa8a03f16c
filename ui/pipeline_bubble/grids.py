"""Lab 04's schedules as figures: a run as the player's grid, with its reading and its table."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from html import escape
from itertools import product
from typing import Any

import streamlit as st

from core.pipeline_bubble.bubble import FillDrain
from core.pipeline_bubble.experiments import Cheat, Serving, Stuck
from core.pipeline_bubble.pairs import Drawn
from core.pipeline_bubble.schedules.actions import Span
from core.pipeline_bubble.schedules.grid import Grid as Cells
from core.pipeline_bubble.schedules.grid import tick_grid
from core.pipeline_bubble.schedules.simulator import Timeline
from runtime.kept import kept
from runtime.prose import named, said
from ui import held_axes
from ui.page import Page
from ui.pipeline_bubble.rows import cheat, fill_drain_run, triangles_terms
from ui.players.schedule_player import Grid, Level, Mark, Stop, schedule_player

STUCK_TICKS = 8
"""Ticks drawn after the last action of a run that is stuck, for the words."""
MOST_TABLED = 8192
"""Cells beyond which a run has no table: nobody reads one."""
_KINDS = "FBIW"
_HERO = """<div style="text-align: right"><div class="key-figure" style="font-size: 2.6rem">{}</div>{}</div>"""


def figure(
    page: Page[Any],
    reading: str,
    *grids: Grid,
    key: str,
    ticks_per_unit: int = 1,
    others: Sequence[Grid] = (),
    **options: object,
) -> None:
    """Runs under one playhead, what they show in a sentence, and every cell as a table.

    `others` are what the browser may turn to, the runs among them.
    """
    units = max(grid.ticks for grid in grids) / ticks_per_unit
    span = round(ticks_per_unit * held_axes.span(key, units)) if held_axes.are_held() else 0
    head: dict[str, object] = {"span": span, "ticks_per_unit": ticks_per_unit, "present": page.look.present}
    alt = page.prose.plain(reading)
    schedule_player(*(others or grids), key=key, alt=alt, beside=len(grids), **head, **options)  # type: ignore[arg-type]
    page.reading(reading)
    _as_table(page, grids, key, alt)


def turning(
    page: Page[Any],
    reading: str,
    drawn: Callable[..., Sequence[Grid]],
    sizes: Mapping[str, tuple[Sequence[int], int]],
    **options: object,
) -> None:
    """The grids of the sizes that controls have open, of those that each offers: the browser turns to the others.

    While axes are held they are drawn alone, along them.
    """
    offered, now = [some for some, _ in sizes.values()], [size for _, size in sizes.values()]
    if not held_axes.are_held():
        options["turns"] = {page.key(name): (some.index(size), len(some)) for name, (some, size) in sizes.items()}
        options["others"] = [grid for each in product(*offered) for grid in drawn(*each)]
    figure(page, reading, *drawn(*now), **options)  # type: ignore[arg-type]


def beside_cheating(page: Page[Any], run: Cheat, sizes: Mapping[str, tuple[Sequence[int], int]]) -> None:
    """A run that cheats beside the same run as it is right, and how its actions are named."""
    block = f"break_it.reading_{'early' if run.one_early else 'nobody'}"

    def both(*run_sizes: int) -> Sequence[Grid]:
        return cheating(cheat(FillDrain(*run_sizes), run.one_early))

    turning(page, block, both, sizes, key="broken", start="end", controls=not page.look.present)
    with st.container(key="aside_names"):
        page.say("break_it.names")


def _as_table(page: Page[Any], grids: Sequence[Grid], name: str, alt: str) -> None:
    tabled = [grid for grid in grids if grid.ranks * grid.ticks <= MOST_TABLED]
    if tabled:
        page.as_table(lambda: table(tabled), name, alt)


def at_rest(page: Page[Any], run: FillDrain, key: str) -> None:
    """A whole run as a still, its two triangles counted where there is room for the words."""
    marks: tuple[Mark, ...] = ()
    if run.stages >= 8 and run.ticks <= 60:
        p, text = run.stages, page.prose.plain("question.triangle")
        marks = (Mark("note", 0.757 * p, 0.25 * p, text), Mark("note", 0.243 * p, run.ticks - 0.25 * p, text))
    still, alt = replace(batch(run.stages, run.microbatches), marks=marks), page.prose.plain("question.reading")
    schedule_player(still, key=key, alt=alt, present=page.look.present, start="end", controls=False)
    _as_table(page, [still], key, alt)


def table(grids: Sequence[Grid]) -> list[dict[str, str | None]]:
    """A row a rank and a column a tick: `3`, or `B3` where a run goes back, and a dash where it is idle."""
    rows = []
    for grid in grids:
        title = {"version": grid.title} if grid.title else {}
        cells = memoryview(grid.cells).cast("h").tolist()
        for rank, name in zip(range(grid.ranks), grid.labels, strict=True):
            codes = enumerate(cells[rank * grid.ticks : (rank + 1) * grid.ticks])
            said_of = {said("pipeline_bubble", "says.tick", tick=tick): _said(code) for tick, code in codes}
            rows.append({**title, "row": name, **said_of})
    columns = max(rows, key=len)  # a shorter run has no more to say
    return [{column: row.get(column) for column in columns} for row in rows]


def _said(code: int) -> str:
    kind = _KINDS[code >> 10 & 3]
    return "–" if code < 0 else f"{'' if kind == 'F' else kind}{code & 1023}"


def forward(spans: Iterable[Span], stages: int, title: str = "", marks: tuple[Mark, ...] = ()) -> Grid:
    """A forward run with one stage a rank, a tick an action."""
    return replace(_grid(tick_grid(spans, stages), "stage"), title=title, marks=marks)


@kept
def batch(stages: int, microbatches: int) -> Grid:
    """A batch that fills the stages and drains."""
    return forward(fill_drain_run(FillDrain(stages, microbatches)), stages)


@kept
def cheating(run: Cheat) -> tuple[Grid, Grid]:
    """A run as it is right, and one that does not wait for its inputs, each action that breaks a rule marked."""
    spans = (violation.span for violation in run.broken if violation.span)
    marks = tuple(Mark("wrong", span.rank, float(span.start)) for span in spans)
    right, wrong = batch(run.sizes.stages, run.sizes.microbatches), forward(run.run, run.sizes.stages, marks=marks)
    title = f"break_it.wrong_{'early' if run.one_early else 'nobody'}"
    return (
        replace(right, title=said("pipeline_bubble", "break_it.right")),
        replace(wrong, title=said("pipeline_bubble", title, cheat=run)),
    )


@kept
def loop(stages: int, in_flight: int) -> Grid:
    """Decode from empty stages, a tick a token."""
    return served(Serving(stages, in_flight).from_empty(), in_flight, 1)


def trained(run: Drawn) -> Grid:
    """One of two schedules, with what each rank holds and what the run waited for."""
    held = tuple(tuple(Level(*step) for step in steps) for steps in run.levels)
    path = tuple(Stop(*stop) for stop in run.path)
    return replace(_grid(run.cells, "rank"), title=run.name, path=path, held=held)


def stuck(run: Stuck, notes: Iterable[str]) -> Grid:
    """What ran of a run that waits for itself, and beside each rank what it waits for."""
    timeline, words = run.timeline, list(notes)
    tick = float(timeline.makespan) + STUCK_TICKS / 2
    marks = tuple(
        Mark("sentence", wait.rank + 0.5, tick, text) for wait, text in zip(run.waits, words, strict=True)
    )
    ticks = int(timeline.makespan) + (STUCK_TICKS if words else 0)
    return replace(_grid(tick_grid(timeline, timeline.placement.ranks, ticks=ticks), "rank"), marks=marks)


def served(timeline: Timeline, in_flight: int, ticks: int) -> Grid:
    """Rounds of decode, each span under its sequence's own number, so that a sequence's tokens are followed."""
    labelled = [
        replace(span, action=span.action._replace(microbatch=span.action.microbatch % in_flight))
        for span in timeline
    ]
    return _grid(tick_grid(labelled, timeline.placement.ranks, ticks_per_unit=ticks), "stage")


def _grid(cells: Cells, word: str) -> Grid:
    ranks, ticks = cells.shape
    word = named("pipeline_bubble", word)
    return Grid(cells.tobytes(), ranks, ticks, tuple(f"{word} {rank}" for rank in range(ranks)))


def counted(page: Page[Any], run: FillDrain) -> None:
    """The scene: idle ticks are two triangles, by count and by formula."""
    at_rest(page, run, "counted_run")
    left, right = st.columns([2, 1], vertical_alignment="center")
    with left:
        page.equation(*triangles_terms(run))
    with right:
        st.html(_HERO.format(escape(page.prose.plain("count.share")), escape(page.prose.plain("count.of"))))
    with st.container(key="aside_count"):
        page.reading("count.reading")
        for column, block in zip(
            st.columns(3, gap="medium"), ("count.rows", "count.grid", "count.two"), strict=True
        ):
            with column:
                page.note(block)
