"""Lab 04's own-code panel: watches the learner's file while it is edited, judges it, and draws the run it gives."""

from pathlib import Path

import streamlit as st

from core.pipeline_bubble.attempt import RUN, Attempt, drawn, judge
from core.pipeline_bubble.bubble import counted_bubble
from core.pipeline_bubble.schedules.actions import Span
from core.pipeline_bubble.schedules.validity import Violation, violations
from runtime import learner_code, learner_schedule
from ui.learner_panel import WATCH_S, heading
from ui.pipeline_bubble.bench import forward_grid
from ui.players.schedule_player import Mark, schedule_player
from ui.prose import Prose

_STATE, _ATTEMPTS = "_schedule_state", "_schedule_attempts"


def file_here() -> Path | None:
    """The file that may be run for this visitor, if any."""
    return learner_code.learner_file(st.context.url, lab=learner_schedule.LAB)


@st.fragment(run_every=WATCH_S)
def panel(path: Path, stages: int, microbatches: int, prose: Prose, present: bool) -> None:
    """Every task's verdict, and the learner's run. Looks at the file again every moment or so."""
    st.markdown(heading(path, prose))
    attempts = _attempts(path, stages, microbatches)
    for attempt in attempts:
        if attempt.task != RUN:
            _verdict(attempt, stages, microbatches, prose)
    run = drawn(attempts, stages, microbatches)
    if run:
        _draw(run, stages, microbatches, prose, present)


def _draw(run: list[Span], stages: int, microbatches: int, prose: Prose, present: bool) -> None:
    """The run as it came, with each span that breaks a rule outlined."""
    broken = list(violations(run, stages, microbatches))
    fields = _run_fields(run, stages, broken)
    words = Prose(prose.blocks, {**prose.fields, **fields})
    name = "learner.picture_wrong" if broken else "learner.picture"
    marks = tuple(Mark("wrong", found.span.rank, float(found.span.start)) for found in broken if found.span)
    schedule_player(
        forward_grid(run, stages, marks=marks),
        key="learner_run",
        alt=words.plain(name),
        present=present,
        start="end",
    )
    st.markdown(words.text(name))


def _run_fields(run: list[Span], stages: int, broken: list[Violation]) -> dict[str, str]:
    cells = stages * int(max(span.end for span in run))
    return {
        "idle": str(counted_bubble(run, stages) * cells),
        "cells": str(cells),
        "broken": f"{len(broken)} broken rule{'' if len(broken) == 1 else 's'}",
        "first": broken[0].message if broken else "",
    }


def _attempts(path: Path, stages: int, microbatches: int) -> tuple[Attempt, ...]:
    """The attempts of the file as it was last saved, at these sizes; run again only when either is new."""
    now = (learner_code.saved(path), stages, microbatches)
    if st.session_state.get(_STATE) != now:
        st.session_state[_ATTEMPTS] = learner_schedule.attempts(path, stages, microbatches)
        st.session_state[_STATE] = now
    found: tuple[Attempt, ...] = st.session_state[_ATTEMPTS]
    return found


def _verdict(attempt: Attempt, stages: int, microbatches: int, prose: Prose) -> None:
    """One line: a sign, the task, and what is right or wrong with it."""
    judged, error = judge(attempt, stages, microbatches), attempt.error
    sign = ":green[:material/check:]" if judged.right else ":red[:material/close:]"
    fields = {"gave": judged.gave, "due": judged.due}
    if error is not None:
        fields |= {"message": error.message, "line": str(error.line)}
        case = "error" if error.line else "stopped"
    else:
        case = "right" if judged.right else "wrong"
    words = Prose(prose.blocks, {**prose.fields, **fields}).text(f"learner.{case}")
    st.markdown(f"{sign} `{attempt.task}` {words}")
