"""Lab 04's bench: the bubble against m, one run, two schedules on one axis of time, and a pipe that serves."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import streamlit as st

from core.pipeline_bubble.schedules.actions import Span
from core.pipeline_bubble.schedules.families import FAMILIES
from core.pipeline_bubble.schedules.grid import Grid as Cells
from core.pipeline_bubble.schedules.grid import tick_grid
from core.pipeline_bubble.schedules.report import held_over_time
from core.pipeline_bubble.schedules.simulator import Timeline
from ui import inputs
from ui.comm_cost import charts as bills
from ui.figures.frames import frame
from ui.pipeline_bubble import charts
from ui.pipeline_bubble import rows as bubble
from ui.pipeline_bubble import rows_schedules as rows
from ui.players.schedule_player import Grid, Level, Mark, Stop, schedule_player
from ui.scenes import Page

AGAINST_M, RUN, VERSUS, SERVE, COMPOSE = "against m", "the run", "two schedules", "serving", "TP × PP"
UNSAID, SOONER, NO_SOONER = "not said", "sooner", "no sooner"


@dataclass(frozen=True)
class Asked:
    """What the bench's controls say."""

    figure: str
    bench: bubble.Bench
    pin: bubble.Bench | None
    versus: rows.Versus
    path: bool
    serve: rows.Serve
    guess: str
    compose: rows.Compose


def ask(page: Page) -> Asked:
    """Every control of the bench, those of the open figure in sight. All run, so that the URL keeps them.

    The straggler is the scenario's, and its handle may be mounted once: where the open figure asks.
    """
    with page.controls("bench"):
        figure = inputs.choice("Figure", page.key("figure"), [AGAINST_M, RUN, VERSUS, SERVE, COMPOSE], AGAINST_M)
    present = page.look.present
    with page.controls("sizes", *_in_sight(figure in (AGAINST_M, RUN) and not present)):
        bench = _bench(page)
        pin = bubble.Bench.pinned(inputs.memo(page.key("pin")))
        keep = "" if pin else bench.text()
        st.button("Pin" if keep else "Unpin", on_click=inputs.remember, args=(page.key("pin"), keep))
    with page.controls("pair", *_in_sight(figure == VERSUS and not present)):
        versus = _versus(page)
        if figure != SERVE:
            inputs.straggler()
        path = inputs.toggle("Critical path", page.key("path"))
    with page.controls("serve", *_in_sight(figure == SERVE and not present)):
        serve = _serve(page)
        if figure == SERVE:
            inputs.straggler()
        label = "one sequence on this pipe, not on one GPU: its tokens come"
        guess = inputs.choice(label, page.key("latency"), [UNSAID, SOONER, NO_SOONER], UNSAID)
    with page.controls("compose", *_in_sight(figure == COMPOSE and not present)):
        compose = rows.Compose(
            inputs.choice("GPUs", page.key("gpus"), [2, 4, 8, 16], 8),
            inputs.choice("Sequences", page.key("sequences"), [1, 8, 64, 128], 64),
        )
    return Asked(figure, bench, pin, versus, path, serve, guess, compose)


def _in_sight(seen: bool) -> tuple[str, ...]:
    """The scene a row of controls is seen in. On a projector the figure takes the room."""
    return ("bench",) if seen else ()


def _bench(page: Page) -> bubble.Bench:
    return bubble.Bench(
        inputs.whole("Stages p", page.key("bench_p"), 1, bubble.MOST_STAGES, 8),
        inputs.whole("Microbatches m", page.key("bench_m"), 1, bubble.MOST_MICROBATCHES, 16),
        inputs.whole("Budget, % of the time", page.key("budget"), 1, 99, 10),
    )


def _versus(page: Page) -> rows.Versus:
    default = rows.Versus()
    return rows.Versus(
        inputs.select("First", page.key("first"), list(FAMILIES), default.first),
        inputs.select("Second", page.key("second"), list(FAMILIES), default.second),
        inputs.whole("Stages p", page.key("pair_p"), 1, 16, default.stages),
        inputs.whole("Microbatches m", page.key("pair_m"), 1, 64, default.microbatches),
        inputs.whole("Chunks v", page.key("pair_v"), 1, 4, default.chunks),
        inputs.select("F : I : W", page.key("costs"), list(rows.COSTS), default.costs),
        inputs.choice("A hop", page.key("hop"), list(rows.HOPS), default.hop),
        page.scenario.slowdown,
    )


def _serve(page: Page) -> rows.Serve:
    default = rows.Serve()
    return rows.Serve(
        inputs.whole("Stages p", page.key("serve_p"), 2, 16, default.stages),
        inputs.whole("Microbatches in flight", page.key("serve_m"), 1, 32, default.in_flight),
        inputs.choice("A hop", page.key("serve_hop"), list(rows.HOPS), default.hop),
        inputs.choice("Way back", page.key("serve_back"), list(rows.WAYS_BACK), default.way_back),
        page.scenario.slowdown,
    )


def draw(page: Page, asked: Asked) -> None:
    """The figure that is asked for."""
    figures = {AGAINST_M: _against_m, RUN: _run, VERSUS: _two_schedules, SERVE: _serving, COMPOSE: _compositions}
    figures[asked.figure](page, asked)


