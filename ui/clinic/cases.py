"""The clinic's cases on the page: a symptom, a diagnosis to commit to, the others' fault, the model, the remedy."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from core.clinic import CASES, examine
from core.clinic.answers import Answers
from core.clinic.case import Bars, Case, Histogram, Lines, Picture
from ui.clinic import charts, rows, words
from ui.figures.frames import Row, as_row
from ui.page import Page
from ui.question import Choice, Text, ask
from ui.shortcuts import shortcut


@dataclass(frozen=True)
class CasesQuestion:
    """The case that is open, and what was said of all."""

    case: str = ask(next(iter(CASES)), Choice(tuple(CASES), listed=True), "says.case")
    answers: str = ask("", Text())


CasesPage = Page[CasesQuestion]


@st.cache_resource(max_entries=1)
def every_case() -> list[Case]:
    """Return all cases: the same for every visitor, for the seed is fixed."""
    return [examine(key) for key in CASES]


def open_case(page: CasesPage) -> Case:
    """Return the case that is asked for."""
    return next(case for case in every_case() if case.key == page.question.case)


def answers(page: CasesPage) -> Answers:
    """Return what was said of the cases so far."""
    return Answers.from_text(page.question.answers)


def draw(page: CasesPage) -> None:
    """Draw one case from its symptom to its remedy; what follows the diagnosis appears once it is revealed."""
    case, given = open_case(page), answers(page)
    if any(one.unit == "s" for one in case.figures):
        page.data_sheet = "compute"
    titles = {key: page.prose.plain(f"{key}.title") for key in CASES}
    with page.controls():
        page.control("case", format_func=titles.__getitem__)
    chosen, revealed = given.of(case)
    figure, margin = page.split()
    with figure:
        if revealed:
            _verdict(page, case, chosen)
            _explained(page, case)
            with st.expander(page.prose.plain("cases.symptom")):
                _symptom(page, case)
        else:
            _symptom(page, case)
    with margin:
        if revealed:
            page.note("cases.seen")
            page.say(f"{case.key}.seen")
            _why_not(page, case, chosen)
        else:
            _ask(page, case, given, chosen)
        if given.right(every_case())[1]:
            page.note("cases.score")


def _symptom(page: CasesPage, case: Case) -> None:
    page.say(f"{case.key}.story")
    if case.symptom is not None:
        _picture(page, case, case.symptom, "symptom")
    if case.log:
        st.code("\n".join(case.log), language=None, wrap_lines=True)
        page.say("cases.log")


def _picture(page: CasesPage, case: Case, coded: Picture, block: str) -> None:
    """A picture of any of the three kinds, with its reading and its table."""
    name = f"{case.key}_{block}"
    picture = coded.renamed(lambda code: words.name_of(page.prose, case, code))
    table: Sequence[Row]
    if isinstance(picture, Bars):
        table = rows.bar_parts(picture)
        chart = charts.term_bars(table, rows.bar_ends(picture), rows.unit_of(picture), page.look)
    elif isinstance(picture, Histogram):
        table = rows.histogram_steps(picture)
        chart = charts.time_histogram(table, page.look)
    else:
        table = rows.line_points(picture)
        chart = charts.series_lines(table, picture.x, picture.y, page.look)
    if isinstance(coded, Lines):
        named = {"x": coded.x, "y_ms": f"{coded.y}_ms"}
        table = [{named.get(column, column): value for column, value in as_row(row).items()} for row in table]
    page.figure(chart, f"{case.key}.{block}", table, name)


def _ask(page: CasesPage, case: Case, given: Answers, chosen: str | None) -> None:
    """The diagnoses, and the button that shows the truth once one is committed, or a presenter skips."""
    page.say("cases.ask")
    widget = f"_diagnosis_{case.key}"
    if st.session_state.get(widget) != chosen:
        st.session_state[widget] = chosen  # as after Back, or a link
    st.radio(
        page.prose.plain("cases.ask"),
        case.candidates,
        index=None,
        format_func=lambda candidate: page.prose.plain(f"{case.key}.say_{candidate}"),
        key=widget,
        label_visibility="collapsed",
        on_change=_commit,
        args=(page, case, given, widget),
    )
    st.button(
        page.prose.plain("cases.reveal"),
        key="reveal_case",
        shortcut=shortcut("V"),
        type="primary",
        disabled=not (chosen or page.look.present),
        on_click=page.write,
        kwargs={"answers": given.with_revealed(case.key).text()},
        help=None if chosen else page.label("says.commit_diagnosis_first"),
    )


def _commit(page: CasesPage, case: Case, given: Answers, widget: str) -> None:
    page.write(answers=given.with_said(case.key, case.candidates.index(st.session_state[widget])).text())


def _verdict(page: CasesPage, case: Case, chosen: str | None) -> None:
    """What was chosen and whether it holds, then the truth where it was another."""
    if chosen not in (None, case.truth):
        _told(page, case, chosen or "", "off", "cases.wrong")
    _told(page, case, case.truth, "ok", "cases.skipped" if chosen != case.truth else "cases.right")


def _told(page: CasesPage, case: Case, candidate: str, sign: str, opening: str) -> None:
    mark = ":green[:material/check:]" if sign == "ok" else ":red[:material/close:]"
    with st.container(key=f"verdict_{case.key}_{candidate}", horizontal=True, gap="small"):
        st.markdown(mark, width="content")
        name, why = (page.prose.text(f"{case.key}.{kind}_{candidate}") for kind in ("say", "why"))
        st.markdown(f"{page.prose.text(opening)} {name}.\n\n{why}", width="stretch")


def _explained(page: CasesPage, case: Case) -> None:
    page.note("cases.model")
    _picture(page, case, case.model, "model")
    page.note("cases.fix")
    if case.fix is not None:
        _picture(page, case, case.fix, "fix")
    else:
        page.reading(f"{case.key}.fix")


def _why_not(page: CasesPage, case: Case, chosen: str | None) -> None:
    """The diagnoses that were not chosen, each with what it leaves unexplained."""
    with st.expander(page.prose.plain("cases.others")):
        for candidate in case.candidates:
            if candidate not in (case.truth, chosen):
                name, why = (page.prose.text(f"{case.key}.{kind}_{candidate}") for kind in ("say", "why"))
                st.markdown(f"**{name}.** {why}")
