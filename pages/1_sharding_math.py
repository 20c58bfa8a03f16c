"""Lab 01, sharding math: one layer cut over ranks, stepped, counted, broken and put together again."""

from typing import cast

import streamlit as st

from core.sharding.examples import Run
from core.sharding.faults import broken
from core.sharding.numerics import PRECISIONS, SumOrder
from core.units import binary_bytes
from ui import inputs, scenes, stepper_views
from ui.charts import sharding_math as charts
from ui.charts.prediction import prediction_line
from ui.components.block_stepper import block_stepper
from ui.facts import sharding_math as facts
from ui.frames import frame

page = scenes.open_page("sharding_math")
scenario, look = page.scenario, page.look


def ask_ranks(key: str) -> int:
    """A rank count. Sizes that do not divide stay in sight, struck; choosing one says which equation it breaks."""
    struck = facts.struck_ranks()
    places = ", ".join(
        f".st-key-{key} [role=radio]:nth-of-type({facts.RANKS.index(size) + 1}) p" for size in struck
    )
    st.html(f"<style>{places} {{ text-decoration: line-through; opacity: 0.8 }}</style>")
    return inputs.choice("Ranks", key, facts.RANKS, 4, help=f"Struck: {'; '.join(struck.values())}")


with page.controls("see"):
    kind = facts.KINDS[inputs.choice("Layer", page.key("layer"), list(facts.KINDS), "Row")]
    num_ranks = ask_ranks(page.key("ranks"))
with page.controls("break_it"):
    mistake = inputs.choice("Mistake", page.key("mistake"), list(facts.MISTAKES), "All-reduce left out")
with page.controls("bench"):
    bench = facts.Bench(
        in_features=inputs.whole("Inputs, D", page.key("in"), 1, 512, 64),
        out_features=inputs.whole("Outputs, F", page.key("out"), 1, 512, 64),
        num_ranks=inputs.whole("Ranks, N", page.key("n"), 1, 64, 8),
        dtype=inputs.select("Format", page.key("dtype"), list(PRECISIONS), "bfloat16"),
        order=cast(
            SumOrder, inputs.select("Order of the sum", page.key("order"), ["ring", "tree", "rank"], "ring")
        ),
    )


def question() -> None:
    page.say("question.ask")
    high = 10 * scenario.model_spec.num_hidden_layers
    said = page.predict(lambda key: inputs.slide(page.prose.plain("question.label"), key, 0, high, 0), 0)
    truth = len(facts.ledger_cells(scenario)) if said.revealed else None
    line = prediction_line(said.said, truth, look, high=high, unit="", digits=0)
    st.altair_chart(line, theme=None, alt=page.prose.plain("question.label"), key="figure_prediction")
    if truth:
        ledger("question.reading")


def ledger(reading: str) -> None:
    table = frame(facts.ledger_cells(scenario))
    page.figure(charts.ledger_strip(table, look), reading, table, "ledger")


def see() -> None:
    drawn = facts.drawing(kind, num_ranks)
    scale = f"{binary_bytes(facts.payload(scenario))} at scale"
    views = [stepper_views.view(run, page.prose, kind, scale, drawn.fmt) for run in drawn.runs]
    block_stepper(*views, key=f"sharding_{kind}", present=look.present)


def count() -> None:
    figure, margin = page.split()
    with figure:
        if facts.ledger_cells(scenario):
            ledger("count.reading")
            page.equation(*facts.payload_terms(scenario))
            page.equation(*facts.count_terms(scenario))
        else:
            page.say("count.none")
    with margin:
        page.note("count.payload", "count.layer", "count.ends")


def break_it() -> None:
    found = broken(facts.MISTAKES[mistake], facts.BROKEN_RANKS)
    sides = (("break_it.right", found.right), ("break_it.wrong", found.wrong))
    for place, (title, trace) in zip(st.columns(2, gap="large"), sides, strict=True):
        with place:
            page.say(title)
            still = stepper_views.still(Run(trace, found.dense), page.prose.plain(title), found.gap().index)
            block_stepper(still, key=title, present=look.present, start=len(still.board.steps) - 1, controls=False)
    page.reading(f"break_it.reading_{facts.MISTAKES[mistake]}")
    page.note("break_it.note")


def try_out() -> None:
    figure, margin = page.split()
    with figure, page.guarded():
        table = frame(facts.bench_result(bench).rows)
        page.figure(charts.ulps_bars(table, look), "bench.reading", table, "ulps")
    with margin:
        page.note("bench.note", "bench.far")
    page.say("bench.sizes")
    sizes = frame(facts.size_cells(scenario))
    page.figure(charts.size_strip(sizes, look), "bench.sizes_reading", sizes, "tp_sizes")


page.play(
    lambda: facts.fields(scenario, kind, num_ranks, mistake, bench),
    question=question,
    see=see,
    count=count,
    break_it=break_it,
    bench=try_out,
    build=lambda: page.say("build.body"),
    engines=lambda: page.say("engines.body"),
    limits=lambda: page.say("limits.body"),
)
