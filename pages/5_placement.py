"""Place a model on a cluster: every plan judged, one taken, and why."""

import streamlit as st

from core.evidence.accuracy import decode_band
from core.placement.planner import Plan
from core.placement.serve_flags import remarks, serve_command
from core.placement.trace import decisions, why_it_lost
from runtime.prose import worded
from ui import inputs, scenes
from ui.comm_cost.charts import axis_end_ms, bill_bars
from ui.comm_cost.rows import BillRow
from ui.figures.frames import frame
from ui.placement import accuracy as placement_accuracy
from ui.placement import bench as placement_bench
from ui.placement import charts, rows
from ui.placement import load as placement_load
from ui.placement.fields import fields
from ui.prose import escape

page = scenes.open_page("placement")
asked = placement_bench.ask(page)
placement, shown, look = asked.placement, asked.plan, page.look
load_asked, source = placement_load.ask(page), placement_accuracy.ask(page)
with page.controls("cases"):
    case = rows.CASE_NAMES[inputs.choice("Decision", page.key("case"), list(rows.CASE_NAMES), "TP=8 or TP=4")]


def bars(drawn: list[BillRow], reading: str, name: str) -> None:
    table = frame(rows.without_details(drawn) if look.present else drawn)
    page.figure(bill_bars(table, look, axis_end_ms(table)), reading, table, name)


def plan() -> None:
    placement_bench.say_what_was_brought(page, asked)
    if not placement.fitting:
        st.error(page.prose.text("plan.nothing"))
    figure, margin = page.split()
    with figure:
        if placement.fitting:
            dots = frame(rows.curve_dots(placement, asked.shown))
            low, high, _ = decode_band(asked.question.cluster.gpu, asked.question.model)
            marks = rows.marked("shown", shown, (low, high)) + rows.marked("pinned", asked.pinned, (low, high))
            slo_s = asked.question.demand.slo_itl_s
            target_ms = None if slo_s is None else 1e3 * slo_s
            chart = charts.latency_against_throughput(dots, frame(marks, rows.MarkedPlan), target_ms, look)
            page.figure(chart, "plan.reading_front", dots, "front")
    with margin:
        if shown is not None and shown.fits:
            page.note("plan.note_itl", "plan.note_ttft")
            with st.container(key="aside_rate"):
                page.note("plan.note_rate", "plan.note_room")
    with st.container(key="aside_plan"):
        if shown is not None:
            memory(shown)
        page.say("plan.why")
        if asked.shown is not None and placement.fitting and asked.shown != placement.recommended:
            st.markdown(f"**{_name(asked.shown)}** {escape(worded(why_it_lost(placement, asked.shown)))}")
        st.markdown("\n".join(f"1. {escape(worded(reason))}" for reason in decisions(placement)))
        page.say("plan.usable")
        if shown is not None and shown.fits:
            to_run(shown)
        if not placement.fitting:
            refused()


def memory(taken: Plan) -> None:
    """What one plan's ranks hold, and what does not fit."""
    if taken.ranks:
        parts = frame(rows.memory_parts(taken))
        labels = frame(rows.memory_labels(taken, asked.question.budget.usable_bytes))
        page.figure(charts.memory_bars(parts, labels, look), "plan.reading_memory", parts, "memory")
    if taken.broken and placement.fitting:
        st.error(escape(worded(taken.broken)))


def to_run(taken: Plan) -> None:
    """What a plan pays its wires, and the command that runs it."""
    page.say("plan.bill")
    page.say("plan.flags")
    st.code(serve_command(asked.question, taken), language="bash")
    st.markdown(" ".join(escape(worded(note)) for note in remarks(asked.question, taken)))


def compare() -> None:
    drawn = rows.bars_of(placement, asked.shown, asked.pinned, 4 if look.present else rows.MOST_BARS)
    if drawn:
        all_fit = len(placement.fitting) == len(placement.plans)
        bars(drawn, "compare.reading_all_fit" if all_fit else "compare.reading", "plans")
    else:
        page.say("compare.nothing")
    with st.container(key="aside_compare"):
        if shown is not None and asked.pinned is not None:
            page.say("compare.pinned")
            price = asked.question.demand.usd_per_gpu_hour
            table = frame(rows.compared(shown, asked.pinned, price))
            st.dataframe(table, hide_index=True, height="content", alt=page.prose.plain("compare.pinned"))
        else:
            page.say("compare.no_pin")
        losers()
        refused()


def losers() -> None:
    """The plans that fit and were not taken, each with its reason."""
    lost = rows.lost(placement)
    if lost:
        page.say("compare.lost")
        kept = lost[: rows.MOST_LOST]
        st.markdown(
            "\n".join(f"- **{_name(index)}** {escape(worded(why_it_lost(placement, index)))}" for index in kept)
        )
    if len(lost) > rows.MOST_LOST:
        page.say("compare.more_lost")


def refused() -> None:
    """The plans that are refused, in grey, with what each breaks."""
    broken = [plan for plan in placement.plans if not plan.fits]
    if broken:
        page.say("compare.refused")
        kept = broken[: rows.MOST_REFUSED]
        lines = (f"- :gray[~~{escape(plan.layout.name)}~~ {escape(worded(plan.reason))}]" for plan in kept)
        st.markdown("\n".join(lines))
    if len(broken) > rows.MOST_REFUSED:
        page.say("compare.more_refused")


def _name(index: int) -> str:
    return escape(placement.plans[index].layout.name)


def cases() -> None:
    bars(rows.case_rows(case), f"cases.reading_{case}", f"case_{case}")
    with st.container(key="aside_case"):
        page.note("cases.note")


page.play(
    lambda: fields(placement, shown, asked.pinned, asked.topology),
    plan=plan,
    compare=compare,
    cases=cases,
    load=lambda: placement_load.under_load(page, load_asked, asked.question, shown),
    accuracy=lambda: placement_accuracy.accuracy(page, source, asked.question, shown),
    limits=lambda: page.say("limits.body"),
)
