"""Two of the strategy page's scenes: one block under a strategy, and a collective's algorithms on one clock."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from core.strategy.block import Block
from runtime.mermaid import mermaid
from runtime.rows import Row
from ui.comm_cost.rounds import play
from ui.figures.svg import NARROW, size_of
from ui.page import Page
from ui.players.still import still
from ui.strategy.drawing import block_diagram, block_rows
from ui.strategy.rows_scenes import port_rows


def block(page: Page[Any], strategy: str, ranks: int, drawn: Block) -> None:
    """The block, what its ranks hold and send, and both as files to take away."""
    reading, look = f"block.reading_{strategy.lower()}", page.look
    alt, text = page.prose.plain(reading), mermaid(drawn)
    svg, narrow = (block_diagram(drawn, look.palette, alt, size) for size in (size_of(look), NARROW))
    figure, margin = page.split()
    with figure:
        still(svg, narrow, key="block")
        page.reading(reading)
    with margin, st.container(key="aside_block"):
        page.note("block.note")
        name = f"block_{strategy.lower()}_{ranks}"
        st.download_button(
            page.label("says.download_svg"), svg.encode(), f"{name}.svg", "image/svg+xml", on_click="ignore"
        )
        st.download_button(
            page.label("says.download_mermaid"), text.encode(), f"{name}.mmd", "text/plain", on_click="ignore"
        )
    page.as_table(lambda: block_rows(drawn), f"block_{strategy.lower()}", alt)
    with st.container(key="aside_mermaid"):
        page.folded(page.prose.text("block.mermaid"), "mermaid", lambda: st.code(text, language=None))


def collective(page: Page[Any], op: str, algorithms: Sequence[Row]) -> None:
    """Algorithms side by side, message by message, and who sends how much through which port."""
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
