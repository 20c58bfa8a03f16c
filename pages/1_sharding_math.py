"""Lab 01, sharding math: one layer cut over ranks, stepped, counted, broken and put together again."""

import streamlit as st

from core.sharding_math.drawn import known_slips, usual_ranks
from core.sharding_math.exercise import LEVELS
from core.sharding_math.numerics import PRECISIONS, SUM_ORDERS
from core.sharding_math.rounding import Trial
from core.sharding_math.submission import TASKS
from ui import address, inputs, learner_panel, scenes
from ui.sharding_math import charts, figures, rows, words

page = scenes.open_page("sharding_math")
scenario, look = page.scenario, page.look
learner_file = learner_panel.file_here()

with page.controls("see"):
    kind = rows.KINDS[page.control(inputs.choice, "layer", "says.layer", list(rows.KINDS), "Column")]
    num_ranks = figures.ask_ranks(page.key("ranks"), kind, usual_ranks(scenario))
    address.hear(page.key("whole"))
    if kind == "column" and page.control(inputs.toggle, "whole", "says.all_y_every_rank"):
        kind = "gathered"
with page.controls("count"):
    counted = page.control(inputs.choice, "count", "says.count", ["one layer", "one step", "by hand"], "one layer")
with page.controls("count", "level", when=counted == "by hand"):
    level = page.control(inputs.choice, "level", "says.level", list(LEVELS), "worked")
with page.controls("break_it"):
    mistake = page.control(inputs.choice, "mistake", "says.mistake", list(rows.MISTAKES), "No all-reduce")
with page.controls("bench"):
    figure = page.control(inputs.choice, "figure", "says.figure", ["rounding", "TP sizes"], "rounding")
with page.controls("bench", "trial", when=figure == "rounding"):
    bench = Trial(
        in_features=page.control(inputs.whole, "in", "says.inputs_d", 1, 512, 64),
        out_features=page.control(inputs.whole, "out", "says.outputs_f", 1, 512, 64),
        num_ranks=page.control(inputs.whole, "n", "says.ranks_n", 1, 64, 8),
        dtype=page.control(inputs.select, "dtype", "says.format", list(PRECISIONS), "bfloat16"),
        order=page.control(inputs.select, "order", "says.order_sum", list(SUM_ORDERS), "ring"),
    )
with page.controls("build" if learner_file else "nowhere", "learner"):
    task = page.control(inputs.choice, "task", "says.draw", list(TASKS), "row_parallel")


def question() -> None:
    collectives = len(rows.ledger_cells(scenario))
    slips = known_slips(scenario)
    if page.ask(collectives, high=10 * scenario.model_spec.num_hidden_layers, slips=slips) and collectives:
        ledger("question.reading")


def ledger(reading: str) -> None:
    table = rows.ledger_cells(scenario)
    page.figure(charts.ledger_strip(table, look), reading, table, "ledger")


def count() -> None:
    left, margin = page.split()
    with left, page.guarded():
        if counted == "one layer":
            figures.layer(page)
        elif counted == "by hand":
            figures.by_hand(page, level)
        elif rows.ledger_cells(scenario):
            ledger("count.reading")
            page.equation(*rows.payload_terms(scenario))
            page.equation(*rows.count_terms(scenario))
        else:
            page.say("count.none")
    if counted == "by hand" or scenario.tp == 1:
        return
    with margin:
        page.note("count.payload", "count.layer")
        with st.container(key="aside_ends"):
            page.note("count.gather", "count.ends")


def build() -> None:
    if learner_file is None:
        page.say("build.body")
        page.say("learner.off")
        return
    st.markdown(learner_panel.heading(learner_file, page.prose))
    learner_panel.panel(learner_file, task, page.prose, look.present)
    with st.expander(page.prose.plain("build.title")):
        page.say("build.body")


page.play(
    lambda: words.fields(scenario, kind, num_ranks, mistake, bench, figures.tried),
    question=question,
    see=lambda: figures.stepper(page, kind, num_ranks),
    count=count,
    break_it=lambda: figures.mistake(page, rows.MISTAKES[mistake]),
    bench=lambda: figures.rounding(page, bench) if figure == "rounding" else figures.tp_sizes(page),
    build=build,
)
