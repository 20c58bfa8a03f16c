"""The clinic: the classics of distributed serving as cases, one slow rank, the custom all-reduce, hangs at init."""

from collections.abc import Mapping

import streamlit as st

from runtime.prose import named
from ui import scenario_bar, scenes
from ui.clinic import bench, cases, charts, hangs, rows, words
from ui.clinic import charts_scenes as clinic_scenes
from ui.clinic import rows_kernel as kernel_rows
from ui.clinic.bench import Question
from ui.page import Page


def fields(page: Page[Question]) -> Mapping[str, object]:
    score = cases.answers(page).right(cases.every_case())
    decision, payload_bytes = page.once(bench.decision_of), bench.payload_bytes(page)
    return words.fields(
        cases.open_case(page), score, page.once(bench.knob_of), decision, page.question.rows, payload_bytes
    )


def straggler(page: Page[Question]) -> None:
    page.data_sheet = "compute"
    scattered = page.question.late == bench.SCATTER
    with page.controls("late"):
        if not scattered:
            scenario_bar.draw_straggler()
    if scattered:
        table = rows.largest_of()
        chart = clinic_scenes.largest_curves(table, named("clinic", rows.DRAWN), page.look)
        page.figure(chart, "straggler.jitter", table, "largest")
        return
    waits = rows.waits(page.once(bench.knob_of))
    told = "reading" if page.scenario.slow_percent else "even"
    for column, (name, bars) in zip(st.columns(3, gap="medium"), waits.bars.items(), strict=True):
        with column:
            page.note(f"straggler.{name}")
            chart = charts.term_bars(bars.parts, bars.ends, bars.unit, page.look)
            page.figure(chart, f"straggler.{name}_{told}", bars.parts, f"straggler_{name}")
    with st.container(key="aside_responses"):
        chart = clinic_scenes.response_lines(waits.lines, waits.here, page.look)
        page.figure(chart, "straggler.lines", waits.lines, "responses")


def all_reduce(page: Page[Question]) -> None:
    page.controls("release", "ranks", "nodes", "joined", "p2p", "sm", "rows")
    decision = page.once(bench.decision_of)
    machine = decision.machine
    with page.beside("all_reduce.note", caps=["all_reduce.caps"]):
        if machine.world_size == 1:
            page.verdict("open", "all_reduce.alone")
        else:
            page.verdict("ok" if decision.reduces else "off", kernel_rows.verdict(decision))
        if not (page.look.present and decision.enabled):
            st.markdown(kernel_rows.rule_table(decision))
        bands = kernel_rows.bands(machine)
        chart = clinic_scenes.payload_bands(bands, bench.payload_bytes(page), machine.release, page.look)
        page.figure(chart, "all_reduce.reading", bands, "payloads")


scenes.play(
    "clinic", Question, fields, cases=cases.draw, straggler=straggler, all_reduce=all_reduce, hangs=hangs.draw
)
