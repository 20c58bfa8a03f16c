"""What a presenter says and asks, scene by scene along a path: for a phone, or a second window."""

import html
from urllib.parse import urlencode

import streamlit as st

from runtime.one_process import ALONE
from runtime.prose import said
from runtime.rooms import ROOMS, pass_of
from ui.course.pages import entry
from ui.paths import PATH, PATHS, name
from ui.players.still import still
from ui.room import poll, way_in
from ui.room.drawing import code_svg
from ui.visit import visit

NOTES = "notes"
"""In the address: the notes in place of the page."""

FOLLOW = "follow"
"""In the address: the pass of a reader on another device, whom the server tells which scene the wall shows."""

USUAL = "50"


def draw() -> None:
    """The notes of the visit's path, or of the usual one."""
    path = name() or USUAL
    st.title(said(NOTES, "title"), anchor=False)
    with st.container(key="notes_lead"):
        st.markdown(said(NOTES, "lead", minutes=path))
    if given := visit().follow:
        _follow(poll.code(), given)
    else:
        _offer(path)
    begins = 0
    for stop in PATHS[path]:
        page = entry(stop.stem)
        address = f"./{page.stem}?{urlencode({**page.scene(stop.scene), PATH: path})}"
        row = {"begins": begins, "ends": begins + stop.minutes, "address": address}
        begins += stop.minutes
        with st.container(key=f"note_{stop.stem}_{stop.scene}"):
            head = said(NOTES, "row", page=page.title, scene=page.scenes[stop.scene], **row)
            st.markdown(f"##### {head}\n{said(NOTES, f'{stop.stem}.{stop.scene}')}")


def _offer(path: str) -> None:
    """The way for another device to these notes, which then follow the wall of this visit."""
    if ALONE:
        return  # another device has a page of its own, and no server between
    if not poll.presides():
        st.button(said(NOTES, "offer"), key="notes_offer", type="tertiary", on_click=poll.open_key)
        return
    ROOMS.show(visit().chair, "")
    asked = {NOTES: "true", PATH: path, poll.ROOM: poll.code(), FOLLOW: pass_of(visit().chair)}
    found = way_in.addresses(asked)
    if not found:
        st.markdown(
            f"{poll.word('join.nobody')} {said(NOTES, 'offered.here', address=way_in.typed([way_in.here(asked)]))}"
        )
        return
    st.markdown(said(NOTES, "offered", address=way_in.typed(found)))
    if (modules := way_in.code_of(found[0])) is not None:
        with st.container(key="notes_code", width=300):
            still(code_svg(modules, said(NOTES, "offered.alt")), key="notes_code_drawn")


@st.fragment(run_every=poll.REFRESH_S)
def _follow(code: str, given: str) -> None:
    """Tell the browser which scene the wall shows; `follow.js` marks its note."""
    with st.container(key="wall_at"):
        st.html(f'<i data-wall-at="{html.escape(ROOMS.shown(code, given))}"></i>')
