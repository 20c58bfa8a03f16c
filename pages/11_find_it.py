"""Find it: a search over scenes, terms and questions, and the keys."""

from urllib.parse import parse_qsl

import streamlit as st

from core.course.find_it import LONGEST_QUERY, Found, find
from runtime.prose import said
from ui import inputs, scenes
from ui.course import pages as course
from ui.find_it.index import index
from ui.prose import escape

page = scenes.open_page("find_it")
with page.controls("find"):
    query = inputs.line(said("find_it", "says.words_scene_term_or"), page.key("words"), LONGEST_QUERY)
results = find(query, index())


def show(one: Found, number: int) -> None:
    stem, _, asked = one.place.address.partition("?")
    with st.container(key=f"place_find_{number}"):
        kind, region = st.columns([1, 7], gap="medium")
        kind.markdown(f":gray[{one.place.kind}]")
        with region:
            entry = course.entry(stem)
            st.page_link(entry.path, label=escape(one.place.title), query_params=dict(parse_qsl(asked)))
            st.markdown(escape(one.passage))


def search() -> None:
    if not results:
        page.say("find.nothing" if query.strip() else "find.lead")
    for number, one in enumerate(results):
        show(one, number)


page.play(lambda: {"query": query.strip()}, find=search)
