"""Find it: a search over scenes, terms and questions, and the keys."""

from dataclasses import dataclass
from urllib.parse import parse_qsl

import streamlit as st

from core.course.find_it import LONGEST_QUERY, Found, find
from ui import address, scenes
from ui.course import pages as course
from ui.find_it.index import index
from ui.page import Page
from ui.prose import escape
from ui.question import Text, ask


@dataclass(frozen=True)
class Question:
    """The words that are searched for in scenes, terms and questions."""

    words: str = ask("", Text(LONGEST_QUERY), "says.words_scene_term_or")


def show(one: Found, number: int) -> None:
    stem, _, asked = one.place.address.partition("?")
    with st.container(key=f"place_find_{number}"):
        kind, region = st.columns([1, 7], gap="medium")
        kind.markdown(f":gray[{one.place.kind}]")
        with region:
            entry = course.entry(stem)
            query = {**address.shared(), **dict(parse_qsl(asked))}
            st.page_link(entry.path, label=escape(one.place.title), query_params=query)
            st.markdown(escape(one.passage))


def search(page: Page[Question]) -> None:
    page.controls("words")
    query = page.question.words
    results = find(query, index())
    if not results:
        page.say("find.nothing" if query.strip() else "find.lead")
    for number, one in enumerate(results):
        show(one, number)


scenes.play("find_it", Question, lambda page: {"query": page.question.words.strip()}, find=search)
