"""Running a lab's tests in a process of their own, and reading what became of each."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
LABS = tuple(sorted(path.name for path in (ROOT / "labs").glob("lab-0*") if (path / "test_lab.py").is_file()))

Mutant = tuple[str, str]
"""A plausible wrong answer, written after the reference, and the test that is to kill it."""

FORKED = """
import json, os, sys
import pytest

loaded, runs = map(json.loads, sys.argv[1:])
for name in loaded:
    __import__(name)
if "distributed.local_ranks" in loaded:
    from multiprocessing import forkserver
    forkserver.set_forkserver_preload(["distributed.local_ranks"])
    forkserver.ensure_running()
    # a fork is not the server's parent, and may not ask after it
    os.register_at_fork(after_in_child=lambda: setattr(forkserver._forkserver, "ensure_running", lambda: None))
pytest.main([*runs[0][1:], "--collect-only"])
for implementation, *options in runs:
    child = os.fork()
    if not child:
        os.environ["LAB_IMPL"] = implementation
        os._exit(pytest.main(options))
    if (ended := os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])) not in (0, 1):
        sys.exit(f"{implementation}: pytest ended with {ended}")
"""
"""Grades one file after another, each in a fork of one process: what all of them need is loaded once, their ranks
are forked from one server."""


@dataclass(frozen=True)
class Outcome:
    """One test of a lab: its name without parameters, and the message of its failure, or None."""

    name: str
    failure: str | None


def run_mutants(
    lab: str,
    reference: str,
    mutants: Mapping[str, Mutant],
    folder: Path,
    loaded: Iterable[str] = (),
    whole: bool = False,
) -> dict[str, tuple[Outcome, ...]]:
    """Grade a reference, under the name "", by one lab's tests, and each of its mutants by its killer.

    `loaded` is imported before any of them, `whole` grades mutants by all tests too. `folder` is written to.
    """
    reports, runs = {}, []
    for number, (name, (code, killer)) in enumerate({"": ("", ""), **mutants}.items()):
        path, reports[name] = folder / f"mutant_{number}.py", folder / f"report_{number}.xml"
        path.write_text(reference + code, encoding="utf-8")
        tests = f"labs/{lab}" if whole or not killer else f"labs/{lab}/test_lab.py::{killer}"
        options = (tests, "-q", "-p", "no:cacheprovider", f"--junitxml={reports[name]}")
        runs.append((str(path), *options))
    command = [sys.executable, "-c", FORKED, json.dumps(list(loaded)), json.dumps(runs)]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=1200)
    if done.returncode:
        raise RuntimeError(f"{done.stdout}\n{done.stderr}")
    return {name: _outcomes(report) for name, report in reports.items()}


def survivors(graded: Mapping[str, tuple[Outcome, ...]], mutants: Mapping[str, Mutant]) -> set[str]:
    """The mutants that the test of their rule lets pass; the reference lives, or the harness kills."""
    failed = {name: {one.name for one in outcomes if one.failure} for name, outcomes in graded.items()}
    assert graded[""]
    assert not failed[""]
    return {name for name, (_, killer) in mutants.items() if killer not in failed[name]}


def run_lab(lab: str, implementation: str, report: Path, *options: str) -> tuple[Outcome, ...]:
    """Grade `implementation` (`solution`, `starter` or a file) by one lab's tests; `report` is written and read."""
    command = [sys.executable, "-m", "pytest", f"labs/{lab}", "-q", "-p", "no:cacheprovider", *options]
    environment = {**os.environ, "LAB_IMPL": implementation, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        [*command, f"--junitxml={report}"], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=1200
    )
    if done.returncode not in (0, 1):
        raise RuntimeError(f"pytest ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return _outcomes(report)


def _outcomes(report: Path) -> tuple[Outcome, ...]:
    return tuple(_outcome(case) for case in ElementTree.parse(report).iter("testcase"))


def _outcome(case: ElementTree.Element) -> Outcome:
    """The outcome of one test case of a JUnit report; skipped tests count as not failed."""
    problem = case.find("failure")
    problem = case.find("error") if problem is None else problem
    failure = None if problem is None else f"{problem.get('message')}\n{problem.text}"
    return Outcome(name=re.sub(r"\[.*", "", str(case.get("name"))), failure=failure)
