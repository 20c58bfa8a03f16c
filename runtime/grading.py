"""A learner's file under a lab's own tests: a process for each task, with limits, and what each test said.

A task that runs for ever, uses up the memory or ends its process costs its own points and no other's. The limits
keep an accident from harming the machine; against somebody who means harm, run this in a container.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree

from core.course.grading.tasks import Lab, Task, TaskResult, tally
from core.errors import OutOfRangeError, ShardlabError
from runtime.learner_code import PASSED_ON, ROOT

_PROGRAM = (
    "import sys; sys.path.insert(0, {root!r}); from runtime import learner_process;"
    " learner_process.MEMORY_BYTES = {memory_bytes}; learner_process.limit({cpu_s});"
    " import pytest; sys.exit(pytest.main(sys.argv[1:]))"
)
_KEPT = 240
"""Characters kept of a failure's beginning, which says what was expected, and of its end, where tracebacks do."""


@dataclass(frozen=True)
class Limits:
    """What one task may use: time on the clock, time of a processor, and memory."""

    wall_s: float = 30.0
    cpu_s: int = 20
    memory_bytes: int = 2 * 2**30


TORCH_LIMITS = Limits(wall_s=150.0, cpu_s=120, memory_bytes=24 * 2**30)
"""Real ranks load PyTorch, which reserves far more address space than it uses."""


def grade(lab: Lab, file: Path, limits: Limits | None = None) -> tuple[TaskResult, ...]:
    """Every task of a lab, as the lab's tests find it in `file`.

    Raises OutOfRangeError for a file that is not there, ShardlabError where a lab's tests cannot run.
    """
    if not file.is_file():
        raise OutOfRangeError("file", file, "is not there")
    if lab.needs_torch and find_spec("torch") is None:
        raise ShardlabError(f"{lab.key} runs on PyTorch: pip install -r requirements.txt")
    bounds = limits or (TORCH_LIMITS if lab.needs_torch else Limits())
    said: dict[str, str | None] = {}
    for task in lab.tasks:
        said |= _try(lab, task, file.resolve(), bounds)
    return tally(lab, said)


def _try(lab: Lab, task: Task, file: Path, limits: Limits) -> Mapping[str, str | None]:
    """What each test of a task said, or why none of them could."""
    with tempfile.TemporaryDirectory(prefix="shardlab-grading-") as folder:
        report = Path(folder) / "report.xml"
        stopped = _run(_command(lab, task, report, limits), file, folder, limits.wall_s)
        try:
            said = _said(ElementTree.parse(report).getroot())
        except (OSError, ElementTree.ParseError):
            said = {}
    return {test: said.get(test, stopped) for test in task.tests}


def _command(lab: Lab, task: Task, report: Path, limits: Limits) -> list[str]:
    program = _PROGRAM.format(root=str(ROOT), cpu_s=limits.cpu_s, memory_bytes=limits.memory_bytes)
    tests = [f"{ROOT / 'labs' / lab.folder / 'test_lab.py'}::{test}" for test in task.tests]
    return [sys.executable, "-B", "-c", program, *tests, "-q", "-p", "no:cacheprovider", f"--junitxml={report}"]


def _run(command: list[str], file: Path, folder: str, wall_s: float) -> str:
    """Run to the end or to the limit, and leave no process behind; a sentence for tests that said nothing."""
    environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    environment |= {"LAB_IMPL": str(file), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "TMPDIR": folder}
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # none is needed, and one may change a grade
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        try:
            code = process.wait(wall_s)
        except subprocess.TimeoutExpired:
            return f"The task ran for more than {wall_s:g} s and was ended."
        finally:
            _end_group(process.pid)
    if code == -signal.SIGXCPU or code == -signal.SIGKILL:
        return "The task used too much processor time and was ended."
    return f"The process ended before its tests did (exit status {code})."


def _end_group(leader: int) -> None:
    """End whatever the task's process started and left."""
    try:
        os.killpg(leader, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def _said(report: ElementTree.Element) -> dict[str, str | None]:
    """Each test by name: None when all of its cases passed, else what the first that did not said."""
    said: dict[str, str | None] = {}
    for case in report.iter("testcase"):
        name = re.sub(r"\[.*", "", str(case.get("name")), flags=re.DOTALL)
        said[name] = said.get(name) or _problem(case)
    return said


def _problem(case: ElementTree.Element) -> str | None:
    """The message of a failure, an error or a skip. A skipped test proved nothing."""
    for kind in ("failure", "error", "skipped"):
        found = case.find(kind)
        if found is not None:
            message = found.get("message") or kind
            long = len(message) > 2 * _KEPT
            return _case(case) + (f"{message[:_KEPT]} … {message[-_KEPT:]}" if long else message)
    return None


def _case(case: ElementTree.Element) -> str:
    parameters = re.search(r"\[(.*)\]", str(case.get("name")), flags=re.DOTALL)
    return f"[{parameters[1][:60]}] " if parameters else ""
