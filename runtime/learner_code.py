"""A learner's file, run and read: which file, whether it may be run here, and what it gave in labs 01 and 04."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import numpy as np

from core.course.grading.remarks import remark_of
from core.errors import CodeError, Remark, raised, remark
from core.ledger import Collective, Op
from core.pipeline_bubble import submission as schedule
from core.sharding_math.submission import TASKS, Submission, Task
from core.sharding_math.tensors import Array
from runtime.confinement import end_group
from runtime.files import ROOT
from runtime.processes import PARENT
from runtime.scratch import scratch, temporary_folder
from runtime.torch_here import live_runs_allowed

LAB, SCHEDULE_LAB = ROOT / "labs" / "lab-01-tp-sharding-math", ROOT / "labs" / "lab-04-pipeline-bubble"
WALL_S = 10.0
MOST_LINES = 256
"""Of a ledger, and of what went into all-reduces: a picture has a dozen."""
PASSED_ON = ("PATH", "SYSTEMROOT", "LANG", "LD_LIBRARY_PATH")
"""All their process is told of our environment: what Python itself may need, and no secret."""

PROGRAM = Path(__file__).with_name("learner_process.py")
ERRORS, LAST_BYTES = "errors", 4_096
NOT_REACHED = remark("labs.error.not_reached")


@dataclass(frozen=True)
class Saved:
    """A file as it was last saved. Two of them are equal while nobody saves again."""

    path: Path
    modified_ns: int
    size_bytes: int


def learner_file(environ: Mapping[str, str] = os.environ, lab: Path = LAB) -> Path | None:
    """The learner's file for a lab, where there is one and it may be run.

    The person who starts the server names it, in `LAB_IMPL`: `starter`, or a path. No address can; and a server
    that was not declared private runs nobody's file. A path in another lab's folder is that lab's.
    """
    named = environ.get("LAB_IMPL", "")
    if named in ("", "solution") or not live_runs_allowed(environ):
        return None
    path = lab / "starter.py" if named == "starter" else Path(named).resolve()
    elsewhere = path.is_relative_to(ROOT / "labs") and not path.is_relative_to(lab)
    return path if path.is_file() and not elsewhere else None


def saved(path: Path) -> Saved:
    """The state of a file now; one that is away, while an editor puts it anew, is empty."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return Saved(path, 0, 0)
    return Saved(path, status.st_mtime_ns, status.st_size)


def submissions(path: Path, num_ranks: int, wall_s: float = WALL_S) -> tuple[Submission, ...]:
    """Every task of a file, tried in a process of its own with limits on time and memory."""
    done, stopped = run_program("sharding_math", path, (num_ranks,), wall_s)
    return read_submissions(done, num_ranks, stopped)


def read_submissions(
    rows: Mapping[object, Mapping[str, object]], num_ranks: int, stopped: Remark = NOT_REACHED
) -> tuple[Submission, ...]:
    """Lab 01's rows as submissions. `stopped` says why a row that is not there is missing."""
    return tuple(_submission(task, num_ranks, rows.get(task), stopped) for task in TASKS)


def schedule_submissions(
    path: Path, stages: int, microbatches: int, wall_s: float = WALL_S
) -> tuple[schedule.Submission, ...]:
    """The same of lab 04, and the run of its parts together."""
    done, stopped = run_program("pipeline_bubble", path, (stages, microbatches), wall_s)
    return read_schedules(done, stopped)


def read_schedules(
    rows: Mapping[object, Mapping[str, object]], stopped: Remark = NOT_REACHED
) -> tuple[schedule.Submission, ...]:
    """Lab 04's rows as submissions."""
    by_task = {task: rows.get(task) for task in (*schedule.TASKS, schedule.RUN)}
    return tuple(
        schedule.Submission(task, row["gave"] if row and "gave" in row else None, _error(row, stopped))
        for task, row in by_task.items()
    )


