"""Lab 01's own tests over a learner's file, counted by task, their failures in the language being spoken."""

import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from runtime import content
from runtime.files import ROOT
from runtime.learner_code import LAB, run_bounded
from runtime.scratch import scratch

WALL_S = 60.0
CPU_S = 30
_PROGRAM = (
    "import sys; sys.path.insert(0, {root!r}); from runtime.learner_process import limit; limit({cpu_s});"
    " from runtime.processes import end_with_parent; end_with_parent();"
    " import pytest; sys.exit(pytest.main(sys.argv[1:]))"
)


@dataclass(frozen=True)
class TaskGrade:
    """How many of a task's tests pass, and the first failure's last line."""

    task: int
    passed: int
    tests: int
    first_failure: str = ""

    @property
    def done(self) -> bool:
        return self.passed == self.tests


def grade(path: Path, wall_s: float = WALL_S) -> tuple[TaskGrade, ...]:
    """Run the lab's tests in a process of their own; no grade when they did not come to an end."""
    try:
        with scratch("grading") as folder:
            report = Path(folder) / "report.xml"
            program = _PROGRAM.format(root=str(ROOT), cpu_s=CPU_S)
            command = [sys.executable, "-B", "-c", program, str(LAB), "-q", "-p", "no:cacheprovider"]
            told = {"LAB_IMPL": str(path), "LAB_LANG": content.language()}
            run_bounded([*command, f"--junitxml={report}"], Path(folder), wall_s, ROOT, told)
            return _grades(ElementTree.parse(report).getroot())
    except (subprocess.TimeoutExpired, OSError, ElementTree.ParseError):  # too long, or no report, or one cut short
        return ()


def _grades(report: ElementTree.Element) -> tuple[TaskGrade, ...]:
    """The report's cases by the task that each one wrote down."""
    tests: Counter[int] = Counter()
    passed: Counter[int] = Counter()
    failures: dict[int, str] = {}
    for case in report.iter("testcase"):
        task = next((int(mark.get("value", 0)) for mark in case.iter("property") if mark.get("name") == "task"), 0)
        problem = case.find("failure") if case.find("failure") is not None else case.find("error")
        tests[task] += 1
        passed[task] += problem is None
        if problem is not None:
            failures.setdefault(task, (problem.get("message") or "failed").splitlines()[0][:200])
    return tuple(
        TaskGrade(task, passed[task], tests[task], failures.get(task, "")) for task in sorted(tests) if task
    )
