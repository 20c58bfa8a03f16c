"""Lab 03, the communication bill: price the all-reduces of a step on the links there are."""

import streamlit as st

from runtime.measurements import measured_all_reduces
from ui import comm_wire, inputs, scenes
from ui.charts import comm_cost as charts
from ui.facts import comm_cost as facts
from ui.facts import comm_wire as wire_facts
from ui.frames import frame
from ui.rows import comm_cost as rows_of

page = scenes.open_page("comm_cost")
points = measured_all_reduces()
scenario, look = page.scenario, page.look
BILL, WIRE = "the bill", "the wire"
own_links = [scenario.link_spec, scenario.network_spec]
row, unseen = page.controls("see", "count", "break_it"), page.controls("elsewhere")
with row if page.scene == "see" else unseen:
    view = inputs.choice("Figure", page.key("view"), [BILL, WIRE], BILL)
with row:
    phase = inputs.choice("Phase", page.key("phase"), ["decode", "prefill"], "decode")
on_the_wire = page.scene == "see" and view == WIRE
wire = comm_wire.ask(page, phase, row if on_the_wire else unseen, on_the_wire and not look.present)
with page.controls("bench"):
    own = rows_of.OwnBill(
        latency_us=inputs.number("Latency a hop, µs", page.key("alpha"), 0.0, 1e5, 50.0),
        bandwidth_gb_s=inputs.number("Bandwidth one way, GB/s", page.key("beta"), 0.001, 1e5, 1.25),
        tokens=inputs.whole("Tokens in the step", page.key("tokens"), 1, 1_048_576, 1),
        step_ms=inputs.number("Compute, ms", page.key("step"), 0.001, 1e6, 8.0),
        tp=scenario.tp,
        model=scenario.model,
    )
    pinned = rows_of.OwnBill.from_text(inputs.memo(page.key("pin")))
    st.button("Pin", on_click=inputs.remember, args=(page.key("pin"), own.text()), help="Keep this bill to compare")


def warn_if_refused() -> None:
    if rows_of.broken_equations(scenario):
        st.error(page.prose.text("refused"))


def bars(rows: list[rows_of.BillRow], reading: str, name: str) -> None:
    warn_if_refused()
    table = frame(rows)
    page.figure(charts.bill_bars(table, look, charts.axis_end_ms(table)), reading, table, name)


def question() -> None:
    bill = rows_of.bill(scenario, "decode", scenario.network_spec)
    if page.ask(100 * bill.comm_fraction, high=100, unit="%", digits=1):
        rule = "bandwidth" if bill.bandwidth_fraction > 0.5 else "latency"
        bars(rows_of.link_rows(scenario, "decode", own_links, points), f"question.reading_{rule}", "bill")
        verdicts()


def verdicts() -> None:
    signs = {"noise": "ok", "noticeable": "open", "fatal": "off"}
    with st.container(key="aside_verdicts"):
        for role, link in zip(("link", "network"), own_links, strict=True):
            word = rows_of.bill(scenario, "decode", link).verdict
            page.verdict(signs[word], f"verdict.{role}_{word}")
        page.verdict("open", "verdict.step")


def see() -> None:
    if view == WIRE:
        comm_wire.draw(page, wire)
        return
    rows = rows_of.link_rows(scenario, phase, rows_of.compared_links(scenario), points)
    figure, margin = page.split()
    with figure:
        bars(rows, f"see.reading_{phase}", f"bill_{phase}")
    with margin:
        page.note("see.note_step", "see.note_payload")
        with st.container(key="aside_rule"):
            page.note("see.note_rule")


def count() -> None:
    figure, margin = page.split()
    with figure:
        warn_if_refused()
        model = frame(point for link in own_links for point in rows_of.curve(scenario, link))
        measured = frame(rows_of.measured_points(scenario, points), rows_of.MeasuredDot)
        marks = frame(rows_of.marks(scenario))
        page.figure(charts.time_against_payload(model, measured, marks, look), "count.reading", model, "all_reduce")
        page.equation(*rows_of.share_terms(rows_of.bill(scenario, phase, scenario.network_spec)))
        with st.container(key="aside_source"):
            page.say("count.source")
    with margin:
        page.note("count.payload", "count.latency", "count.bandwidth", "count.bill", "count.share")


def break_it() -> None:
    with st.container(key="aside_ask"):
        page.say("break_it.ask")
    found = rows_of.network_readings(scenario, phase)
    figure, margin = page.split()
    with figure:
        bars(rows_of.reading_rows(found), "break_it.reading", "readings")
    with margin:
        page.note("break_it.note")


def bench() -> None:
    rows = [own.row("Your link"), *([pinned.row("Pinned")] if pinned else [])]
    rows += rows_of.link_rows(scenario, "decode", own_links, points)
    figure, margin = page.split()
    with figure:
        bars(rows, "bench.reading", "bench")
        with st.container(key="aside_ranks"):
            by_ranks = frame(rows_of.bills_by_ranks(own))
            page.figure(charts.bills_by_ranks(by_ranks, look), "bench.ranks", by_ranks, "bills_by_ranks")
    with margin:
        page.note("bench.note", "bench.scenario")


page.play(
    lambda: {
        **facts.fields(scenario, "decode" if page.scene == "question" else phase, own, points),
        **wire_facts.fields(wire),
    },
    question=question,
    see=see,
    count=count,
    break_it=break_it,
    bench=bench,
    build=lambda: page.say("build.body"),
    engines=lambda: page.say("engines.body"),
    limits=lambda: page.say("limits.body"),
)