def _against_m(page: Page, asked: Asked) -> None:
    wanted = bubble.Ask(bench=asked.bench, pin=asked.pin)
    rule, (drawing, margin) = bubble.budget_rule(asked.bench), page.split()
    with drawing:
        curve, marks = frame(bubble.curve(wanted)), frame(bubble.curve_marks(wanted))
        chart = charts.bubble_curve(curve, marks, asked.bench.budget_percent, page.look)
        page.figure(chart, f"bench.reading_{rule}", curve, "bubble_against_m")
    with margin:
        page.note("bench.now", f"bench.budget_{rule}")
        with st.container(key="aside_pin"):
            page.note("bench.pinned" if asked.pin else "bench.unpinned")


def _run(page: Page, asked: Asked) -> None:
    stages, microbatches = asked.bench.stages, asked.bench.microbatches
    run = forward_grid(bubble.run(stages, microbatches), stages)
    schedule_player(run, key="bench_run", alt=page.prose.plain("bench.run"), present=page.look.present)
    page.reading("bench.run")
    wanted = bubble.Ask(stages, microbatches)
    with st.container(key="aside_run"):
        counted, formula, _ = st.columns([330, 400, 350], gap="medium")
        with counted:
            page.note("bench.counted")
            page.equation(*bubble.counted_terms(wanted))
        with formula:
            page.note("bench.formula")
            page.equation(*bubble.formula_terms(wanted))


def _two_schedules(page: Page, asked: Asked) -> None:
    versus = asked.versus
    with page.guarded():
        pair = [(key, versus.run(key)) for key in (versus.first, versus.second)]
        ticks = rows.shared_ticks(*(timeline for _, timeline in pair))
        grids = [
            timeline_grid(
                timeline, ticks, FAMILIES[key].name, rows.longest_chain(versus, timeline) if asked.path else ()
            )
            for key, timeline in pair
        ]
        alt, present = page.prose.plain("bench.versus"), page.look.present
        schedule_player(*grids, key="pair", alt=alt, present=present, start="end", ticks_per_unit=ticks)
        page.reading("bench.versus")
        with st.container(key="aside_held"):
            held = [
                row
                for series, (key, timeline) in zip(("first", "second"), pair, strict=True)
                for row in rows.held_rows(key, series, timeline)
            ]
            table = frame(held)
            page.figure(charts.held_bars(table, page.look), "bench.held", table, "held")
            page.note("bench.strips", "bench.clocks")


def _serving(page: Page, asked: Asked) -> None:
    serve = asked.serve
    timeline = rows.served(serve)
    ticks = rows.shared_ticks(timeline)
    labelled = [_as_sequence(span, serve.in_flight) for span in timeline]
    grid = _grid(tick_grid(labelled, serve.stages, ticks_per_unit=ticks), "stage")
    alt, present = page.prose.plain("bench.serving"), page.look.present
    schedule_player(grid, key="serving", alt=alt, present=present, follow=0, ticks_per_unit=ticks)
    page.reading("bench.serving")
    if asked.guess != UNSAID:
        page.verdict("ok" if asked.guess == NO_SOONER else "off", "bench.latency")
    with st.container(key="aside_serving"):
        left, right = st.columns(2, gap="large")
        table = frame(rows.serve_curve(serve))
        for place, column, name in (
            (left, "throughput", "bench.throughput"),
            (right, "token_time", "bench.token_time"),
        ):
            with place:
                chart = charts.serve_curve(table, column, serve.in_flight, page.look)
                page.figure(chart, name, table[["in_flight", column]], column)
        for place, block in zip(st.columns(2, gap="large"), ("bench.chunks", "bench.starving"), strict=True):
            with place:
                page.note(block)


def _compositions(page: Page, asked: Asked) -> None:
    table = frame(rows.layout_rows(page.scenario, asked.compose, beside_one=not page.look.present))
    chart = bills.bill_bars(table, page.look, bills.axis_end_ms(table))
    page.figure(chart, "bench.compositions", table, "compositions")
    with st.container(key="aside_compositions"):
        page.note("bench.compositions_note")


def _as_sequence(span: Span, in_flight: int) -> Span:
    """The span under its sequence's own number, so that the tokens of one sequence are followed together."""
    return replace(span, action=span.action._replace(microbatch=span.action.microbatch % in_flight))


def forward_grid(spans: Iterable[Span], stages: int, title: str = "", marks: tuple[Mark, ...] = ()) -> Grid:
    """A forward run with one stage a rank, a tick an action."""
    return replace(_grid(tick_grid(spans, stages), "stage"), title=title, marks=marks)


def timeline_grid(timeline: Timeline, ticks: int, title: str, path: Iterable[Span]) -> Grid:
    """Any run, `ticks` to a unit of time, with a path through it and each rank's microbatches held."""
    cells = tick_grid(timeline, timeline.placement.ranks, ticks_per_unit=ticks)
    stops = tuple(Stop(span.rank, int(span.start * ticks), int(span.end * ticks)) for span in path)
    held = tuple(
        tuple(Level(int(step.start * ticks), step.activations / timeline.placement.chunks) for step in steps)
        for steps in held_over_time(timeline)
    )
    return replace(_grid(cells, "rank"), title=title, path=stops, held=held)


def stuck_grid(timeline: Timeline, spare_ticks: int, marks: tuple[Mark, ...]) -> Grid:
    """What ran of a run that waits for itself, and some ticks of nothing after it."""
    ticks = int(timeline.makespan) + spare_ticks
    return replace(_grid(tick_grid(timeline, timeline.placement.ranks, ticks=ticks), "rank"), marks=marks)


def _grid(cells: Cells, word: str) -> Grid:
    ranks, ticks = cells.shape
    return Grid(cells.tobytes(), ranks, ticks, tuple(f"{word} {place}" for place in range(ranks)))
