"""Lab 01, sharding math: one layer cut over ranks, stepped, counted, broken and put together again."""

from typing import cast

import streamlit as st

from core.sharding.attempt import TASKS
from core.sharding.examples import Run
from core.sharding.faults import DEAR_ORDERS, broken
from core.sharding.layer_parts import layer_parts
from core.sharding.numerics import PRECISIONS, SumOrder
from core.sharding.rounding import Trial, run_trial
from core.units import binary_bytes
from ui import inputs, learner_panel, scenes, stepper_views
from ui.charts import sharding_math as charts
from ui.charts.prediction import prediction_line
from ui.components.block_stepper import block_stepper
from ui.components.still import still
from ui.drawings import sharding_math as drawings
from ui.facts import sharding_math as facts
from ui.frames import frame
from ui.rows import sharding_math as rows

page = scenes.open_page("sharding_math")
scenario, look = page.scenario, page.look


def ask_ranks(key: str) -> int:
    """A rank count. Sizes that do not divide stay in sight, struck; choosing one says which equation it breaks."""
    struck = rows.struck_ranks(kind)
    places = [f".st-key-{key} [role=radio]:nth-of-type({rows.RANKS.index(size) + 1}) p" for size in struck]
    st.html(f"<style>{', '.join(places)} {{ text-decoration: line-through; opacity: 0.8 }}</style>")
    return inputs.choice(
        "Ranks", key, rows.RANKS, 4, help=f"Struck: {'; '.join(struck.values())}" if struck else None
    )


with page.controls("see"):
    kind = rows.KINDS[inputs.choice("Layer", page.key("layer"), list(rows.KINDS), "Row")]
    num_ranks = ask_ranks(page.key("ranks"))
with page.controls("count"):
    counted = inputs.choice("Count", page.key("count"), ["one layer", "one step"], "one layer")
with page.controls("break_it"):
    mistake = inputs.choice("Mistake", page.key("mistake"), list(rows.MISTAKES), "No all-reduce")
with page.controls("bench"):
    figure = inputs.choice("Figure", page.key("figure"), ["rounding", "TP sizes"], "rounding")
with page.controls("bench" if figure == "rounding" else "nowhere", "trial"):
    bench = Trial(
        in_features=inputs.whole("Inputs, D", page.key("in"), 1, 512, 64),
        out_features=inputs.whole("Outputs, F", page.key("out"), 1, 512, 64),
        num_ranks=inputs.whole("Ranks, N", page.key("n"), 1, 64, 8),
        dtype=inputs.select("Format", page.key("dtype"), list(PRECISIONS), "bfloat16"),
        order=cast(
            SumOrder, inputs.select("Order of the sum", page.key("order"), ["ring", "tree", "rank"], "ring")
        ),
    )
with page.controls("build" if learner_panel.file_here() else "nowhere", "learner"):
    task = inputs.choice("Draw", page.key("task"), list(TASKS), "row_parallel")


def question() -> None:
    page.say("question.ask")
    high = 10 * scenario.model_spec.num_hidden_layers
    said = page.predict(lambda key: inputs.slide(page.prose.plain("question.label"), key, 0, high, 0), 0)
    truth = len(rows.ledger_cells(scenario)) if said.revealed else None
    line = prediction_line(said.said, truth, look, high=high, unit="", digits=0)
    st.altair_chart(line, theme=None, alt=page.prose.plain("question.label"), key="figure_prediction")
    if truth:
        ledger("question.reading")


def ledger(reading: str) -> None:
    table = frame(rows.ledger_cells(scenario))
    page.figure(charts.ledger_strip(table, look), reading, table, "ledger")


def see() -> None:
    drawn = rows.drawing(kind, num_ranks)
    scale = f"{binary_bytes(rows.payload(scenario))} at scale"
    views = [stepper_views.view(run, page.prose, kind, scale, drawn.fmt) for run in drawn.runs]
    block_stepper(*views, key=f"sharding_{kind}", present=look.present)


def layer_diagram() -> None:
    parts = layer_parts(scenario.model_spec, scenario.tp, scenario.batch)
    alt = page.prose.plain("count.layer_reading")
    st.html("<style>.st-key-scroll_layer { overflow-x: auto } .st-key-layer_diagram { min-width: 600px }</style>")
    with st.container(key="scroll_layer"):
        still(drawings.layer_diagram(parts, scenario.tp, look.palette, alt), key="layer_diagram")
    page.reading("count.layer_reading")
    with st.expander("The figure as a table"):
        st.dataframe(frame(rows.layer_rows(parts)), hide_index=True, alt=alt)


def count() -> None:
    left, margin = page.split()
    with left, page.guarded():
        if counted == "one layer":
            layer_diagram()
        elif rows.ledger_cells(scenario):
            ledger("count.reading")
            page.equation(*rows.payload_terms(scenario))
            page.equation(*rows.count_terms(scenario))
        else:
            page.say("count.none")
    with margin:
        page.note("count.payload", "count.layer")
        with st.container(key="aside_ends"):
            page.note("count.ends")


def break_it() -> None:
    name = rows.MISTAKES[mistake]
    found, is_dear = broken(name, rows.BROKEN_RANKS), name in DEAR_ORDERS
    sides = (("break_it.right", found.right), ("break_it.dear" if is_dear else "break_it.wrong", found.wrong))
    for place, (title, trace) in zip(st.columns(2, gap="large"), sides, strict=True):
        with place:
            page.say(title)
            run, due = Run(trace, found.dense), len(found.right.collectives)
            view = stepper_views.still(run, page.prose.plain(title), found.gap().index, due)
            block_stepper(view, key=f"{title}_{name}", present=look.present, start=-1, controls=False)
    page.reading(f"break_it.reading_{name}")
    page.note("break_it.note_dear" if is_dear else "break_it.note_wrong")


def rounding() -> None:
    left, margin = page.split()
    with left, page.guarded():
        table = frame(run_trial(bench).rows)
        page.figure(charts.ulps_bars(table, look), "bench.reading", table, "ulps")
    with margin:
        page.note("bench.note", "bench.far")


def tp_sizes() -> None:
    table = frame(rows.size_cells(scenario))
    page.figure(charts.size_strip(table, look), "bench.sizes_reading", table, "tp_sizes")


def build() -> None:
    path = learner_panel.file_here()
    if path is None:
        page.say("build.body")
        page.say("learner.off")
        return
    st.markdown(learner_panel.heading(path, page.prose))
    learner_panel.panel(path, task, page.prose, look.present)
    with st.expander(page.prose.plain("build.title")):
        page.say("build.body")


page.play(
    lambda: facts.fields(scenario, kind, num_ranks, mistake, bench),
    question=question,
    see=see,
    count=count,
    break_it=break_it,
    bench=rounding if figure == "rounding" else tp_sizes,
    build=build,
    engines=lambda: page.say("engines.body"),
    limits=lambda: page.say("limits.body"),
)
