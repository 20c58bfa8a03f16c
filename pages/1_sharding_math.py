"""Lab 01, sharding math: one layer cut over ranks, stepped, counted, broken and put together again."""

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from core.sharding_math.drawn import RANKS, known_slips, usual_ranks
from core.sharding_math.examples import Kind
from core.sharding_math.exercise import LEVELS, Level
from core.sharding_math.numerics import PRECISIONS, SUM_ORDERS, SumOrder
from core.sharding_math.rounding import Trial
from core.sharding_math.submission import TASKS
from ui import learner_panel, scenes
from ui.question import Choice, Switch, Text, Whole, ask
from ui.scenes import Page
from ui.sharding_math import charts, figures, rows, words

ONE_LAYER, ONE_STEP, BY_HAND = "one layer", "one step", "by hand"
ROUNDING, TP_SIZES = "rounding", "TP sizes"


@dataclass(frozen=True)
class Question:
    """What lab 01 asks."""

    layer: str = ask("Column", Choice(tuple(rows.KINDS)), "says.layer")
    ranks: int | None = ask(None, Choice(RANKS), "says.ranks_2")
    whole: bool = ask(False, Switch(), "says.all_y_every_rank")
    step: str = ask("", Text())
    count: str = ask(ONE_LAYER, Choice((ONE_LAYER, ONE_STEP, BY_HAND)), "says.count")
    level: Level = ask("worked", Choice(tuple(LEVELS)), "says.level")
    mistake: str = ask("No all-reduce", Choice(tuple(rows.MISTAKES)), "says.mistake")
    figure: str = ask(ROUNDING, Choice((ROUNDING, TP_SIZES)), "says.figure")
    in_features: int = ask(64, Whole(1, 512), "says.inputs_d", name="in")
    out_features: int = ask(64, Whole(1, 512), "says.outputs_f", name="out")
    num_ranks: int = ask(8, Whole(1, 64), "says.ranks_n", name="n")
    dtype: str = ask("bfloat16", Choice(tuple(PRECISIONS), listed=True), "says.format")
    order: SumOrder = ask("ring", Choice(tuple(SUM_ORDERS), listed=True), "says.order_sum")
    task: str = ask("row_parallel", Choice(tuple(TASKS)), "says.draw")


def kind_of(page: Page[Question]) -> Kind:
    """Return the layer that is stepped; a column-parallel one may have its output gathered."""
    kind = rows.KINDS[page.question.layer]
    return "gathered" if kind == "column" and page.question.whole else kind


def ranks_of(page: Page[Question]) -> int:
    return page.question.ranks or usual_ranks(page.scenario)


def trial_of(page: Page[Question]) -> Trial:
    asked = page.question
    return Trial(asked.in_features, asked.out_features, asked.num_ranks, asked.dtype, asked.order)


def fields(page: Page[Question]) -> Mapping[str, object]:
    sizes = kind_of(page), ranks_of(page), page.question.mistake
    return words.fields(page.scenario, *sizes, trial_of(page), figures.tried)


def question(page: Page[Question]) -> None:
    collectives = len(rows.ledger_cells(page.scenario))
    slips, most = known_slips(page.scenario), 10 * page.scenario.model_spec.num_hidden_layers
    if page.ask(collectives, high=most, slips=slips) and collectives:
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


def build(page: Page[Question]) -> None:
    learner_file = learner_panel.file_here()
    if learner_file is None:
        page.say("build.body")
        page.say("learner.off")
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
