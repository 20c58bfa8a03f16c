"""Lab 04's bench: a pipe that serves, the bubble against m, TP × PP; and behind *more* one run and training."""

from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

import streamlit as st

from core.pipeline_bubble.compositions import Compositions
from core.pipeline_bubble.experiments import MOST_MICROBATCHES, MOST_STAGES, Bench, Comparison, Serving
from core.pipeline_bubble.pairs import pair, shared_ticks
from core.pipeline_bubble.schedules.actions import exact
from core.pipeline_bubble.schedules.families import FAMILIES
from core.text.numbers import whole
from runtime import workers
from runtime.kept import kept
from ui import inputs, scenario_bar
from ui.pipeline_bubble import charts, grids, rows, words
from ui.players.schedule_player import Grid
from ui.prose import Prose
from ui.scenes import Page

AGAINST_M, RUN, VERSUS, SERVE, COMPOSE = "against m", "the run", "two schedules", "serving", "TP × PP"
USUAL, MORE = (SERVE, AGAINST_M, COMPOSE), (RUN, VERSUS)
COSTS = ("1 : 1 : 1", "2 : 2 : 1", "2 : 3 : 2")
HOPS = ("0", "1/4", "1/2", "1")
WAYS_BACK = ("0", "1", "2", "4")
AT_ONCE_ACTIONS = 512
"""Of a schedule: up to so many forwards are compared in some 60 ms; 4,096 take a second, beside the server."""


@dataclass(frozen=True)
class Asked:
    figure: str
    bench: Bench
    pin: Bench | None
    versus: Comparison
    path: bool
    serve: Serving
    compose: Compositions


def ask(page: Page) -> Asked:
    """Every control of the bench, those of the open figure in sight. All run, so that the URL keeps them.

    On a projector the figure takes the room. The straggler is the scenario's, and its handle may be mounted once:
    where the open figure asks.
    """
    with page.controls("bench"):
        figure = _figure(page)
    present = page.look.present
    with page.controls("sizes", "bench", when=figure in (AGAINST_M, RUN) and not present):
        bench = _bench(page)
        pin = Bench.pinned(inputs.memo(page.key("pin")))
        keep = "" if pin else bench.text()
        st.button(
            page.label("says.pin" if keep else "says.unpin"),
            on_click=inputs.remember,
            args=(page.key("pin"), keep),
        )
    with page.controls("pair", "bench", when=figure == VERSUS and not present):
        versus = _versus(page)
        if figure != SERVE:
            scenario_bar.straggler()
        path = page.control(inputs.toggle, "path", "says.critical_path")
    with page.controls("served", "bench", when=figure == SERVE and not present):
        serve = _serve(page)
        if figure == SERVE:
            scenario_bar.straggler()
    with page.controls("compose", "bench", when=figure == COMPOSE and not present):
        gpus = page.control(inputs.choice, "gpus", "says.gpus", [2, 4, 8, 16], 8)
        sequences = page.control(inputs.choice, "sequences", "says.sequences", [1, 8, 64, 128], 64)
        compose = Compositions(page.scenario, gpus, sequences)
    return Asked(figure, bench, pin, versus, path, serve, compose)


def _figure(page: Page) -> str:
    """Three figures, and two more for who asks for them; an address that names one of those has asked."""
    region, named = st.container(width="content"), inputs.picked(page.key("figure"), "", MORE) in MORE
    more = page.control(inputs.toggle, "more", "says.more_figures") or named
    with region:
        figure: str = page.control(inputs.choice, "figure", "says.figure", [*USUAL, *MORE * more], USUAL[0])
    return figure


def part(page: Page, name: str, seen: bool) -> AbstractContextManager[object]:
    """A place among a scene's controls for one that only some scenes show. It runs in all of them."""
    return st.container(key=f"{'part' if seen else 'unseen'}_{page.key(name)}", width="content")


def _bench(page: Page) -> Bench:
    return Bench(
        page.control(inputs.whole, "bench_p", "says.stages_p", 1, MOST_STAGES, 8),
        page.control(inputs.whole, "bench_m", "says.microbatches_m", 1, MOST_MICROBATCHES, 16),
        page.control(inputs.whole, "budget", "says.budget_time", 1, 99, 10),
    )


def _versus(page: Page) -> Comparison:
    usual = Comparison()
    first = page.control(inputs.select, "first", "says.first", list(FAMILIES), usual.first)
    second = page.control(inputs.select, "second", "says.second", list(FAMILIES), usual.second)
    sizes = (
        page.control(inputs.whole, "pair_p", "says.stages_p", 1, 16, usual.stages),
        page.control(inputs.whole, "pair_m", "says.microbatches_m", 1, 64, usual.microbatches),
        page.control(inputs.whole, "pair_v", "says.chunks_v", 1, 4, usual.chunks),
    )
    forward, back, weight = map(whole, inputs.select("F : I : W", page.key("costs"), COSTS, COSTS[0]).split(" : "))
    hop = exact("hop", page.control(inputs.choice, "hop", "says.a_hop", HOPS, HOPS[0]))
    return Comparison(first, second, *sizes, (forward, back, weight), hop, page.scenario.slowdown)


