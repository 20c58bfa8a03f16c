"""Lab 04, pipelines: what crosses between stages, a loop of tokens, and a batch that fills and drains."""

from collections.abc import Sequence

import streamlit as st

from core.pipeline_bubble.bubble import FillDrain, known_slips
from core.pipeline_bubble.compositions import Compositions
from core.pipeline_bubble.experiments import Serving
from ui import inputs, scenes
from ui.pipeline_bubble import bench as schedule_bench
from ui.pipeline_bubble import charts, grids, rows, words
from ui.pipeline_bubble import learner_panel as schedule_panel
from ui.players.schedule_player import Grid

page = scenes.open_page("pipeline_bubble")
look = page.look
learner_file = schedule_panel.file_here()
usual = page.scenario.pp if page.scenario.pp in (2, 4, 16) else 8
sized = ["serve", "see", *([] if look.present else ["count"]), "break_it", *(["build"] if learner_file else [])]
all_stages, all_flows, all_microbatches = [2, 4, 8, 16], [1, 2, 4, 8, 16], [1, 8, 16, 32, 63, 64]
with page.controls(*sized):
    with schedule_bench.part(page, "p", page.scene != "break_it" or not look.present):
        stages = page.control(inputs.choice, "p", "says.stages_p", all_stages, usual)
    with schedule_bench.part(page, "flow", page.scene == "serve"):
        in_flight = page.control(inputs.choice, "flow", "says.sequences_flight", all_flows, 1)
    with schedule_bench.part(page, "m", page.scene != "serve" and (page.scene != "break_it" or not look.present)):
        microbatches = page.control(inputs.choice, "m", "says.microbatches_m", all_microbatches, 16)
    with schedule_bench.part(page, "wrong", page.scene == "break_it"):
        wrong = page.control(inputs.choice, "wrong", "says.what_goes_wrong", list(rows.WRONGS), rows.NOBODY_WAITS)
asked = schedule_bench.ask(page)
run, flow = FillDrain(stages, microbatches), Serving(stages, in_flight)
cheat, stuck = rows.cheat(run, wrong == rows.ONE_EARLY), rows.stuck(run)

if page.scene == "serve":
    page.data_sheet = "compute"
elif page.scene == "bench" and asked.figure == schedule_bench.COMPOSE:
    page.data_sheet = "prompt"


def serve() -> None:
    sizes = {"p": (all_stages, stages), "flow": (all_flows, in_flight)}
    grids.turning(page, "serve.reading", lambda *flow: [grids.loop(*flow)], sizes, key="flow", follow=0)
    with page.guarded():
        page.notes_beside("aside_flow", "serve.crossing", "serve.alone", "serve.together", gap="medium")


def question() -> None:
    if page.ask(100 * float(run.fraction), high=100, unit="%", digits=1, slips=known_slips(run)):
        grids.at_rest(page, run, "revealed_run")
        page.reading("question.reading")


def see() -> None:
    sizes = {"p": (all_stages, stages), "m": (all_microbatches, microbatches)}
    grids.turning(page, "see.reading", lambda *run: [grids.batch(*run)], sizes, key="run", follow=6)
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


def break_it() -> None:
    if wrong == rows.WRONG_FORMULA:
        table = rows.formula_rows(run)
        page.figure(charts.formula_dots(table, look), "break_it.reading_formula", table, "slips")
    elif wrong == rows.DEADLOCK:
        block = "break_it.reading_deadlock" if stuck.waits else "break_it.reading_lucky"
        grids.figure(page, block, grids.stuck(stuck, map(words.waiting, stuck.waits)), key="deadlock", start="end")
    else:
        block = f"break_it.reading_{'early' if cheat.one_early else 'nobody'}"
        sizes = {"p": (all_stages, stages), "m": (all_microbatches, microbatches)}

        def cheats(*run: int) -> Sequence[Grid]:
            return grids.cheating(rows.cheat(FillDrain(*run), cheat.one_early))

        grids.turning(page, block, cheats, sizes, key="broken", start="end", controls=not look.present)


def build() -> None:
    if learner_file is not None:
        schedule_panel.panel(learner_file, stages, microbatches, page.prose, look.present)
    with st.expander(page.prose.plain("build.title")) if learner_file else st.container():
        page.say("build.body")
    if learner_file is None:
        page.say("learner.off")


page.play(
    lambda: words.fields(run, flow, cheat, stuck, asked.compose, Compositions(page.scenario, stages, stages)),
    serve=serve,
    question=question,
    see=see,
    count=lambda: grids.counted(page, run),
    break_it=break_it,
    bench=lambda: schedule_bench.draw(page, asked),
    build=build,
)
