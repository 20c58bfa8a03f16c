"""Three of the planner's scenes: the plan shown, all of them beside one another, and decisions worked out."""

from dataclasses import dataclass
from typing import Any

import streamlit as st

from core.placement.cases import case_plans
from ui import tested
from ui.comm_cost.charts import axis_end_ms, bill_bars
from ui.comm_cost.rows import BillRow
from ui.page import Page
from ui.placement import accuracy, answer, bench, charts, load, more, race, rows, words
from ui.placement.bench import BenchPage
from ui.question import Choice, ask


@dataclass(frozen=True)
class CasesQuestion:
    """The decision that is told, of those that were worked out."""

    case: str = ask("TP=8 or TP=4", Choice(tuple(rows.CASE_NAMES)), "says.decision")


def _bars(page: Page[Any], drawn: list[BillRow], reading: str, name: str) -> None:
    table = rows.without_details(drawn) if page.look.present else drawn
    page.figure(bill_bars(table, page.look, axis_end_ms(table)), reading, table, name)


@dataclass(frozen=True)
class Question(bench.BenchQuestion, CasesQuestion, load.LoadQuestion, race.RaceQuestion, accuracy.AccuracyQuestion):
    """Every field of the planner, over all its scenes."""


def plan(page: BenchPage) -> None:
    """Draw the plan shown: on the front of all that fit, what its ranks hold, why it is taken, how it is run."""
    asked = bench.asked_of(page)
    placement, shown = asked.placement, asked.plan
    bench.draw_controls(page, asked)
    bench.say_what_was_brought(page, asked)
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
            chart = charts.latency_against_throughput(dots, marks, target_ms, page.look)
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
        more.say_sizes(page, page.question.size, placement)


def compare(page: BenchPage) -> None:
    """Draw the best plans as bars, the one shown beside the one pinned, and why each other was not taken."""
    asked = bench.asked_of(page)
    placement, shown = asked.placement, asked.plan
    bench.draw_controls(page, asked)
    drawn = rows.bars_of(placement, asked.shown, asked.pinned, 4 if page.look.present else rows.MOST_BARS)
    if drawn:
        _bars(page, drawn, "compare.reading" if placement.refused else "compare.reading_all_fit", "plans")
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


def cases(page: Page[CasesQuestion]) -> None:
    """Draw a decision that was worked out: its ways as bars."""
    page.controls("case")
    case = rows.CASE_NAMES[page.question.case]
    compared = [(one.question.cluster.gpu, one.question.model) for one, _ in case_plans(case)]
    page.errors = tested.columns(*compared)
    _bars(page, rows.case_rows(case), f"cases.reading_{case}", f"case_{case}")
    with st.container(key="aside_case"):
        page.note("cases.note")
    tested.beside_each(compared)
