"""The planner's tab held to measurements: predicted against published, by source, and what is nearest."""

import streamlit as st

from core.evidence.report import Residual
from core.evidence.report import residuals as predicted
from core.placement.planner import Plan, Question
from runtime.prose import said
from runtime.published import shipped_table
from ui import inputs
from ui.figures.frames import frame
from ui.placement import charts_accuracy as charts
from ui.placement import rows_accuracy as rows
from ui.placement.fields import accuracy_fields
from ui.scenes import Page


@st.cache_resource(max_entries=1, show_spinner=False)
def every_residual() -> tuple[Residual, ...]:
    """The published figures that ship with the project, each predicted: the same for every visitor."""
    return predicted(shipped_table())


def ask(page: Page) -> str:
    """Which source stands in front. Runs in every scene, so that the URL keeps it."""
    with page.controls("accuracy"):
        return inputs.select(
            said("placement", "says.source"),
            page.key("source"),
            [rows.EVERY, *rows.sources(every_residual())],
            rows.EVERY,
        )


def accuracy(page: Page, chosen: str, question: Question, plan: Plan | None) -> None:
    """The whole tab."""
    residuals, band = every_residual(), question.band
    page.fill(accuracy_fields(residuals, question, chosen))
    figure, margin = page.split()
    with figure:
        table = frame(rows.dots(residuals, chosen))
        chart = charts.predicted_against_published(table, (band.low, band.high), page.look)
        page.figure(chart, "accuracy.reading", table, "predicted_against_published")
    with margin, st.container(gap="medium"):
        page.verdict(*(("ok", "accuracy.tested") if band.tested else ("open", "accuracy.untested")))
        page.note("accuracy.note_rule")
        if not page.look.present:
            page.note("accuracy.note_constants", "accuracy.note_roofline")
    if not page.look.present:
        _tables(page, question, plan, residuals)


def _tables(page: Page, question: Question, plan: Plan | None, residuals: tuple[Residual, ...]) -> None:
    """The runs that are nearest to the learner's own, then every source in one line."""
    with st.container(key="aside_nearest"):
        page.say("accuracy.nearest")
        near = frame(rows.near_lines(residuals, question, plan), rows.NearLine)
        st.dataframe(near, hide_index=True, alt=page.prose.plain("accuracy.nearest"))
        page.say("accuracy.classes")
        classes = frame(rows.class_lines(residuals), rows.ClassLine)
        st.dataframe(classes, hide_index=True, alt=page.prose.plain("accuracy.classes"))
        page.say("accuracy.sources")
        lines = frame(rows.source_lines(residuals), rows.SourceLine)
        st.dataframe(lines, hide_index=True, alt=page.prose.plain("accuracy.sources"))
        page.say("accuracy.command")
