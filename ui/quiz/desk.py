"""The quiz's desk: one question, its answer judged, and the sheet of answers that the URL or a file keeps."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from core.course.quiz import Choice, Judged, Question, Score, Sheet, judge
from core.course.quiz.paper import MOST_SEED
from runtime import content
from runtime.prose import named
from runtime.quantities import heard
from ui import address
from ui.course import pages as course
from ui.page import Page
from ui.prose import Prose, escape
from ui.question import Text, ask
from ui.quiz.words import as_spoken, spoken

LONGEST_SHEET = 3900
"""Every answer written out comes to less."""


@dataclass(frozen=True)
class DeskQuestion:
    """The sheet of answers, and the question that was gone to."""

    sheet: str = ask("", Text(LONGEST_SHEET))
    at: str = ask("", Text())


DeskPage = Page[DeskQuestion]


def sheet_of(page: DeskPage) -> Sheet:
    """Return the sheet that the address holds."""
    return Sheet.from_text(page.question.sheet)


def open_question(page: DeskPage, sheet: Sheet, questions: Sequence[Question]) -> Question:
    """Return the question that was gone to; else the first that has no answer, else the last."""
    unanswered = (question for question in questions if question.key not in sheet.answers)
    named = (question for question in questions if question.key == page.question.at)
    return next(named, None) or next(unanswered, questions[-1])


def pose(page: DeskPage, sheet: Sheet, questions: Sequence[Question], question: Question) -> None:
    """Ask, or show what was answered and why it is so; then the way on."""
    prose = Prose(content.load("quiz"), spoken(question))
    index = questions.index(question)
    st.markdown(
        page.label("says.place", place=index + 1, questions=len(questions), concept=named("quiz", question.concept))
    )
    st.markdown(f"#### {prose.text(f'{question.key}.asks')}")
    answer = sheet.answers.get(question.key)
    judged = judge(question, answer) if answer is not None else None
    if judged is not None and judged.read:
        _reply(page, prose, question, answer or "", judged)
    else:
        _form(page, prose, sheet, question, judged)
    _turn(page, questions, index)


def _form(page: DeskPage, prose: Prose, sheet: Sheet, question: Question, judged: Judged | None) -> None:
    answer = f"answer_{sheet.seed}_{question.key}"
    with st.form(f"form_{question.key}", border=False):
        if isinstance(question, Choice):
            replies = {
                letter: prose.text(f"{question.key}.say_{name}")
                for letter, name in zip(question.letters, question.options, strict=True)
            }
            label = prose.plain("ask.options")
            st.radio(label, replies, index=None, format_func=lambda letter: replies[letter], key=answer)
        else:
            st.text_input(prose.plain(f"ask.number_{question.dimension}"), key=answer, max_chars=40)
        st.form_submit_button(
            page.label("says.answer"),
            type="primary",
            on_click=_commit,
            args=(page, sheet, question.key, answer, content.language()),
        )
    if judged is not None:
        st.warning(prose.text(judged.block))


def _commit(page: DeskPage, sheet: Sheet, key: str, answer: str, language: str) -> None:
    """Write the answer into the sheet, read as it was typed in `language`, and stay at its question."""
    reply = st.session_state[answer]
    if reply:
        with content.speaking(language):
            answered = sheet.with_answer(key, heard(reply))
        page.write(sheet=answered.text(), at=key)
    else:
        address.press()


def _reply(page: DeskPage, prose: Prose, question: Question, answer: str, judged: Judged) -> None:
    """What was said, whether it was right and why, and where it is taught."""
    if isinstance(question, Choice):
        answer = prose.plain(
            f"{question.key}.say_{question.options[question.letters.index(answer.strip().lower())]}"
        )
    else:
        answer = as_spoken(answer)
    mark = ":green[:material/check:]" if judged.right else ":red[:material/close:]"
    with st.container(key="verdict_answer", horizontal=True, gap="small"):
        st.markdown(mark, width="content")
        answered = prose.text("ask.right") if judged.right else prose.text("ask.wrong")
        st.markdown(f"**{answered}** {escape(answer)}\n\n{prose.text(judged.block)}", width="stretch")
    if not judged.right and not isinstance(question, Choice):
        st.markdown(f"{prose.text('ask.answer')} **{escape(as_spoken(question.key_answer))}**")
    taught = course.entry(question.taught.stem)
    link(taught, question.taught.scene, f"{prose.plain('ask.taught')} {taught.title}")


def _turn(page: DeskPage, questions: Sequence[Question], index: int) -> None:
    with st.container(horizontal=True, gap="small"):
        if index:
            before = questions[index - 1].key
            st.button(
                page.label("says.previous_question"),
                key="earlier",
                on_click=page.write,
                kwargs={"at": before},
            )
        if index + 1 < len(questions):
            after = questions[index + 1].key
            st.button(
                page.label("says.next_question"),
                key="later",
                on_click=page.write,
                kwargs={"at": after},
            )


def link(entry: course.Entry, scene: str, label: str) -> None:
    """A way to the scene that teaches it."""
    title = entry.scenes[scene]
    with st.container(key=f"entry_to_{entry.stem}_{scene}"):
        st.page_link(entry.path, label=f"{label}: {title}", query_params=address.of(entry, scene))


def keep(page: DeskPage, sheet: Sheet, score: Score) -> None:
    """The sheet as a file, a file as the sheet, and a paper with other numbers."""
    with st.container(key="keep", horizontal=True, vertical_alignment="bottom", gap="small"):
        st.download_button(
            page.label("says.download_your_answers"),
            sheet.text(),
            "shardlab-quiz.txt",
            "text/plain",
            on_click="ignore",
        )
        with st.popover(page.label("says.go_from_file")):
            st.file_uploader(
                page.label("says.your_answers"),
                ("txt",),
                key="quiz_file",
                on_change=_take,
                args=(page,),
                max_upload_size=1,
            )
        other = str((sheet.seed + 1) % MOST_SEED)
        st.button(
            page.label("says.other_numbers"), on_click=_begin, args=(page, other), disabled=not score.answered
        )


def _begin(page: DeskPage, text: str) -> None:
    page.write(sheet=text, at="")


def _take(page: DeskPage) -> None:
    address.press()
    file = st.session_state["quiz_file"]
    if file is not None:
        _begin(page, Sheet.from_text(file.getvalue().decode("utf-8", errors="replace")).text())
