"""Reading rooms: where Megatron-LM, PyTorch and vLLM take the decisions that the labs teach."""

from functools import partial
from html import escape

import streamlit as st

from core.course.reading_rooms import ROOMS, Place, Room, places
from runtime.prose import said
from ui import address, scenes
from ui.course import pages as course
from ui.page import Nothing, Page
from ui.reading_rooms import tables


def place(page: Page[Nothing], row: Place, root: str) -> None:
    lab = course.entry(row.lab)
    with st.container(key=f"place_{row.room}_{row.key}"):
        name, note = st.columns([5, 8], gap="medium")
        file = "/<wbr>".join(map(escape, (root, *row.file.split("/"))))  # a line ends between two folders
        name.markdown(f"##### `{row.symbol}`\n\n<code>{file}</code>", unsafe_allow_html=True)
        note.markdown(page.prose.text(f"{row.room}.{row.key}"))
        note.page_link(
            lab.path,
            label=said("reading_rooms", "place.lab", title=lab.title, scene=lab.scenes[row.scene]),
            query_params=address.of(lab, row.scene),
        )


def room(page: Page[Nothing], row: Room) -> None:
    page.say(f"{row.key}.lead")
    for each in places(row):
        place(page, each, row.root)


def checked(page: Page[Nothing]) -> None:
    page.say("limits.body")
    st.markdown(tables.checks_table(page.prose))
    page.say("checks.reading")
    for name, table in tables.claims_tables(page.prose).items():
        if table:
            with st.expander(name):
                st.markdown(table)


scenes.play(
    *("reading_rooms", Nothing, lambda page: {f"{room.key}_release": room.release for room in ROOMS}),
    **{each.key: partial(room, row=each) for each in ROOMS},  # type: ignore[arg-type]
    limits=checked,
)
