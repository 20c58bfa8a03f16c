"""Hangs at init on the page: a pasted log, the tests that were run, the causes left, and the test to run next."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from core.clinic.hang import FAULTS, TESTS, Fault, HangState, Outcome, Standing, judge_causes, next_test
from core.clinic.hang_log import read_hang
from core.clinic.silent_init import silent_init
from runtime.captures import recorded_faults
from runtime.prose import named
from ui import paste
from ui.clinic import words
from ui.page import Page
from ui.question import Choice, ask

SIGNS: Mapping[Standing, str] = {
    "supported": ":red[:material/flag:]",
    "open": ":gray[**?**]",
    "excluded": ":green[:material/check:]",
}
OWN, RECORDED = "logs of your own", "recorded faults"
NOT_RUN = "not run"
UNDECIDED = "undecided"
"""A diagnosis that was not made."""
OUTCOMES: Mapping[str, Outcome] = {"yes": "yes", "no": "no"}


def _diagnosis() -> Any:
    return ask(UNDECIDED, Choice((UNDECIDED, *FAULTS), listed=True), "says.which_fault")


def _outcome() -> Any:
    return ask(NOT_RUN, Choice((NOT_RUN, *OUTCOMES)))


@dataclass(frozen=True)
class HangsQuestion:
    """Fields of the hangs: whose logs are read, which is open, what was said of each, how each test ended."""

    whose: str = ask(OWN, Choice((OWN, RECORDED)), "says.whose_logs")
    log: int = ask(1, Choice(tuple(range(1, 9))), "says.log")
    fault_1: str = _diagnosis()
    fault_2: str = _diagnosis()
    fault_3: str = _diagnosis()
    fault_4: str = _diagnosis()
    fault_5: str = _diagnosis()
    fault_6: str = _diagnosis()
    fault_7: str = _diagnosis()
    fault_8: str = _diagnosis()
    test_count: str = _outcome()
    test_versions: str = _outcome()
    test_gloo: str = _outcome()
    test_one_node: str = _outcome()
    test_port: str = _outcome()
    test_interface: str = _outcome()
    test_p2p: str = _outcome()
    test_shm: str = _outcome()


HangsPage = Page[HangsQuestion]
LOG = "hang_log"


def state_of(page: HangsPage) -> HangState:
    """Return the log and the outcomes, and what they leave; or the recorded log, and what was said of it."""
    asked = page.question
    said = {test.key: getattr(asked, f"test_{test.key}") for test in TESTS}
    outcomes = {key: OUTCOMES[outcome] for key, outcome in said.items() if outcome in OUTCOMES}
    recorded = asked.whose == RECORDED
    log = paste.read(read_hang, "" if recorded else paste.text_in(page.key(LOG)))
    findings = judge_causes(log, outcomes)
    fault, diagnosis = None, ""
    if recorded:
        fault, diagnosis = recorded_faults()[asked.log - 1], getattr(asked, f"fault_{asked.log}")
    return HangState(log, findings, next_test(findings, outcomes), fault, diagnosis)


def _draw_controls(page: HangsPage) -> None:
    """Draw whose logs are read, and of one's own the log and the tests that were run."""
    recorded = page.question.whose == RECORDED
    page.controls("whose", *(("log", f"fault_{page.question.log}") if recorded else ()))
    with st.container(key="brought_hangs"):  # there without a log too: what follows keeps its place
        if not recorded:
            label, example = page.label("says.logs_all_ranks_started"), "\n".join(silent_init().log)
            paste.draw(label, page.key(LOG), kinds=("txt", "log", "out"), example=example)
    with page.controls():
        if not recorded:
            page.folded(page.label("says.tests_you_have_run"), "tests", lambda: _draw_tests(page))


def _draw_tests(page: HangsPage) -> None:
    for test in TESTS:
        page.control(f"test_{test.key}", page.prose.plain(f"test.{test.key}"))


def draw(page: HangsPage) -> None:
    """Draw the causes with where each stands, and beside them what to do next."""
    _draw_controls(page)
    state = state_of(page)
    page.fill(words.hang_fields(state))
    if state.fault is not None:
        _draw_recorded(page, state.fault, state.diagnosis)
        return
    page.say("hangs.empty" if state.log.is_empty else "hangs.found")
    figure, margin = page.split()
    with figure:
        page.reading("hangs.causes")
        for finding in state.findings:
            sign, cause = SIGNS[finding.standing], page.prose.text(f"cause.{finding.cause}")
            reason = page.prose.text(f"reason.{finding.reason}")
            st.markdown(f"{sign} **{cause}**: {named('clinic', finding.standing)}, {reason}")
    with margin:
        _next(page, state)


def _next(page: HangsPage, state: HangState) -> None:
    if all(finding.standing == "excluded" for finding in state.findings):
        page.note("hangs.nothing")
        return
    page.note("hangs.next" if state.next_test else "hangs.undecided")
    if state.next_test:
        st.code(page.prose.plain(f"try.{state.next_test.key}"), language=None, wrap_lines=True)
    if len(state.left) <= 2:
        page.note("hangs.settled")
        for cause in state.left:
            st.markdown(f"**{page.prose.text(f'cause.{cause}')}.** {page.prose.text(f'cure.{cause}')}")


def _draw_recorded(page: HangsPage, fault: Fault, chosen: str) -> None:
    """The log, and once a diagnosis was made, the line that decides it and how the run was made."""
    page.say("faults.ask")
    figure, margin = page.split()
    with figure:
        st.code("\n".join(fault.lines), language=None, wrap_lines=True)
    with margin:
        if chosen == UNDECIDED:
            page.note("faults.hint")
            return
        page.verdict(
            "ok" if chosen == fault.key else "off", "faults.right" if chosen == fault.key else "faults.wrong"
        )
        st.markdown(f"**{named('clinic', fault.key)}.** {page.prose.text(f'fault.{fault.key}')}")
        page.note("faults.source")
        st.code(fault.manifest.command, language=None, wrap_lines=True)
