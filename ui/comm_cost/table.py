"""Lab 03's own table: what a learner measured, what it is good for, and the link it becomes in every lab."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from core.links.fitted_tables import FittedTable, fitted_tables
from core.scenario import Scenario
from core.specs import LinkSpec
from core.steps.view import Phase
from runtime.measurements import example_paste
from runtime.prose import said as phrase
from runtime.prose import worded
from runtime.quantities import grouped
from ui import address, paste
from ui.comm_cost import charts as bills
from ui.comm_cost import charts_table as charts
from ui.comm_cost import rows_table as rows
from ui.comm_cost import words_table as words
from ui.page import Page
from ui.prose import escape

KEY = "own_table"


@st.cache_data(scope="session", max_entries=2, show_spinner=False)
def _tables(text: str) -> tuple[FittedTable, ...]:
    return paste.read(fitted_tables, text)


def draw(page: Page[Any], phase: Phase, handover: bool) -> None:
    """The paste, then everything that can be told of the table chosen from it."""
    text = paste.text_in(KEY)
    with st.container(key="aside_paste" if text else "paste"):
        label = phrase("comm_cost", "says.what_nccl_tests_or")
        paste.draw(label, KEY, kinds=("txt", "log", "out", "md"), example=example_paste(), height=130)
    if not text:
        page.reading("table.empty")
        return
    with page.guarded():
        _told(page, phase, handover, _tables(text))


def _told(page: Page[Any], phase: Phase, handover: bool, tables: Sequence[FittedTable]) -> None:
    own = _chosen(tables)
    page.fill(words.fields(page.scenario, phase, own))
    figure, margin = page.split()
    with figure:
        _doubts(page, own)
        if own.fit is not None:
            _errors(page, own, handover)
            _bill(page, phase, own)
    with margin:
        if own.fit is not None:
            page.note("table.alpha", "table.beta")
        with st.container(key="aside_offer"):
            if own.fit is not None:
                page.note("table.base")
            _offer(page, own)


def _chosen(tables: Sequence[FittedTable]) -> FittedTable:
    """One of several tables, by its number."""
    if len(tables) == 1:
        return tables[0]
    titles = {rows.title(number, own): own for number, own in enumerate(tables, start=1)}
    return titles[
        st.selectbox(phrase("comm_cost", "says.tables", found=len(tables)), list(titles), key="own_table_number")
    ]


def _doubts(page: Page[Any], own: FittedTable) -> None:
    """Every warning in a sentence, and every line that was not taken, with its reason."""
    with st.container(key="aside_doubts"):
        page.say("table.read")
        if own.warnings:
            st.markdown("\n".join(f"- {escape(_sentence(worded(warning)))}" for warning in own.warnings))
        if dropped := own.table.dropped:
            with st.expander(page.prose.plain("table.dropped")):
                lines = [
                    phrase("comm_cost", "says.line", line=entry.line, worded=worded(entry))
                    for entry in dropped[: rows.MOST_SAID]
                ]
                more = len(dropped) - rows.MOST_SAID
                lines += [phrase("comm_cost", "says.more_2", more=grouped(more))] if more > 0 else []
                st.markdown("\n".join(f"- {escape(line)}" for line in lines))


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def _errors(page: Page[Any], own: FittedTable, handover: bool) -> None:
    errors = rows.error_points(own, handover)
    chart = charts.errors_by_size(errors, rows.BULGE_BYTES, page.look)
    page.figure(chart, "table.reading_handover" if handover else "table.reading_two", errors, "own_errors")


def _bill(page: Page[Any], phase: Phase, own: FittedTable) -> None:
    priced = rows.priced(page.scenario, phase, own)
    with st.container(key="aside_own_bill"):
        if priced is None:
            page.say("table.no_bill")
            return
        bars = [rows.bill_row(priced)]
        chart = bills.bill_bars(bars, page.look, bills.axis_end_ms(bars))
        page.figure(chart, f"table.bill_{priced.by}", bars, "own_bill")


def _offer(page: Page[Any], own: FittedTable) -> None:
    """The table as a link of the scenario, inside a node or between nodes."""
    link = rows.fitted_link(own)
    if link is None:
        page.note("table.no_link")
        return
    page.note("table.link")
    offer(link, page.scenario)


def offer(link: LinkSpec, scenario: Scenario) -> None:
    """Two buttons that make `link` the scenario's, and so go with the address to every page."""
    for field, label in (
        ("link", phrase("comm_cost", "says.use_as_link")),
        ("network", phrase("comm_cost", "says.use_between_nodes")),
    ):
        used = getattr(scenario, field) == link.key
        st.button(
            phrase("comm_cost", "says.use", label=label) if used else label,
            key=f"use_{field}",
            disabled=used,
            type="primary" if field == "link" and not used else "secondary",
            on_click=address.write,
            args=({field: link.key},),
        )
