"""Lab 03's broken bills: one word read wrongly at a time, beside the right reading and what was measured."""

from collections.abc import Sequence

import streamlit as st

from core.comm_cost.measured import MeasuredPoint
from core.links.nccl_tests import Table, read_tables
from runtime.measurements import example_paste
from ui.comm_cost import charts_bench as charts
from ui.comm_cost import rows as cost
from ui.comm_cost import rows_slips as rows
from ui.comm_cost import words_slips as facts
from ui.comm_cost.bench import bars
from ui.figure_prose import fill
from ui.figures.frames import frame
from ui.figures.lines import payloads
from ui.scenes import Page


def draw(page: Page, slip: str, phase: cost.Phase, points: Sequence[MeasuredPoint]) -> None:
    """The slip that is chosen."""
    figures = {rows.TWO_WAY: _two_way, rows.BUSBW: _busbw, rows.AVERAGE: _average}
    figure, margin = page.split()
    with figure:
        if slip == rows.HOP:
            bars(
                page, cost.reading_rows(cost.network_readings(page.scenario, phase)), "break_it.reading", "readings"
            )
        else:
            figures[slip](page, phase, points)
    with margin:
        page.note(*_notes(slip))


def _notes(slip: str) -> tuple[str, ...]:
    named = {rows.HOP: "note", rows.TWO_WAY: "note_two_way", rows.BUSBW: "note_busbw", rows.AVERAGE: "note_average"}
    return (f"break_it.{named[slip]}",)


def _two_way(page: Page, phase: cost.Phase, points: Sequence[MeasuredPoint]) -> None:
    ranks = page.scenario.tp if page.scenario.tp > 1 else 2
    found = rows.two_way(cost.step_of(page.scenario, phase).payload_bytes, ranks, points)
    fill(page, facts.two_way(found))
    bars(page, rows.two_way_rows(found), f"break_it.reading_two_way_{phase}", "two_way")


def _busbw(page: Page, phase: cost.Phase, points: Sequence[MeasuredPoint]) -> None:
    table = _shipped()
    fill(page, facts.table(table))
    bars(page, rows.misread_rows(table), "break_it.reading_busbw", "busbw")


def _average(page: Page, phase: cost.Phase, points: Sequence[MeasuredPoint]) -> None:
    table = _shipped()
    fill(page, facts.table(table))
    sizes = frame(rows.bus_rows(table))
    x = payloads("size_bytes", sizes.size_bytes, "size of a message")
    chart = charts.busbw_by_size(sizes, float(sizes.busbw_gb_s.mean()), x, page.look)
    page.figure(chart, "break_it.reading_average", sizes, "average")


@st.cache_resource
def _shipped() -> Table:
    """The example that the bench offers to paste, read back."""
    return read_tables(example_paste())[0]
