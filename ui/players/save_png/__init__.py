"""A button that saves the chart above it as a PNG, made in the browser: for slides and hand-outs."""

from pathlib import Path

import streamlit as st

from runtime.prose import said

_HERE = Path(__file__).parent
_HTML = '<button type="button"></button>'

_button = st.components.v2.component(
    "shardlab_save_png",
    html=_HTML,
    css=(_HERE / "save.css").read_text(encoding="utf-8"),
    js=(_HERE / "save.js").read_text(encoding="utf-8"),
)


def save_png(container_key: str, name: str, ground: str) -> None:
    """Offer the chart in a container, by its key, as `name`.png: twice its size on screen, on `ground`."""
    data = {"label": said("shell", "figure.png"), "container": container_key, "name": name, "ground": ground}
    _button(key=f"png_{name}", data=data, width="content")
