"""Lab 01 reports by task: each test says whose it is, and the summary counts them."""

from collections import Counter

import pytest

TASKS = {1: "column_parallel", 2: "row_parallel", 3: "mlp_tp", 4: "attention_tp"}


def pytest_configure(config):
    """Make the marker known: the project's markers are strict."""
    config.addinivalue_line("markers", "task(number): the lab's task that a test belongs to")


@pytest.fixture(autouse=True)
def _task(request, record_property):
    """Write the task into the JUnit report, for whoever reads it."""
    marker = request.node.get_closest_marker("task")
    if marker is not None:
        record_property("task", marker.args[0])


def pytest_terminal_summary(terminalreporter):
    """A line a task: how many of its tests passed."""
    passed, seen = Counter(), Counter()
    for outcome in ("passed", "failed", "error"):
        for report in terminalreporter.getreports(outcome):
            task = dict(report.user_properties).get("task")
            if task in TASKS and (report.when == "call" or outcome == "error"):
                seen[task] += 1
                passed[task] += outcome == "passed"
    if seen:
        terminalreporter.section("lab 01 by task")
    for task in sorted(seen):
        sign = "ok" if passed[task] == seen[task] else "  "
        terminalreporter.write_line(f"{sign}  task {task}  {TASKS[task]:<16} {passed[task]} of {seen[task]}")
