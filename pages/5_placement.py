"""Place a model on a cluster: every plan judged, one taken, and why."""

from collections.abc import Mapping

import streamlit as st

from core.placement.cases import case_plans
from ui import inputs, scenes, tested
from ui.comm_cost.charts import axis_end_ms, bill_bars
from ui.comm_cost.rows import BillRow
from ui.placement import accuracy as placement_accuracy
from ui.placement import answer, charts, more, rows, words
from ui.placement import bench as placement_bench
from ui.placement import load as placement_load
from ui.placement import race as placement_race

page = scenes.open_page("placement", asking=("race",))
asked = placement_bench.ask(page)
placement, shown, look = asked.placement, asked.plan, page.look
load_asked, source = placement_load.ask(page), placement_accuracy.ask(page)
race_load = placement_race.ask(page)
page.errors = tested.columns((asked.question.cluster.gpu, asked.question.model))
with page.controls("cases"):
    case = rows.CASE_NAMES[
        page.control(inputs.choice, "case", "says.decision", list(rows.CASE_NAMES), "TP=8 or TP=4")
    ]


def bars(drawn: list[BillRow], reading: str, name: str) -> None:
    table = rows.without_details(drawn) if look.present else drawn
    page.figure(bill_bars(table, look, axis_end_ms(table)), reading, table, name)


def named() -> Mapping[str, object]:
    """What the prose names. A config that is refused stands alone: no other model's figures under it."""
    if asked.refused_config is not None and page.scene in ("plan", "compare", "load", "race"):
        raise asked.refused_config
    return words.fields(placement, shown, asked.topology)


def plan() -> None:
    placement_bench.say_what_was_brought(page, asked)
    if not placement.fitting:
        st.error(page.prose.text("plan.nothing"))
    is_told = shown is not None and shown.fits
    notes, aside = ("plan.note_itl", "plan.note_ttft"), {"rate": ["plan.note_rate", "plan.note_room"]}
    with page.beside(*(notes if is_told else ()), **(aside if is_told else {})):
        if placement.fitting:
            dots = rows.curve_dots(placement, asked.shown)
            low, high, _ = asked.question.band
            marks = rows.marked("shown", shown, (low, high)) + rows.marked("pinned", asked.pinned, (low, high))
            slo_s = asked.question.demand.slo_itl_s
            target_ms = None if slo_s is None else 1e3 * slo_s
            chart = charts.latency_against_throughput(dots, marks, target_ms, look)
            page.figure(chart, "plan.reading_front", dots, "front")
    with st.container(key="aside_plan"):
        if shown is not None:
            answer.memory(page, asked, shown)
        page.say("plan.assumed")
        st.markdown(words.assumptions(placement))
        page.say("plan.why")
        if asked.shown is not None and placement.fitting and asked.shown != placement.recommended:
            answer.why(placement, asked.shown)
        st.markdown(words.steps(placement))
        page.say("plan.usable")
        if shown is not None and shown.fits:
            answer.to_run(page, asked, shown)
        if not placement.fitting:
            answer.refused(page, placement)
        more.say_sizes(page, asked.sizes, placement)


def compare() -> None:
    drawn = rows.bars_of(placement, asked.shown, asked.pinned, 4 if look.present else rows.MOST_BARS)
    if drawn:
        bars(drawn, "compare.reading" if placement.refused else "compare.reading_all_fit", "plans")
    else:
        page.say("compare.nothing")
    with st.container(key="aside_compare"):
        if shown is not None and asked.pinned is not None:
            page.say("compare.pinned")
            price = asked.question.demand.usd_per_gpu_hour
            page.table(rows.compared(shown, asked.pinned, price), "compare.pinned")
        else:
            page.say("compare.no_pin")
        answer.losers(page, placement)
        answer.refused(page, placement)
    tested.beside_times(asked.question.cluster.gpu, asked.question.model)


def cases() -> None:
    compared = [(one.question.cluster.gpu, one.question.model) for one, _ in case_plans(case)]
    page.errors = tested.columns(*compared)
    bars(rows.case_rows(case), f"cases.reading_{case}", f"case_{case}")
    with st.container(key="aside_case"):
        page.note("cases.note")
    tested.beside_each(compared)


page.play(
    named,
    plan=plan,
    compare=compare,
    cases=cases,
    load=lambda: placement_load.under_load(page, load_asked, asked.question, shown),
    race=lambda: placement_race.scene(page, placement, race_load),
    accuracy=lambda: placement_accuracy.accuracy(page, source, asked.question, shown),
)
