"""One block under a strategy: its picture, with what its ranks hold and send, and the files to take away."""

import pandas as pd
import streamlit as st

from core.strategy.block import Block
from runtime.mermaid import mermaid
from runtime.prose import said
from ui.figures.svg import NARROW, size_of
from ui.players.still import still
from ui.scenes import Page
from ui.strategy.drawing import block_diagram, block_rows


def draw(page: Page, strategy: str, ranks: int, drawn: Block) -> None:
    """The scene: the block, what it sends, and both as files."""
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
            said("strategy", "says.download_svg"), svg.encode(), f"{name}.svg", "image/svg+xml", on_click="ignore"
        )
        st.download_button(
            said("strategy", "says.download_mermaid"), text.encode(), f"{name}.mmd", "text/plain", on_click="ignore"
        )
    page.as_table(lambda: pd.DataFrame(block_rows(drawn)), f"block_{strategy.lower()}", alt)
    with st.container(key="aside_mermaid"):
        page.folded(page.prose.text("block.mermaid"), "mermaid", lambda: st.code(text, language=None))
