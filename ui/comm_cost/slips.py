"""Lab 03's broken bills: one word read wrongly at a time, beside the right reading and what was measured."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

import streamlit as st

from core.comm_cost.measured import MeasuredPoint
from core.comm_cost.readings import readings, two_way
from core.links.nccl_tests import Table, read_tables
from core.steps import view as views
from runtime.measurements import example_paste
from runtime.prose import said
from ui.comm_cost import charts_bench as charts
from ui.comm_cost import rows as cost
from ui.comm_cost import rows_slips as rows
from ui.comm_cost import words_bench as words
from ui.comm_cost.bench import bars
from ui.figures.lines import payloads
from ui.scenes import Page

_NOTES = {rows.HOP: "note", rows.TWO_WAY: "note_two_way", rows.BUSBW: "note_busbw", rows.AVERAGE: "note_average"}


def draw(page: Page, slip: str, view: views.View, points: Sequence[MeasuredPoint]) -> None:
    """The slip that is chosen."""
    figures = {rows.HOP: _hop, rows.TWO_WAY: _two_way, rows.BUSBW: _busbw, rows.AVERAGE: _average}
    with page.beside(f"break_it.{_NOTES[slip]}"):
        figures[slip](page, view, points)


def _hop(page: Page, view: views.View, points: Sequence[MeasuredPoint]) -> None:
    """The lab's napkin under each assumption: it is there that a word makes the verdict."""
    napkin = replace(view, napkin=True)
    bars(page, cost.reading_rows(readings(napkin.step, napkin.network)), "break_it.reading", "readings")


def _two_way(page: Page, view: views.View, points: Sequence[MeasuredPoint]) -> None:
    told = two_way(view.step.payload_bytes, max(2, view.step.tp_size), points)
    page.fill(words.two_way(told))
    bars(page, rows.two_way_rows(told), f"break_it.reading_two_way_{view.phase}", "two_way")


def _busbw(page: Page, view: views.View, points: Sequence[MeasuredPoint]) -> None:
    table = _shipped()
    page.fill(words.table(table))
    bars(page, rows.misread_rows(table), "break_it.reading_busbw", "busbw")


def _average(page: Page, view: views.View, points: Sequence[MeasuredPoint]) -> None:
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
