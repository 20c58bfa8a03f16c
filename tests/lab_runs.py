"""Running a lab's tests in a process of their own, and reading what became of each."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
LABS = tuple(sorted(path.name for path in (ROOT / "labs").glob("lab-0*") if (path / "test_lab.py").is_file()))


@dataclass(frozen=True)
class Outcome:
    """One test of a lab: its name without parameters, and the message of its failure, or None."""

    name: str
    failure: str | None


def run_lab(lab: str, implementation: str, report: Path, *options: str) -> tuple[Outcome, ...]:
    """Grade `implementation` (`solution`, `starter` or a file) by one lab's tests; `report` is written and read."""
    command = [sys.executable, "-m", "pytest", f"labs/{lab}", "-q", "-p", "no:cacheprovider", *options]
    environment = {**os.environ, "LAB_IMPL": implementation, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        [*command, f"--junitxml={report}"], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300
    )
    if done.returncode not in (0, 1):
        raise RuntimeError(f"pytest ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return tuple(_outcome(case) for case in ElementTree.parse(report).iter("testcase"))


def _outcome(case: ElementTree.Element) -> Outcome:
    """The outcome of one test case of a JUnit report; skipped tests count as not failed."""
    problem = case.find("failure")
    problem = case.find("error") if problem is None else problem
    failure = None if problem is None else f"{problem.get('message')}\n{problem.text}"
    return Outcome(name=re.sub(r"\[.*", "", str(case.get("name"))), failure=failure)
