"""Faults really put into two ranks: a log as it was printed, a diagnosis to commit to, and what decides it."""

import streamlit as st

from core.clinic.ranks_log import FITS, Fault
from runtime.faults import recorded
from runtime.prose import named, said
from ui import inputs
from ui.scenes import Page

UNDECIDED = "undecided"
"""A diagnosis that was not made."""


def ask(page: Page) -> tuple[Fault, str]:
    """Which log is open, and the diagnosis."""
    numbers = list(range(1, len(recorded()) + 1))
    number = inputs.choice(said("clinic", "says.log"), page.key("log"), numbers, numbers[0])
    diagnoses = [UNDECIDED, *FITS]
    chosen = inputs.select(said("clinic", "says.which_fault"), page.key(f"fault_{number}"), diagnoses, UNDECIDED)
    return recorded()[number - 1], chosen


def draw(page: Page, fault: Fault, chosen: str) -> None:
    """The log, and once a diagnosis was made, the line that decides it and how the run was made."""
    figure, margin = page.split()
    with figure:
        page.say("faults.ask")
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
