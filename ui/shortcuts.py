"""Single keys that press a button, and places for what a browser must have and shows to nobody."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ui.visit import visit


def shortcut(key: str) -> str | None:
    """Return a button's shortcut, unless the visitor has switched them off."""
    return key if visit().keys else None


def mounted(name: str) -> DeltaGenerator:
    """Return a place for what a browser must have, a script or a shortcut, and shows to nobody.

    The style sheet hides it; until that has come, on a slow first visit, Streamlit's own box of one pixel does.
    """
    return st.container(key=f"unseen_{name}", width=1, height=1, border=False)
