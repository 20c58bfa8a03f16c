"""What a visit remembers between its runs, and no widget shows: one entry of Streamlit's state for all of it.

Most of Streamlit's fields go over every entry of the state each time they are drawn.
"""

from typing import Any

import streamlit as st

_MEMORY = "_memory"


def memory() -> dict[str, Any]:
    """Return what this visit remembers, by name."""
    remembered: dict[str, Any] = st.session_state.setdefault(_MEMORY, {})
    return remembered
