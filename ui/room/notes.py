"""What a presenter says and asks, scene by scene along a path: for a phone, or a second window."""

from urllib.parse import urlencode

import streamlit as st

from runtime.prose import said
from ui import inputs
from ui.course.pages import entry
from ui.course.paths import PATH, PATHS, name

NOTES = "notes"
"""In the address: the notes in place of the page."""

USUAL = "50"


def asked() -> bool:
    """Whether this visit reads the notes. Keeps that in the address; rendered by the entry on every page."""
    return inputs.flag(NOTES)


def draw() -> None:
    """The notes of the visit's path, or of the usual one."""
    path = name() or USUAL
    st.title(said(NOTES, "title"), anchor=False)
    with st.container(key="notes_lead"):
        st.markdown(said(NOTES, "lead", minutes=path))
    begins = 0
    for stop in PATHS[path]:
        page = entry(stop.stem)
        address = f"./{page.stem}?{urlencode({**page.scene(stop.scene), PATH: path})}"
        row = {"begins": begins, "ends": begins + stop.minutes, "address": address}
        begins += stop.minutes
        with st.container(key=f"note_{stop.stem}_{stop.scene}"):
            head = said(NOTES, "row", page=page.title, scene=page.scenes[stop.scene], **row)
            st.markdown(f"##### {head}\n{said(NOTES, f'{stop.stem}.{stop.scene}')}")