def run_program(
    lab: str, path: Path, sizes: Sequence[int], wall_s: float
) -> tuple[dict[object, dict[str, object]], Remark]:
    """Every task of a lab's file at these sizes: a line by task, as far as it came, and why it came no further."""
    try:
        with scratch("learner") as folder:
            results = Path(folder) / "results"
            told = [ROOT, path, results, lab, *sizes]
            stopped = _stopped([sys.executable, "-I", "-B", str(PROGRAM), *map(str, told)], Path(folder), wall_s)
            lines = results.read_bytes().splitlines() if results.is_file() else []
    except OSError as error:
        return {}, remark("labs.error.not_run", error=error.strerror, folder=str(temporary_folder()))
    return {row["task"]: row for row in filter(None, map(_row, lines))}, stopped


def run_bounded(
    command: Sequence[str], folder: Path, wall_s: float, cwd: Path, environment: Mapping[str, str]
) -> int:
    """Run somebody's program to its end, and end what it started; its exit status, or subprocess.TimeoutExpired.

    What it prints is kept nowhere, as it may print without end; the end of its errors is in `folder`.
    """
    passed_on = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    limits = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "TMPDIR": str(folder), PARENT: str(os.getpid())}
    with (folder / ERRORS).open("wb") as errors:
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env={**passed_on, **limits, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            start_new_session=True,
        )
        try:
            return process.wait(wall_s)
        finally:
            end_group(process.pid)
            process.kill()
            process.wait()


def _stopped(command: list[str], folder: Path, wall_s: float) -> Remark:
    """Run to the end or to a limit; a remark where a limit was met or the process broke."""
    try:
        status = run_bounded(command, folder, wall_s, folder, {})
    except subprocess.TimeoutExpired:
        return remark("labs.error.too_long", wall=f"{wall_s:g}")
    if status < 0:
        return remark("labs.error.processor", signal=-status)
    return NOT_REACHED if status == 0 else _last_line((folder / ERRORS).read_bytes())


def _last_line(errors: bytes) -> Remark:
    lines = errors[-LAST_BYTES:].decode(errors="replace").strip().splitlines()
    return remark("errors.own_words", words=lines[-1]) if lines else remark("labs.error.without_word")


def _row(line: bytes) -> dict[str, object] | None:
    """A line of results; None for one that was cut when its process ended, or its disk was full."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None


def _submission(task: Task, num_ranks: int, row: Mapping[str, object] | None, stopped: Remark) -> Submission:
    """One line of results as a submission; a missing one as the reason it is missing."""
    error = _error(row, stopped)
    if row is None or error is not None:
        return Submission(task, num_ranks, error=error)
    try:
        return Submission(
            task,
            num_ranks,
            y=_array(row.get("y")),
            collectives=tuple(_collective(*entry) for entry in _rows(row.get("collectives"))),
            reduced=tuple(tuple(map(_array, parts)) for parts in _rows(row.get("reduced"))),
        )
    except (TypeError, ValueError, OverflowError) as unreadable:  # a visitor's browser may tell anything
        return Submission(task, num_ranks, error=CodeError(raised(unreadable, str(unreadable)[:200])))


def _collective(op: Any, payload_bytes: Any, ranks: Any) -> Collective:
    """A line of a ledger, held to what a ledger may have."""
    whole = isinstance(payload_bytes, int) and isinstance(ranks, int)
    if op not in get_args(Op) or not whole or not 0 <= payload_bytes < 2**53 or not 0 < ranks < 2**16:
        raise ValueError(f"{op!r}, {payload_bytes!r}, {ranks!r} is no line of a ledger")
    return Collective(op, payload_bytes, ranks)


def _error(row: Mapping[str, object] | None, stopped: Remark) -> CodeError | None:
    """Why a line of results holds none, if it does."""
    if row is None:
        return CodeError(stopped)
    line = row.get("line")
    return CodeError(remark_of(row["error"]), line if isinstance(line, int) else 0) if "error" in row else None


def _array(value: object) -> Array:
    return np.asarray(value, dtype=np.float64)


def _rows(value: object) -> list[list]:  # type: ignore[type-arg]
    """The parts of what should be a list; a picture has no room for more of them."""
    if isinstance(value, list) and len(value) > MOST_LINES:
        raise ValueError(f"{len(value)} lines of a ledger, more than are drawn")
    return value if isinstance(value, list) else []
