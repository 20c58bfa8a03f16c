"""Lab 04's bench: a pipe that serves, the bubble against m, TP × PP; and behind *more* one run and training."""

from dataclasses import dataclass

import streamlit as st

from core.pipeline_bubble.compositions import Compositions
from core.pipeline_bubble.experiments import MOST_MICROBATCHES, MOST_STAGES, Bench, Comparison, Serving
from core.pipeline_bubble.pairs import pair, shared_ticks
from core.pipeline_bubble.schedules.actions import exact
from core.pipeline_bubble.schedules.families import FAMILIES
from core.text.numbers import whole
from runtime import workers
from runtime.kept import kept
from ui import scenario_bar
from ui.page import Page
from ui.pipeline_bubble import charts, grids, rows, words
from ui.players.schedule_player import Grid
from ui.question import Choice, Switch, Text, Whole, ask

AGAINST_M, RUN, VERSUS, SERVE, COMPOSE = "against m", "the run", "two schedules", "serving", "TP × PP"
USUAL, MORE = (SERVE, AGAINST_M, COMPOSE), (RUN, VERSUS)
COSTS = ("1 : 1 : 1", "2 : 2 : 1", "2 : 3 : 2")
HOPS = ("0", "1/4", "1/2", "1")
WAYS_BACK = ("0", "1", "2", "4")
AT_ONCE_ACTIONS = 512
"""Of a schedule: up to so many forwards are compared in some 60 ms; 4,096 take a second, beside the server."""


@dataclass(frozen=True)
class BenchQuestion:
    """The sizes of a run, a pair of schedules, a pipe that serves and the GPUs of its layouts."""

    figure: str = ask(SERVE, Choice((*USUAL, *MORE)), "says.figure")
    more: bool = ask(False, Switch(), "says.more_figures")
    bench_p: int = ask(8, Whole(1, MOST_STAGES), "says.stages_p")
    bench_m: int = ask(16, Whole(1, MOST_MICROBATCHES), "says.microbatches_m")
    budget: int = ask(10, Whole(1, 99), "says.budget_time")
    pin: str = ask("", Text())
    first: str = ask(Comparison().first, Choice(tuple(FAMILIES), listed=True), "says.first")
    second: str = ask(Comparison().second, Choice(tuple(FAMILIES), listed=True), "says.second")
    pair_p: int = ask(Comparison().stages, Whole(1, 16), "says.stages_p")
    pair_m: int = ask(Comparison().microbatches, Whole(1, 64), "says.microbatches_m")
    pair_v: int = ask(Comparison().chunks, Whole(1, 4), "says.chunks_v")
    costs: str = ask(COSTS[0], Choice(COSTS, listed=True))
    hop: str = ask(HOPS[0], Choice(HOPS), "says.a_hop")
    path: bool = ask(False, Switch(), "says.critical_path")
    serve_p: int = ask(Serving().stages, Whole(2, 16), "says.stages_p")
    serve_m: int = ask(Serving().in_flight, Whole(1, 32), "says.microbatches_flight")
    serve_hop: str = ask(HOPS[0], Choice(HOPS), "says.a_hop")
    serve_back: str = ask(WAYS_BACK[0], Choice(WAYS_BACK), "says.way_back")
    gpus: int = ask(8, Choice((2, 4, 8, 16)), "says.gpus")
    sequences: int = ask(64, Choice((1, 8, 64, 128)), "says.sequences")


BenchPage = Page[BenchQuestion]


def bench_of(page: BenchPage) -> Bench:
    """Return the sizes of one run, and the bubble it may have."""
    return Bench(page.question.bench_p, page.question.bench_m, page.question.budget)


def comparison_of(page: BenchPage) -> Comparison:
    """Return the two schedules that are compared."""
    asked = page.question
    forward, back, weight = map(whole, asked.costs.split(" : "))
    sizes, hop = (asked.pair_p, asked.pair_m, asked.pair_v), exact("hop", asked.hop)
    return Comparison(asked.first, asked.second, *sizes, (forward, back, weight), hop, page.scenario.slowdown)


def serving_of(page: BenchPage) -> Serving:
    """Return the pipe that serves."""
    asked = page.question
    hops = exact("hop", asked.serve_hop), exact("way_back", asked.serve_back)
    return Serving(asked.serve_p, asked.serve_m, *hops, page.scenario.slowdown)


