"""Reading rooms: where Megatron-LM, PyTorch and vLLM take the decisions that the labs teach."""

from html import escape

import streamlit as st

from core.course.reading_rooms import ROOMS, Place, Room, places
from runtime.prose import said
from ui import scenes
from ui.course import pages as course
from ui.reading_rooms import tables

page = scenes.open_page("reading_rooms")


def place(row: Place, root: str) -> None:
    lab = course.entry(row.lab)
    with st.container(key=f"place_{row.room}_{row.key}"):
        name, note = st.columns([5, 8], gap="medium")
        file = "/<wbr>".join(map(escape, (root, *row.file.split("/"))))  # a line ends between two folders
        name.markdown(f"##### `{row.symbol}`\n\n<code>{file}</code>", unsafe_allow_html=True)
        note.markdown(page.prose.text(f"{row.room}.{row.key}"))
        note.page_link(
            lab.path,
            label=said("reading_rooms", "place.lab", title=lab.title, scene=lab.scenes[row.scene]),
            query_params=lab.scene(row.scene),
        )


def room(row: Room) -> None:
    page.say(f"{row.key}.lead")
    for each in places(row):
        place(each, row.root)


def checked() -> None:
    page.say("limits.body")
    st.markdown(tables.checks_table(page.prose))
    page.say("checks.reading")
    for name, table in tables.claims_tables(page.prose).items():
        if table:
            with st.expander(name):
                st.markdown(table)


page.play(
    lambda: {f"{room.key}_release": room.release for room in ROOMS},
    **{each.key: lambda each=each: room(each) for each in ROOMS},
    limits=checked,
)
