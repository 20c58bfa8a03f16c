"""Hangs at init on the page: a pasted log, the tests that were run, the causes left, and the test to run next."""

from collections.abc import Mapping

import streamlit as st

from core.clinic.hang import FAULTS, TESTS, Fault, HangState, Outcome, Standing, judge_causes, next_test
from core.clinic.hang_log import read_hang
from core.clinic.silent_init import silent_init
from runtime.captures import recorded_faults
from runtime.prose import named
from ui import inputs
from ui.paste import pasted, read
from ui.prose import prose_of
from ui.scenes import Page

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


def ask(page: Page) -> HangState:
    """The log and the outcomes, and what they leave."""
    with page.controls("hangs"):
        whose = page.control(inputs.choice, "whose", "says.whose_logs", [OWN, RECORDED], OWN)
        fault, diagnosis = _ask_recorded(page) if whose == RECORDED else (None, "")
    text = ""
    if page.scene == "hangs":
        with page.body.container(key="brought_hangs"):  # there without a log too: what follows keeps its place
            if fault is None:
                text = pasted(
                    page.label("says.logs_all_ranks_started"),
                    page.key("hang_log"),
                    kinds=("txt", "log", "out"),
                    example="\n".join(silent_init().log),
                )
    outcomes = _outcomes(page, shown=fault is None)
    log = read(read_hang, text)
    findings = judge_causes(log, outcomes)
    return HangState(log, findings, next_test(findings, outcomes), fault, diagnosis)


def _outcomes(page: Page, shown: bool) -> dict[str, Outcome]:
    """Which tests were run, and how they ended."""
    outcomes: dict[str, Outcome] = {}
    prose = prose_of("clinic", {})
    with (
        page.controls("tests", "hangs", when=shown),
        page.asks_folded(page.label("says.tests_you_have_run"), "tests"),
    ):
        for test in TESTS:
            asks = prose.plain(f"test.{test.key}")
            answer = inputs.choice(asks, page.key(f"test_{test.key}"), [NOT_RUN, *OUTCOMES], NOT_RUN)
            if answer in OUTCOMES:
                outcomes[test.key] = OUTCOMES[answer]
    return outcomes


def draw(page: Page, state: HangState) -> None:
    """The causes with where each stands, and beside them what to do next."""
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


def _next(page: Page, state: HangState) -> None:
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


def _ask_recorded(page: Page) -> tuple[Fault, str]:
    """Which log is open, and the diagnosis."""
    numbers = list(range(1, len(recorded_faults()) + 1))
    number = page.control(inputs.choice, "log", "says.log", numbers, numbers[0])
    diagnoses = [UNDECIDED, *FAULTS]
    chosen = page.control(inputs.select, f"fault_{number}", "says.which_fault", diagnoses, UNDECIDED)
    return recorded_faults()[number - 1], chosen


def _draw_recorded(page: Page, fault: Fault, chosen: str) -> None:
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
