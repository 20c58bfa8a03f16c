"""How far a visit has come: which questions were revealed, in the address on every page and nowhere else."""

import streamlit as st

from ui import inputs
from ui.course import pages as course

KEY, _LONGEST = "done", 600


def keep() -> None:
    """Keep the progress in the address. Rendered by the entry on every page, so that no page loses it."""
    inputs.memo(KEY, _LONGEST)


def reveal(entry: course.Entry, scene: str, key: str) -> None:
    """Reveal a question, and count it. For a button's `on_click`."""
    inputs.remember(key, True)
    names = dict.fromkeys([*_done(), f"{entry.prefix}.{scene}"])
    inputs.remember(KEY, ",".join(names))


def answered(entry: course.Entry) -> int:
    """How many questions of a page have been revealed."""
    scenes = {f"{entry.prefix}.{scene}" for scene in entry.scenes}
    return len(scenes & set(_done()))


def _done() -> list[str]:
    return [name for name in str(st.session_state.get(KEY, "")).split(",") if name]
