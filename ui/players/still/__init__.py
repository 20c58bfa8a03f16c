"""A still drawing: SVG made in Python, shown where Streamlit itself would drop it."""

import streamlit as st

_HTML = """
<div class="still"></div>
"""
_CSS = """
.still { line-height: 0; }
.still svg { width: 100%; height: auto; overflow: visible; }
.still text { font-family: var(--st-font); font-feature-settings: "tnum"; }
"""
_JS = """
export default function ({ data, parentElement }) {
  parentElement.querySelector(".still").innerHTML = data.svg;
}
"""

_component = st.components.v2.component("shardlab_still", html=_HTML, css=_CSS, js=_JS)


def still(svg: str, *, key: str) -> None:
    """Show an SVG of ours as wide as its place. Never a visitor's text: it is set as markup."""
    _component(key=key, data={"svg": svg})
