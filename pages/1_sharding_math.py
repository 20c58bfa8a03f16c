"""Lab 01, sharding math: one layer cut over ranks, stepped, counted, broken and put together again."""

from collections.abc import Mapping

import streamlit as st

from core.sharding_math.drawn import known_slips
from runtime.learner_code import read_submissions
from runtime.prose import said
from ui import learner_panel, scenes, solve
from ui.page import Page
from ui.sharding_math import charts, figures, pictures, rows, words
from ui.sharding_math.question import BY_HAND, ONE_LAYER, PROVED, ROUNDING, Question, kind_of, ranks_of, trial_of


def fields(page: Page[Question]) -> Mapping[str, object]:
    sizes = kind_of(page), ranks_of(page), page.question.mistake
    return words.fields(page.scenario, *sizes, trial_of(page), figures.tried)


def question(page: Page[Question]) -> None:
    collectives = len(rows.ledger_cells(page.scenario))
    slips, most = known_slips(page.scenario), 10 * page.scenario.model_spec.num_hidden_layers
    layers = pictures.cut_layers(page.scenario, most)
    if page.ask(collectives, high=most, slips=slips, picture=layers) and collectives:
        page.draw_layer(page.scenario.tp)
        ledger(page, "question.reading")


def ledger(page: Page[Question], reading: str) -> None:
    table = rows.ledger_cells(page.scenario)
    page.figure(charts.ledger_strip(table, page.look), reading, table, "ledger")


def see(page: Page[Question]) -> None:
    kind = kind_of(page)
    with page.controls("layer"):
        figures.draw_ranks(page, rows.KINDS[page.question.layer])
        if kind in ("column", "gathered"):
            page.control("whole")
    figures.stepper(page, kind, ranks_of(page))
    page.walk("layer", PROVED, step="")


def count(page: Page[Question]) -> None:
    counted = page.question.count
    page.controls("count")
    page.controls(*(["level"] if counted == BY_HAND else []))
    left, margin = page.split()
    with left, page.guarded():
        if counted == ONE_LAYER:
            figures.layer(page)
        elif counted == BY_HAND:
            figures.by_hand(page, page.question.level)
        elif rows.ledger_cells(page.scenario):
            ledger(page, "count.reading")
            page.equation(*rows.payload_terms(page.scenario))
            page.equation(*rows.count_terms(page.scenario))
        else:
            page.say("count.none")
    if counted == BY_HAND or page.scenario.tp == 1:
        return
    with margin:
        page.note("count.payload", "count.layer")
        with st.container(key="aside_ends"):
            page.note("count.gather", "count.ends")


def break_it(page: Page[Question]) -> None:
    page.controls("mistake")
    figures.mistake(page, rows.MISTAKES[page.question.mistake])


def bench(page: Page[Question]) -> None:
    rounds = page.question.figure == ROUNDING
    page.controls("figure")
    page.controls(*(["in_features", "out_features", "num_ranks", "dtype", "order"] if rounds else []))
    figures.rounding(page, trial_of(page)) if rounds else figures.tp_sizes(page)


def solve_here(page: Page[Question]) -> None:
    """The lab's editor and tests, then what the chosen task computed at the last run."""
    page.folded(page.prose.plain("build.title"), "solve_body", lambda: page.say("build.body"))
    rows = {row["task"]: row for row in solve.panel("lab-01", (learner_panel.RANKS,))}
    page.controls("task")
    submitted = read_submissions(rows, learner_panel.RANKS) if rows else ()
    if not learner_panel.draw_submission(submitted, page.question.task, page.prose, page.look.present):
        st.markdown(said("solve", "none"))


def build(page: Page[Question]) -> None:
    learner_file = learner_panel.file_here()
    if learner_file is None and solve.is_offered():
        solve_here(page)
        return
    if learner_file is None:
        page.say("build.body")
        page.say("learner.off")
        solve.say_elsewhere()
        return
    page.controls("task")
    st.markdown(learner_panel.heading(learner_file, page.prose))
    learner_panel.panel(learner_file, page.question.task, page.prose, page.look.present)
    with st.expander(page.prose.plain("build.title")):
        page.say("build.body")


scenes.play(
    *("sharding_math", Question, fields),
    asking=("question",),
    question=question,
    see=see,
    count=count,
    break_it=break_it,
    bench=bench,
    build=build,
)
