"""Lab 03, the communication bill: price the all-reduces of a step on the links there are."""

from contextlib import AbstractContextManager

import streamlit as st

from core.comm_cost.bill import bill
from runtime.measurements import measured_all_reduces
from ui import inputs, scenes
from ui.comm_cost import bench as comm_bench
from ui.comm_cost import rows as rows_of
from ui.comm_cost import slips as comm_slips
from ui.comm_cost import wire as comm_wire
from ui.comm_cost import words as facts
from ui.comm_cost import words_wire as wire_facts
from ui.comm_cost.rows_residuals import Named, named_residuals
from ui.comm_cost.rows_slips import CHOICES, HOP, PHASED
from ui.figures.frames import frame
from ui.figures.time_against_payload import time_against_payload

BILL, WIRE = "the bill", "the wire"

page = scenes.open_page("comm_cost")
points = measured_all_reduces()
scenario, look = page.scenario, page.look
own_links = [scenario.link_spec, scenario.network_spec]
figure = comm_bench.choose(page)
row, unseen = page.controls("see", "count", "break_it", "bench"), page.controls("elsewhere")


def place(seen: bool) -> AbstractContextManager[object]:
    """A control's place: the row under the scene's title, or out of sight, where the URL still keeps it."""
    return row if seen else unseen


with place(page.scene == "see"):
    view = inputs.choice("Figure", page.key("view"), [BILL, WIRE], BILL)
with place(page.scene == "break_it"):
    slip = inputs.choice("What is misread", page.key("slip"), CHOICES, HOP)
asked = comm_bench.ask(page, figure, place)
with place({"bench": figure in comm_bench.phased(look), "break_it": slip in PHASED}.get(page.scene, True)):
    phase = inputs.choice("Phase", page.key("phase"), ["decode", "prefill"], "decode")
on_the_wire = page.scene == "see" and view == WIRE
wire = comm_wire.ask(page, phase, place(on_the_wire), on_the_wire and not look.present)


def warn_if_refused() -> None:
    if rows_of.broken_equations(scenario):
        st.error(page.prose.text("refused"))


def question() -> None:
    priced = bill(rows_of.step_of(scenario, "decode"), scenario.network_spec)
    if page.ask(100 * priced.comm_fraction, high=100, unit="%", digits=1):
        rule = "none" if scenario.tp == 1 else "bandwidth" if priced.bandwidth_fraction > 0.5 else "latency"
        warn_if_refused()
        comm_bench.bars(
            page, rows_of.link_rows(scenario, "decode", own_links, points), f"question.reading_{rule}", "bill"
        )
        verdicts()


def verdicts() -> None:
    signs = {"noise": "ok", "noticeable": "open", "fatal": "off"}
    with st.container(key="aside_verdicts"):
        for role, link in zip(("link", "network"), own_links, strict=True):
            word = bill(rows_of.step_of(scenario, "decode"), link).verdict
            page.verdict(signs[word], f"verdict.{role}_{word}")
        page.verdict("open", "verdict.step")


def see() -> None:
    if view == WIRE:
        comm_wire.draw(page, wire)
        return
    rows = rows_of.link_rows(scenario, phase, rows_of.compared_links(scenario), points)
    figure, margin = page.split()
    with figure:
        warn_if_refused()
        comm_bench.bars(page, rows, f"see.reading_{phase}", f"bill_{phase}")
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
        residuals = frame(named_residuals(scenario, points), Named)
        chart = time_against_payload(model, measured, marks, residuals, look)
        page.figure(chart, "count.reading", model, "all_reduce")
        page.equation(*rows_of.share_terms(bill(rows_of.step_of(scenario, phase), scenario.network_spec)))
        with st.container(key="aside_source"):
            page.say("count.source")
    with margin:
        page.note("count.payload", "count.latency", "count.bandwidth", "count.bill", "count.share")


def break_it() -> None:
    with st.container(key="aside_ask"):
        page.say("break_it.ask")
    warn_if_refused()
    comm_slips.draw(page, slip, phase, points)


def bench() -> None:
    warn_if_refused()
    comm_bench.draw(page, asked, phase, points)


page.play(
    lambda: {
        **facts.fields(scenario, "decode" if page.scene == "question" else phase, asked.own, points),
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
