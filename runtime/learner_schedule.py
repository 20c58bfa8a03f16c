"""A learner's lab 04 file, run at the page's sizes and read."""

from pathlib import Path

from core.errors import CodeError
from core.pipeline_bubble.submission import RUN, TASKS, Submission
from runtime.learner_code import ROOT, WALL_S, as_int, run_program

LAB = ROOT / "labs" / "lab-04-pipeline-bubble"


def submissions(path: Path, stages: int, microbatches: int, wall_s: float = WALL_S) -> tuple[Submission, ...]:
    """Every task of a file and its run, tried in a process of its own with limits on time and memory."""
    done, stopped = run_program("pipeline_bubble", path, (stages, microbatches), wall_s)
    return tuple(_submission(task, done.get(task), stopped) for task in (*TASKS, RUN))


def _submission(task: str, row: dict[str, object] | None, stopped: str) -> Submission:
    """One line of results as a submission; a missing one as the reason it is missing."""
    if row is None:
        return Submission(task, error=CodeError(stopped))
    if "error" in row:
        return Submission(task, error=CodeError(str(row["error"]), as_int(row["line"])))
    return Submission(task, row["gave"])
