"""One all-reduce over its payload: the model's line, what was measured, and from which size on bandwidth rules."""

from collections.abc import Callable, Sequence

import streamlit as st

from core.comm_cost.measured import MeasuredPoint
from core.steps.view import View
from ui.comm_cost import rows as rows_of
from ui.comm_cost import rows_payloads as payload_rows
from ui.comm_cost.rows_residuals import Named, named_residuals
from ui.figures.frames import frame
from ui.figures.time_against_payload import time_against_payload
from ui.scenes import Page


def draw(page: Page, view: View, points: Sequence[MeasuredPoint], warn: Callable[[], None]) -> None:
    """The scene: the model's lines, the measured dots and the sum that makes the bill."""
    figure, margin = page.split()
    with figure:
        warn()
        model = [point for link in view.links for point in payload_rows.curve(view, link)]
        measured = frame(payload_rows.measured_points(view, points), payload_rows.MeasuredDot)
        residuals = frame(named_residuals(view, points), Named)
        chart = time_against_payload(model, measured, payload_rows.marks(view), residuals, page.look)
        page.figure(chart, "count.reading", model, "all_reduce")
        page.equation(*rows_of.result_terms(view.price(view.network)))
        with st.container(key="aside_source"):
            page.say("count.source")
            if view.kernel(view.link) != "ring":
                page.say("count.kernel")
    with margin:
        of = "_napkin" if view.napkin else ""
        page.note("count.payload", "count.latency", f"count.bandwidth{of}", "count.bill")
        with st.container(key="aside_share"):
            page.note(f"count.share{of}")
