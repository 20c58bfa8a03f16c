"""The collectives room: an operation's algorithms side by side, message by message, on one clock."""

from collections.abc import Sequence

import streamlit as st

from ui.comm_cost.rounds import play
from ui.scenes import Page
from ui.strategy.rows_scenes import Timed, port_rows


def draw(page: Page, op: str, algorithms: Sequence[Timed]) -> None:
    """The scene: a collective's algorithms on one clock, and who sends how much through which port."""
    page.data_sheet = "link"
    figure, margin = page.split()
    with figure:
        told = [(one.name, one.detail) for one in algorithms]
        play(page, [one.course for one in algorithms], told, "collectives_ring", "collectives.reading")
    with margin:
        uses = op.replace("-", "_").replace("/", "_")
        page.note(f"collectives.{uses}", "collectives.colours")
    with st.container(key="aside_ports"):
        page.say("collectives.port")
        page.table(port_rows(algorithms), "collectives.port")
