"""Two scenes of lab 03: an all-reduce over its payload, and its bills with one word read wrongly at a time."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

import streamlit as st

from core.comm_cost.measured import MeasuredPoint
from core.comm_cost.readings import readings, two_way
from core.links.nccl_tests import Table, read_tables
from core.placement.reached import reached
from core.steps import view as views
from runtime.measurements import example_paste
from runtime.prose import said
from ui.comm_cost import charts_bench as charts
from ui.comm_cost import rows as cost
from ui.comm_cost import rows_payloads as payload_rows
from ui.comm_cost import rows_slips as rows
from ui.comm_cost import words_bench as words
from ui.comm_cost.bench import bars
from ui.comm_cost.rows_residuals import named_residuals
from ui.figures.lines import payloads
from ui.figures.time_against_payload import time_against_payload
from ui.page import Page

_NOTES = {rows.HOP: "note", rows.TWO_WAY: "note_two_way", rows.BUSBW: "note_busbw", rows.AVERAGE: "note_average"}


def count(page: Page[Any], view: views.View, points: Sequence[MeasuredPoint], warn: Callable[[], None]) -> None:
    """The model's lines, the measured dots and the sum that makes the bill."""
    figure, margin = page.split()
    with figure:
        warn()
        model = [point for link in view.links for point in payload_rows.curve(view, link)]
        measured, residuals = payload_rows.measured_points(view, points), named_residuals(view, points)
        chart = time_against_payload(model, measured, payload_rows.marks(view), residuals, page.look)
        page.figure(chart, "count.reading", model, "all_reduce")
        for link in dict.fromkeys((view.network, view.link)):
            if not view.napkin:
                page.reading(f"count.over_{'link' if link == view.link else 'network'}")
            page.equation(*cost.result_terms(view.price(link)))
        with st.container(key="aside_source"):
            page.say("count.source")
            if view.kernel(view.link) != "ring":
                page.say("count.kernel")
    with margin:
        of = "_napkin" if view.napkin else ""
        page.note("count.payload", "count.latency", f"count.bandwidth{of}", "count.bill")
        with st.container(key="aside_share"):
            page.note(f"count.share{of}")


def served(page: Page[Any], view: views.View) -> None:
    """What a served engine reaches beside the lab's speed-up; a wall has no room for it."""
    found = reached(view.scenario)
    if found is not None and not page.look.present:
        page.say(f"question.reached_{found.because}")


def break_it(page: Page[Any], slip: str, view: views.View, points: Sequence[MeasuredPoint]) -> None:
    figures = {rows.HOP: _hop, rows.TWO_WAY: _two_way, rows.BUSBW: _busbw, rows.AVERAGE: _average}
    with page.beside(f"break_it.{_NOTES[slip]}"):
        figures[slip](page, view, points)


def _hop(page: Page[Any], view: views.View, points: Sequence[MeasuredPoint]) -> None:
    """The lab's napkin under each assumption: it is there that a word makes the verdict."""
    napkin = replace(view, napkin=True)
    bars(page, cost.reading_rows(readings(napkin.step, napkin.network)), "break_it.reading", "readings")


def _two_way(page: Page[Any], view: views.View, points: Sequence[MeasuredPoint]) -> None:
    told = two_way(view.step.payload_bytes, max(2, view.step.tp_size), points)
    page.fill(words.two_way(told))
    bars(page, rows.two_way_rows(told), f"break_it.reading_two_way_{view.phase}", "two_way")


def _busbw(page: Page[Any], view: views.View, points: Sequence[MeasuredPoint]) -> None:
    table = _shipped()
    page.fill(words.table(table))
    bars(page, rows.misread_rows(table), "break_it.reading_busbw", "busbw")


def _average(page: Page[Any], view: views.View, points: Sequence[MeasuredPoint]) -> None:
    table = _shipped()
    page.fill(words.table(table))
    sizes = rows.bus_rows(table)
    x = payloads("size_bytes", [row.size_bytes for row in sizes], said("comm_cost", "says.size_message"))
    mean = fmean(row.busbw_gb_s for row in sizes)
    page.figure(charts.busbw_by_size(sizes, mean, x, page.look), "break_it.reading_average", sizes, "average")


@st.cache_resource
def _shipped() -> Table:
    """The example that the bench offers to paste, read back."""
    return read_tables(example_paste())[0]
