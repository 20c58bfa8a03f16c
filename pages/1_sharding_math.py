"""Lab 01, sharding math: one layer cut over ranks, stepped, counted, broken and put together again."""

from typing import cast

import streamlit as st

from core.sharding_math.exercise import LEVELS, Level
from core.sharding_math.numerics import PRECISIONS, SUM_ORDERS, SumOrder
from core.sharding_math.rounding import Trial
from core.sharding_math.submission import TASKS
from runtime.prose import said
from ui import inputs, learner_panel, scenes
from ui.figures.frames import frame
from ui.sharding_math import charts, figures, rows, words

page = scenes.open_page("sharding_math")
scenario, look = page.scenario, page.look
own_file = learner_panel.file_here()

with page.controls("see"):
    kind = rows.KINDS[
        inputs.choice(said("sharding_math", "says.layer"), page.key("layer"), list(rows.KINDS), "Column")
    ]
    num_ranks = figures.ask_ranks(page.key("ranks"), kind, rows.usual_ranks(scenario))
    inputs.hear(page.key("whole"))
    if kind == "column" and inputs.toggle(said("sharding_math", "says.all_y_every_rank"), page.key("whole")):
        kind = "gathered"
with page.controls("count"):
    counted = inputs.choice(
        said("sharding_math", "says.count"), page.key("count"), ["one layer", "one step", "by hand"], "one layer"
    )
with page.controls("count" if counted == "by hand" else "nowhere", "level"):
    level = cast(
        Level, inputs.choice(said("sharding_math", "says.level"), page.key("level"), list(LEVELS), "worked")
    )
with page.controls("break_it"):
    mistake = inputs.choice(
        said("sharding_math", "says.mistake"), page.key("mistake"), list(rows.MISTAKES), "No all-reduce"
    )
with page.controls("bench"):
    figure = inputs.choice(
        said("sharding_math", "says.figure"), page.key("figure"), ["rounding", "TP sizes"], "rounding"
    )
with page.controls("bench" if figure == "rounding" else "nowhere", "trial"):
    bench = Trial(
        in_features=inputs.whole(said("sharding_math", "says.inputs_d"), page.key("in"), 1, 512, 64),
        out_features=inputs.whole(said("sharding_math", "says.outputs_f"), page.key("out"), 1, 512, 64),
        num_ranks=inputs.whole(said("sharding_math", "says.ranks_n"), page.key("n"), 1, 64, 8),
        dtype=inputs.select(said("sharding_math", "says.format"), page.key("dtype"), list(PRECISIONS), "bfloat16"),
        order=cast(
            SumOrder,
            inputs.select(said("sharding_math", "says.order_sum"), page.key("order"), list(SUM_ORDERS), "ring"),
        ),
    )
with page.controls("build" if own_file else "nowhere", "learner"):
    task = inputs.choice(said("sharding_math", "says.draw"), page.key("task"), list(TASKS), "row_parallel")


def question() -> None:
    collectives = len(rows.ledger_cells(scenario))
    slips = rows.slips(scenario)
    if page.ask(collectives, high=10 * scenario.model_spec.num_hidden_layers, slips=slips) and collectives:
        ledger("question.reading")


def ledger(reading: str) -> None:
    table = frame(rows.ledger_cells(scenario))
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
    if own_file is None:
        page.say("build.body")
        page.say("learner.off")
        return
    st.markdown(learner_panel.heading(own_file, page.prose))
    learner_panel.panel(own_file, task, page.prose, look.present)
    with st.expander(page.prose.plain("build.title")):
        page.say("build.body")


page.play(
    lambda: words.fields(scenario, kind, num_ranks, mistake, bench),
    question=question,
    see=lambda: figures.stepper(page, kind, num_ranks),
    count=count,
    break_it=lambda: figures.mistake(page, rows.MISTAKES[mistake]),
    bench=lambda: figures.rounding(page, bench) if figure == "rounding" else figures.tp_sizes(page),
    build=build,
    engines=lambda: page.say("engines.body"),
    limits=lambda: page.say("limits.body"),
)
