"""Ask: a question as users post it, the sum that answers it, and where to try it with one's own model and GPUs."""

import shlex
from collections.abc import Mapping

import streamlit as st

from core.ask.answers import Answered
from core.errors import UnknownNameError
from runtime.prose import explained, worded
from ui import scenes, tested
from ui.ask.answer import GROUPS, Question, answer_to, asking, way
from ui.course import pages as course
from ui.page import Page
from ui.prose import escape


def found(page: Page[Question]) -> Answered | None:
    return answer_to(page.question, page.scenario)


def fields(page: Page[Question]) -> Mapping[str, object]:
    kinds = sum(map(len, GROUPS.values()))
    return {"kinds": kinds, "model": page.scenario.model_spec, "gpu": page.scenario.gpu_spec}


def to_ask(page: Page[Question], label: str, **values: str) -> None:
    st.page_link(course.entry("ask").path, label=escape(label), query_params=asking(**values))


def answer(page: Page[Question], told: Answered) -> None:
    assert told.understood is not None
    page.tell(page.label(f"kind.{told.kind}"))
    st.markdown(f"#### {escape(page.label(f'kind.{told.kind}'))}")
    st.markdown(escape(worded(told.understood).rstrip()))
    st.markdown("\n".join(f"- {escape(worded(line).rstrip())}" for line in told.lines))
    with st.container(key="place_ask_ways", horizontal=True, gap="large"):
        for link in told.links:
            path, label, query = way(link)
            st.page_link(path, label=escape(label), query_params=query)
    if told.command:
        st.code(shlex.join(("shardlab", *told.command)), language="bash", wrap_lines=True)
        tested.beside_times(told.asked.gpu, told.asked.model)


def ask(page: Page[Question]) -> None:
    page.controls("words")
    try:
        told = page.once(found)
    except UnknownNameError as refusal:
        told = None
        st.error(escape(explained(refusal)))
    if told is not None and told.kind:
        answer(page, told)
        if told.others:
            page.say("ask.others")
            with st.container(key="place_ask_others", horizontal=True, gap="medium"):
                for kind in told.others:
                    to_ask(page, page.label(f"kind.{kind}"), words=page.question.words, kind=kind)
        return
    page.say("ask.nothing" if told else "ask.lead")
    with st.container(key="place_ask_posted"):
        for words in page.label("posted").splitlines():
            to_ask(page, words, words=words)


def every(page: Page[Question]) -> None:
    page.say("every.lead")
    columns = st.columns(2, gap="large")
    for number, (group, kinds) in enumerate(GROUPS.items()):
        with columns[number % 2], st.container(key=f"place_ask_{group}"):
            st.markdown(f"##### {page.label(f'group.{group}')}")
            for kind in kinds:
                to_ask(page, page.label(f"kind.{kind}"), kind=kind)


scenes.play("ask", Question, fields, ask=ask, every=every)
