"""The learner's own code in the picture: run whenever it is saved, judged by task, drawn as it computed."""

from pathlib import Path

import streamlit as st

from core.sharding_math.attempt import TASKS, Attempt, Judgement, attempt_trace, judge, reference
from core.sharding_math.examples import Run
from core.units import grouped
from runtime import learner_code, learner_grading
from ui.players.block_stepper import block_stepper
from ui.prose import Prose, escape
from ui.sharding_math import stepper_views

RANKS = 4
WATCH_S = 1.5
_SAVED, _ATTEMPTS, _GRADES = "_learner_saved", "_learner_attempts", "_learner_grades"


def file_here() -> Path | None:
    """The file that may be run for this visitor, if any."""
    return learner_code.learner_file(st.context.url)


@st.fragment(run_every=WATCH_S)
def panel(path: Path, task: str, prose: Prose, present: bool) -> None:
    """Every task's verdict, and the chosen task's picture. Looks at the file again every moment or so."""
    attempts = _attempts(path)
    for attempt in attempts:
        _verdict(attempt, judge(attempt), prose)
    chosen = next(attempt for attempt in attempts if attempt.task == task)
    judged = judge(chosen)
    if judged.can_be_drawn:
        dense, _ = reference(chosen.task, RANKS)
        caption = prose.plain("learner.picture")
        still = stepper_views.still(Run(attempt_trace(chosen), dense), caption, judged.first_wrong, judged.due)
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


def _attempts(path: Path) -> tuple[Attempt, ...]:
    """The attempts of the file as it was last saved; run again only when it was saved since."""
    now = learner_code.saved(path)
    if st.session_state.get(_SAVED) != now:
        st.session_state[_ATTEMPTS] = learner_code.attempts(path, RANKS)
        st.session_state[_SAVED] = now
    found: tuple[Attempt, ...] = st.session_state[_ATTEMPTS]
    return found


def _verdict(attempt: Attempt, judged: Judgement, prose: Prose) -> None:
    """One line: a sign, the task, and what is right or wrong with it."""
    sign = ":green[:material/check:]" if judged.right else ":red[:material/close:]"
    words = Prose(prose.blocks, {**prose.fields, **_fields(attempt, judged)}).text(
        f"learner.{_case(attempt, judged)}"
    )
    st.markdown(f"{sign} `{attempt.task}` {words}")


def _case(attempt: Attempt, judged: Judgement) -> str:
    """Which sentence says it."""
    if attempt.error is not None:
        return "error" if attempt.error.line else "stopped"
    if not judged.can_be_drawn:
        return "shape"
    return "right" if judged.right else "wrong"


def _fields(attempt: Attempt, judged: Judgement) -> dict[str, str]:
    """The numbers of that sentence."""
    return {
        "task": str(TASKS.index(attempt.task) + 1),
        "message": attempt.error.message if attempt.error else "",
        "line": str(attempt.error.line) if attempt.error else "",
        "entries": grouped(judged.entries),
        "wrong_entries": grouped(judged.wrong),
        "sent": _collectives(judged.collectives),
        "due": _collectives(judged.due),
        "shape": str(judged.shape),
        "expected_shape": str(judged.expected_shape),
    }


def _collectives(count: int) -> str:
    return f"{count} collective{'' if count == 1 else 's'}"


def heading(path: Path, prose: Prose) -> str:
    """What is being watched."""
    named = path.relative_to(learner_code.ROOT) if path.is_relative_to(learner_code.ROOT) else path
    return f"{prose.text('learner.heading')} `{named}`"
