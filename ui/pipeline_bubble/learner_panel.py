"""Lab 04's own-code panel: watches the learner's file while it is edited, judges it, and draws the run it gives."""

from functools import partial
from pathlib import Path

import streamlit as st

from core.pipeline_bubble.bubble import counted_bubble
from core.pipeline_bubble.schedules.actions import Span
from core.pipeline_bubble.schedules.validity import violations
from core.pipeline_bubble.submission import RUN, Judgement, Submission, judge, run_of
from runtime import learner_code
from ui import language, solve
from ui.learner_panel import WATCH_S, as_saved, heading, verdict
from ui.pipeline_bubble import grids, words
from ui.players.schedule_player import Mark, schedule_player
from ui.prose import Prose

_LONGEST = 80
"""Letters of a learner's own value that are shown."""


def file_here() -> Path | None:
    """The file that may be run on this server, if any."""
    return learner_code.learner_file(lab=learner_code.SCHEDULE_LAB)


@st.fragment(run_every=WATCH_S)
def panel(path: Path, stages: int, microbatches: int, prose: Prose, present: bool) -> None:
    """Every task's verdict, and the learner's run. Looks at the file again every moment or so."""
    language.speak()
    st.markdown(heading(path, prose))
    now = (learner_code.saved(path), stages, microbatches)
    tried = partial(learner_code.schedule_submissions, path, stages, microbatches)
    submissions: tuple[Submission, ...] = as_saved("_schedule_submissions", now, tried)
    for submission in submissions:
        if submission.task != RUN:
            judged = judge(submission, stages, microbatches)
            fields = {"gave": _shown(judged.gave), "due": _shown(judged.due), "error": submission.error}
            verdict(submission.task, judged.right, prose, _case(submission, judged), fields)
    draw_submitted(submissions, stages, microbatches, prose, present)


def solve_here(stages: int, microbatches: int, prose: Prose, present: bool) -> None:
    """Draw the lab's editor and tests, then the run that the code gave for these sizes when it was last tried."""
    rows = {row["task"]: row for row in solve.panel("lab-04", (stages, microbatches))}
    draw_submitted(learner_code.read_schedules(rows), stages, microbatches, prose, present)


def draw_submitted(
    submissions: tuple[Submission, ...], stages: int, microbatches: int, prose: Prose, present: bool
) -> None:
    """Draw the learner's run, where their tasks give one."""
    run = run_of(submissions, stages, microbatches)
    if run:
        _draw(run, stages, microbatches, prose, present)


def _draw(run: list[Span], stages: int, microbatches: int, prose: Prose, present: bool) -> None:
    """The run as it came, with each span that breaks a rule outlined."""
    broken = list(violations(run, stages, microbatches))
    cells = stages * int(max(span.end for span in run))
    idle = counted_bubble(run, stages) * cells
    first = words.broken(broken[0]) if broken else ""
    own = Prose(prose.blocks, {**prose.fields, "idle": idle, "cells": cells, "broken": len(broken), "first": first})
    name = "learner.picture_wrong" if broken else "learner.picture"
    marks = tuple(Mark("wrong", rule.span.rank, float(rule.span.start)) for rule in broken if rule.span)
    grid = grids.forward(run, stages, marks=marks)
    schedule_player(grid, key="learner_run", alt=own.plain(name), present=present, start="end")
    st.markdown(own.text(name))


def _case(submission: Submission, judged: Judgement) -> str:
    if submission.error is not None:
        return "error" if submission.error.line else "stopped"
    if judged.right:
        return "right"
    return "lengths" if judged.lengths else "wrong"


def _shown(value: object) -> str:
    """A row as its action, `2F0`, with the ticks of a span; any other value as it stands."""
    if not isinstance(value, list) or len(value) not in (3, 6):
        return str(value)[:_LONGEST]
    action = "".join(map(str, value[:3]))
    return (action if len(value) == 3 else f"{action}@{value[4]}–{value[5]}")[:_LONGEST]
