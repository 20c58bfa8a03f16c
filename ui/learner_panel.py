"""The learner's own code in the picture: run whenever it is saved, judged by task, drawn as it computed."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

import streamlit as st

from core.sharding_math.examples import Run
from core.sharding_math.submission import TASKS, Judgement, Submission, judge, reference, submitted_trace
from runtime import learner_code, learner_grading
from runtime.files import ROOT
from runtime.prose import said
from runtime.quantities import grouped
from ui import language
from ui.players.block_stepper import block_stepper
from ui.prose import Prose, escape
from ui.sharding_math import boards

T = TypeVar("T")
RANKS = 4
WATCH_S = 1.5
_SIGNS = {True: ":green[:material/check:]", False: ":red[:material/close:]"}
_SUBMITTED, _GRADES = "_learner_submitted", "_learner_grades"


def file_here() -> Path | None:
    """The file that may be run on this server, if any."""
    return learner_code.learner_file()


@st.fragment(run_every=WATCH_S)
def panel(path: Path, task: str, prose: Prose, present: bool) -> None:
    """Every task's verdict, and the chosen task's picture. Looks at the file again every moment or so."""
    language.speak()
    run = partial(learner_code.submissions, path, RANKS)
    submitted: tuple[Submission, ...] = as_saved(_SUBMITTED, learner_code.saved(path), run)
    for submission in submitted:
        judged = judge(submission)
        verdict(submission.task, judged.right, prose, _case(submission, judged), _fields(submission, judged))
    draw_submission(submitted, task, prose, present)
    _grading(path, prose)


def draw_submission(submitted: Sequence[Submission], task: str, prose: Prose, present: bool) -> bool:
    """Draw what one task of the learner's computed, where it has the right shape; False where it has not."""
    chosen = next((submission for submission in submitted if submission.task == task), None)
    judged = judge(chosen) if chosen else None
    if chosen is None or judged is None or not judged.can_be_drawn:
        return False
    dense, _ = reference(chosen.task, RANKS)
    caption = prose.plain("learner.picture")
    unwanted = range(judged.due, judged.collectives)
    still = boards.still(Run(submitted_trace(chosen), dense), caption, judged.first_wrong, unwanted)
    block_stepper(still, key="learner", present=present, start=-1, controls=False)
    return True


def _grading(path: Path, prose: Prose) -> None:
    """The lab's tests by task, run when asked for and shown until the file is saved again."""
    now = learner_code.saved(path)
    if st.button(prose.plain("learner.grade"), key="grade"):
        with st.spinner(prose.plain("learner.grading")):
            st.session_state[_GRADES] = (now, learner_grading.grade(path))
    graded, grades = st.session_state.get(_GRADES, (None, ()))
    if graded != now:
        return
    if not grades:
        st.error(prose.plain("learner.no_grade"))
    for grade in grades:
        why = f": {escape(grade.first_failure)}" if grade.first_failure else ""
        task = f"{said('classroom', 'table.task')} {grade.task}"
        st.markdown(f"{_SIGNS[grade.done]} `{task}` {grade.passed} / {grade.tests}{why}")


def as_saved(key: str, now: object, run: Callable[[], T]) -> T:
    """What the code of a file gave as it was last saved, under a key; run again only when `now` is new."""
    kept: tuple[object, T] | None = st.session_state.get(key)
    if kept is None or kept[0] != now:
        kept = st.session_state[key] = now, run()
    return kept[1]


def verdict(task: str, right: bool, prose: Prose, case: str, fields: Mapping[str, object]) -> None:
    """One line: a sign, the task, and what is right or wrong with it."""
    words = Prose(prose.blocks, {**prose.fields, **fields}).text(f"learner.{case}")
    st.markdown(f"{_SIGNS[right]} `{task}` {words}")


def _case(submission: Submission, judged: Judgement) -> str:
    if submission.error is not None:
        return "error" if submission.error.line else "stopped"
    if not judged.can_be_drawn:
        return "shape"
    return "right" if judged.right else "wrong"


def _fields(submission: Submission, judged: Judgement) -> dict[str, object]:
    """The numbers of that sentence."""
    return {
        "task": str(TASKS.index(submission.task) + 1),
        "message": submission.error.message if submission.error else "",
        "line": str(submission.error.line) if submission.error else "",
        "entries": grouped(judged.entries),
        "wrong_entries": grouped(judged.wrong),
        "sent": _collectives(judged.collectives),
        "due": _collectives(judged.due),
        "shape": str(judged.shape),
        "expected_shape": str(judged.expected_shape),
    }


def _collectives(count: int) -> str:
    return said("sharding_math", "says.collectives", count=count)


def heading(path: Path, prose: Prose) -> str:
    named = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
    return f"{prose.text('learner.heading')} `{named}`"
