"""Lab 04, pipelines: what crosses between stages, a loop of tokens, and a batch that fills and drains."""

from collections.abc import Mapping

import streamlit as st

from core.pipeline_bubble.bubble import known_slips
from core.pipeline_bubble.compositions import Compositions
from core.pipeline_bubble.experiments import Serving
from ui import scenes, solve
from ui.page import Page
from ui.pipeline_bubble import bench as schedule_bench
from ui.pipeline_bubble import charts, grids, rows, words
from ui.pipeline_bubble import learner_panel as schedule_panel
from ui.pipeline_bubble.question import FLOWS, STAGES, Question, cheat_of, draw_sizes, offered, run_of


def fields(page: Page[Question]) -> Mapping[str, object]:
    run = run_of(page)
    flow, stuck = Serving(run.stages, page.question.flow), rows.stuck(run)
    compositions = schedule_bench.compositions_of(page), Compositions(page.scenario, run.stages, run.stages)
    return words.fields(run, flow, cheat_of(page), stuck, *compositions)


def serve(page: Page[Question]) -> None:
    page.data_sheet = "compute"
    draw_sizes(page, "p", "flow")
    sizes = {"p": (STAGES, run_of(page).stages), "flow": (FLOWS, page.question.flow)}
    grids.turning(
        page, "serve.reading", lambda *flow: [grids.loop(*flow)], sizes, key="flow", follow=0, start="end"
    )
    with page.guarded():
        page.notes_beside("aside_flow", "serve.crossing", "serve.alone", "serve.together", gap="medium")


def question(page: Page[Question]) -> None:
    run = run_of(page)
    if page.ask(100 * float(run.fraction), high=100, unit="%", digits=1, slips=known_slips(run)):
        grids.at_rest(page, run, "revealed_run")
        page.reading("question.reading")


def see(page: Page[Question]) -> None:
    draw_sizes(page, "p", "m")
    run, sizes = run_of(page), offered(page)
    grids.turning(page, "see.reading", lambda *run: [grids.batch(*run)], sizes, key="run", follow=6, start="end")
    with st.container(key="aside_equal", horizontal=False):
        for column, block, terms in zip(
            st.columns([330, 400, 350], gap="medium"),
            ("see.counted", "see.formula", "see.equal"),
            (rows.counted_terms(run), rows.formula_terms(run), ()),
            strict=True,
        ):
            with column:
                page.note(block)
                if terms:
                    page.equation(*terms)


def break_it(page: Page[Question]) -> None:
    wrong, run, cheat = page.question.wrong, run_of(page), cheat_of(page)
    draw_sizes(page, *([] if page.look.present else ["p", "m"]), "wrong")
    if wrong == rows.WRONG_FORMULA:
        table = rows.formula_rows(run)
        page.figure(charts.formula_dots(table, page.look), "break_it.reading_formula", table, "slips")
    elif wrong == rows.DEADLOCK:
        stuck = rows.stuck(run)
        block = "break_it.reading_deadlock" if stuck.waits else "break_it.reading_lucky"
        grids.figure(page, block, grids.stuck(stuck, map(words.waiting, stuck.waits)), key="deadlock", start="end")
    else:
        grids.beside_cheating(page, cheat, offered(page))


def count(page: Page[Question]) -> None:
    draw_sizes(page, *([] if page.look.present else ["p", "m"]))
    grids.counted(page, run_of(page))


def bench(page: Page[Question]) -> None:
    if page.question.figure == schedule_bench.COMPOSE:
        page.data_sheet = "prompt"
    schedule_bench.draw_controls(page)
    schedule_bench.draw(page)


def build(page: Page[Question]) -> None:
    learner_file, run = schedule_panel.file_here(), run_of(page)
    if learner_file is None and solve.is_offered():
        page.folded(page.prose.plain("build.title"), "solve_body", lambda: page.say("build.body"))
        schedule_panel.solve_here(run.stages, run.microbatches, page.prose, page.look.present)
        draw_sizes(page, "p", "m")
        return
    if learner_file is None:
        page.say("build.body")
        page.say("learner.off")
        solve.say_elsewhere()
        return
    draw_sizes(page, "p", "m")
    schedule_panel.panel(learner_file, run.stages, run.microbatches, page.prose, page.look.present)
    with st.expander(page.prose.plain("build.title")):
        page.say("build.body")


scenes.play(
    *("pipeline_bubble", Question, fields),
    asking=("question",),
    serve=serve,
    question=question,
    see=see,
    count=count,
    break_it=break_it,
    bench=bench,
    build=build,
)