def _serve(page: Page) -> Serving:
    usual = Serving()
    return Serving(
        page.control(inputs.whole, "serve_p", "says.stages_p", 2, 16, usual.stages),
        page.control(inputs.whole, "serve_m", "says.microbatches_flight", 1, 32, usual.in_flight),
        exact("hop", page.control(inputs.choice, "serve_hop", "says.a_hop", HOPS, HOPS[0])),
        exact(
            "way_back",
            page.control(inputs.choice, "serve_back", "says.way_back", WAYS_BACK, WAYS_BACK[0]),
        ),
        page.scenario.slowdown,
    )


def draw(page: Page, asked: Asked) -> None:
    page.prose = _with(page.prose, **words.bench_fields(asked.bench, asked.pin, asked.serve))
    figures = {AGAINST_M: _against_m, RUN: _run, VERSUS: _two_schedules, SERVE: _serving, COMPOSE: _compositions}
    figures[asked.figure](page, asked)


def _with(prose: Prose, **fields: object) -> Prose:
    return replace(prose, fields={**prose.fields, **fields})


def _against_m(page: Page, asked: Asked) -> None:
    rule, (drawing, margin) = "exact" if asked.bench.budget.is_met else "between", page.split()
    with drawing:
        curve, marks = rows.curve(asked.bench, asked.pin), rows.curve_marks(asked.bench, asked.pin)
        chart = charts.bubble_curve(curve, marks, float(asked.bench.budget.fraction), page.look)
        page.figure(chart, f"bench.reading_{rule}", curve, "bubble_against_m")
    with margin:
        page.note("bench.now", f"bench.budget_{rule}")
        with st.container(key="aside_pin"):
            page.note("bench.pinned" if asked.pin else "bench.unpinned")


def _run(page: Page, asked: Asked) -> None:
    sizes = asked.bench.run
    grids.figure(page, "bench.run", grids.forward(rows.fill_drain_run(sizes), sizes.stages), key="bench_run")
    with st.container(key="aside_run"):
        counted, formula, _ = st.columns([330, 400, 350], gap="medium")
        with counted:
            page.note("bench.counted")
            page.equation(*rows.counted_terms(sizes))
        with formula:
            page.note("bench.formula")
            page.equation(*rows.formula_terms(sizes))


def _two_schedules(page: Page, asked: Asked) -> None:
    versus = asked.versus
    with page.guarded():
        small = versus.stages * versus.microbatches * versus.chunks <= AT_ONCE_ACTIONS
        compared = pair(versus, asked.path) if small else workers.run(pair, versus, asked.path)
        first, second = compared
        page.prose = _with(page.prose, first=first, second=second)
        drawn = map(grids.trained, compared)
        grids.figure(page, "bench.versus", *drawn, key="pair", start="end", ticks_per_unit=first.ticks)
        with st.container(key="aside_held"):
            held = rows.held_rows(*compared)
            page.figure(charts.held_bars(held, page.look), words.held_block(first, second), held, "held")
            page.note("bench.strips", "bench.clocks")


@kept
def _served(serve: Serving) -> tuple[Grid, int]:
    """A pipe's first rounds, and how many ticks of it are a unit of time."""
    timeline = serve.from_empty()
    ticks = shared_ticks(timeline)
    return grids.served(timeline, serve.in_flight, ticks), ticks


def _serving(page: Page, asked: Asked) -> None:
    serve = asked.serve
    grid, ticks = _served(serve)
    grids.figure(page, "bench.serving", grid, key="serving", follow=0, ticks_per_unit=ticks)
    with st.container(key="aside_serving"):
        curve = rows.serve_curve(serve)
        for region, column, name in zip(
            st.columns(2, gap="large"),
            ("tokens_per_tick", "token_ticks"),
            ("throughput", "token_time"),
            strict=True,
        ):
            with region:
                title = page.prose.plain(f"bench.{name}_axis")
                chart = charts.serve_curve(curve, column, serve.in_flight, title, page.look)
                page.figure(chart, f"bench.{name}", curve, name)
        for region, block in zip(st.columns(2, gap="large"), ("bench.chunks", "bench.starving"), strict=True):
            with region:
                page.note(block)


def _compositions(page: Page, asked: Asked) -> None:
    table = rows.layout_rows(asked.compose, beside_one=not page.look.present)
    page.figure(charts.layout_bars(table, page.look), "bench.compositions", table, "compositions")
    with st.container(key="aside_compositions"):
        page.note("bench.compositions_note")
