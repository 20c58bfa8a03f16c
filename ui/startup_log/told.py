"""A log as it is told: each printed figure beside its prediction, and what else is said of it."""

import streamlit as st

from core.startup_log.records import Report
from runtime.prose import named, said
from ui.figures.frames import frame
from ui.prose import escape
from ui.scenes import Page
from ui.startup_log import charts, words
from ui.startup_log import report as rows_of
from ui.startup_log.log_table import log_table

MEANINGS = ("weights", "kv_tokens", "gpu_blocks", "cpu_blocks", "max_concurrency", "kv_size", "bytes_per_token")


def draw(page: Page, report: Report, name: str) -> None:
    """A report: what the log is about, each figure in its line, the residuals, and what else is said."""
    page.fill(words.report(report))
    page.say("read.about")
    checks = rows_of.check_rows(report)
    meanings = {
        named("startup_log", name): page.prose.text(f"meaning.{block}")
        for name, block in zip(rows_of.QUANTITY_NAMES, MEANINGS, strict=True)
    }
    caption = page.prose.plain("read.caption")
    printed = said("startup_log", "says.what_engine_printed")
    if checks:
        st.html(log_table(rows_of.log_rows(checks), meanings, caption, page.look.present, printed))
    else:
        page.reading("read.nothing")
    if report.remarks:
        with st.container(key=f"aside_remarks_{name}"):
            st.markdown("\n".join(f"- {escape(note)}" for note in rows_of.notes(report)))
    if name == "read" and any(row.predicted is not None for row in checks):
        with st.container(key="aside_residuals"):
            table = frame(checks)
            page.figure(charts.residual_marks(table, page.look), "read.reading", table, "startup_log")