def compositions_of(page: BenchPage) -> Compositions:
    """Return the layouts of so many GPUs."""
    return Compositions(page.scenario, page.question.gpus, page.question.sequences)


def draw_controls(page: BenchPage) -> None:
    """Draw the choice of a figure and, except on a wall, the controls of the open one."""
    figure = page.question.figure
    with page.controls():
        has_more = page.question.more or figure in MORE
        page.control("figure", options=[*USUAL, *MORE * has_more])
        page.control("more")
    with page.controls():
        if not page.look.present:
            _ASKED[figure](page)


def _ask_sizes(page: BenchPage) -> None:
    for name in ("bench_p", "bench_m", "budget"):
        page.control(name)
    is_pinned = Bench.pinned(page.question.pin) is not None
    label, keep = ("says.unpin", "") if is_pinned else ("says.pin", bench_of(page).text())
    st.button(page.label(label), on_click=page.write, kwargs={"pin": keep})


def _ask_pair(page: BenchPage) -> None:
    for name in ("first", "second", "pair_p", "pair_m", "pair_v"):
        page.control(name)
    page.control("costs", "F : I : W")
    page.control("hop")
    scenario_bar.draw_straggler()
    page.control("path")


def _ask_pipe(page: BenchPage) -> None:
    for name in ("serve_p", "serve_m", "serve_hop", "serve_back"):
        page.control(name)
    scenario_bar.draw_straggler()


def _ask_gpus(page: BenchPage) -> None:
    for name in ("gpus", "sequences"):
        page.control(name)


_ASKED = {AGAINST_M: _ask_sizes, RUN: _ask_sizes, VERSUS: _ask_pair, SERVE: _ask_pipe, COMPOSE: _ask_gpus}


def draw(page: BenchPage) -> None:
    """Draw the figure that is open on the bench, with its fields."""
    pin = Bench.pinned(page.question.pin)
    page.fill(words.bench_fields(bench_of(page), pin, serving_of(page)))
    figures = {AGAINST_M: _against_m, RUN: _run, VERSUS: _two_schedules, SERVE: _serving, COMPOSE: _compositions}
    figures[page.question.figure](page)


def _against_m(page: BenchPage) -> None:
    asked, pin = bench_of(page), Bench.pinned(page.question.pin)
    rule, (drawing, margin) = "exact" if asked.budget.is_met else "between", page.split()
    with drawing:
        curve, marks = rows.curve(asked, pin), rows.curve_marks(asked, pin)
        chart = charts.bubble_curve(curve, marks, float(asked.budget.fraction), page.look)
        page.figure(chart, f"bench.reading_{rule}", curve, "bubble_against_m")
    with margin:
        page.note("bench.now", f"bench.budget_{rule}")
        with st.container(key="aside_pin"):
            page.note("bench.pinned" if pin else "bench.unpinned")


def _run(page: BenchPage) -> None:
    sizes = bench_of(page).run
    grids.figure(
        page, "bench.run", grids.forward(rows.fill_drain_run(sizes), sizes.stages), key="bench_run", start="end"
    )
    with st.container(key="aside_run"):
        counted, formula, _ = st.columns([330, 400, 350], gap="medium")
        with counted:
            page.note("bench.counted")
            page.equation(*rows.counted_terms(sizes))
        with formula:
            page.note("bench.formula")
            page.equation(*rows.formula_terms(sizes))


def _two_schedules(page: BenchPage) -> None:
    versus, path = comparison_of(page), page.question.path
    with page.guarded():
        small = versus.stages * versus.microbatches * versus.chunks <= AT_ONCE_ACTIONS
        compared = pair(versus, path) if small else workers.run(pair, versus, path)
        first, second = compared
        page.fill({"first": first, "second": second})
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


def _serving(page: BenchPage) -> None:
    serve = serving_of(page)
    grid, ticks = _served(serve)
    grids.figure(page, "bench.serving", grid, key="serving", follow=0, start="end", ticks_per_unit=ticks)
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


def _compositions(page: BenchPage) -> None:
    table = rows.layout_rows(compositions_of(page), beside_one=not page.look.present)
    page.figure(charts.layout_bars(table, page.look), "bench.compositions", table, "compositions")
    with st.container(key="aside_compositions"):
        page.note("bench.compositions_note")
