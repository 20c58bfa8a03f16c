"""The learner's own code in the picture: run whenever it is saved, judged by task, drawn as it computed."""

from pathlib import Path

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

RANKS = 4
WATCH_S = 1.5
_SAVED, _SUBMITTED, _GRADES = "_learner_saved", "_learner_submitted", "_learner_grades"


def file_here() -> Path | None:
    """The file that may be run on this server, if any."""
    return learner_code.learner_file()


@st.fragment(run_every=WATCH_S)
def panel(path: Path, task: str, prose: Prose, present: bool) -> None:
    """Every task's verdict, and the chosen task's picture. Looks at the file again every moment or so."""
    language.speak()
    submitted = _submitted(path)
    for submission in submitted:
        _verdict(submission, judge(submission), prose)
    chosen = next(submission for submission in submitted if submission.task == task)
    judged = judge(chosen)
    if judged.can_be_drawn:
        dense, _ = reference(chosen.task, RANKS)
        caption = prose.plain("learner.picture")
        still = boards.still(
            Run(submitted_trace(chosen), dense), caption, judged.first_wrong, range(judged.due, judged.collectives)
        )
        block_stepper(still, key="learner", present=present, start=-1, controls=False)

    _grading(path, prose)


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
        sign = ":green[:material/check:]" if grade.done else ":red[:material/close:]"
        why = f": {escape(grade.first_failure)}" if grade.first_failure else ""
        st.markdown(f"{sign} `task {grade.task}` {grade.passed} / {grade.tests}{why}")


def _submitted(path: Path) -> tuple[Submission, ...]:
    """What the code of the file gave as it was last saved; run again only when it was saved since."""
    now = learner_code.saved(path)
    if st.session_state.get(_SAVED) != now:
        st.session_state[_SUBMITTED] = learner_code.submissions(path, RANKS)
        st.session_state[_SAVED] = now
    submissions: tuple[Submission, ...] = st.session_state[_SUBMITTED]
    return submissions


def _verdict(submission: Submission, judged: Judgement, prose: Prose) -> None:
    """One line: a sign, the task, and what is right or wrong with it."""
    sign = ":green[:material/check:]" if judged.right else ":red[:material/close:]"
    words = Prose(prose.blocks, {**prose.fields, **_fields(submission, judged)}).text(
        f"learner.{_case(submission, judged)}"
    )
    st.markdown(f"{sign} `{submission.task}` {words}")


def _case(submission: Submission, judged: Judgement) -> str:
    if submission.error is not None:
        return "error" if submission.error.line else "stopped"
    if not judged.can_be_drawn:
        return "shape"
    return "right" if judged.right else "wrong"


def _fields(submission: Submission, judged: Judgement) -> dict[str, str]:
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
