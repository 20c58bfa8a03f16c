"""A still drawing: SVG made in Python, shown where Streamlit itself would drop it."""

import streamlit as st

_HTML = """
<div class="still"></div>
"""
_CSS = """
.still { line-height: 0; }
/* on a wall no higher than one screen of it */
.still svg { width: 100%; height: auto; max-height: var(--wall-figure, none); overflow: visible; }
.still text { font-family: var(--st-font); font-feature-settings: "tnum"; }
.still svg ~ svg { display: none; }
@media (max-width: 640px) {
  .still svg:not(:last-child) { display: none; }
  .still svg ~ svg { display: inline; }
}
"""
_JS = """
export default function ({ data, parentElement }) {
  parentElement.querySelector(".still").innerHTML = data.svgs.join("");
}
"""

_component = st.components.v2.component("shardlab_still", html=_HTML, css=_CSS, js=_JS)


def still(svg: str, narrow: str = "", *, key: str) -> None:
    """Show an SVG of ours as wide as its place, on a phone the narrow one. Ours alone: it is set as markup."""
    _component(key=key, data={"svgs": [svg, narrow] if narrow else [svg]})
