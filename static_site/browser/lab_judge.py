"""Judge a learner's file by its lab's own tests, in the Python that is running: a worker of the page, ended by it.

    print(judged("lab-01", source))

What is said of a task is what `pytest` says at its end, line by line. Beside it come the rows that draw the
learner's own numbers, the same that a private server's process writes.
"""

import hashlib
import io
import json
import os
import re
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from core.course.grading.tasks import Lab, lab_of
from core.course.receipt import Receipt
from runtime.content import ENGLISH
from runtime.files import ROOT
from runtime.learner_process import rows_of

FILE = "starter.py"
MOST_LETTERS = 500
_TASK = re.compile(r"^(ok|  )  (lab-\d+) \w+ (\d+)  (\S+) +(\d+) \w+ (\d+)$")
"""A task's line, in any language: `ok  lab-01 task 2  row_parallel  8 of 8`."""
_DRAWN = {"lab-01": "sharding_math", "lab-03": "comm_cost", "lab-04": "pipeline_bubble"}
_SIZES = {"lab-01": (4,), "lab-03": (32, 4096, 1, 8, 10**7), "lab-04": (4, 8)}
"""What the pictures are drawn of: ranks; a step; stages and microbatches."""


def judged(
    key: str, source: str, folder: str = "/tmp/shardlab-lab", sizes: str = "", language: str = ENGLISH
) -> str:
    """Return as JSON a verdict a task in a language, the rows of the pictures, and a receipt of what passed."""
    lab = lab_of(key)
    path = Path(folder) / FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source, encoding="utf-8")
    tasks = _verdicts(lab, _said_by_pytest(lab, path, language))
    passed = tuple(task["number"] for task in tasks if task["passed"] == task["tests"] > 0)
    receipt = Receipt(lab.key, passed, len(lab.tasks), hashlib.sha256(source.encode()).hexdigest())
    drawn = tuple(map(int, sizes.split())) or _SIZES.get(lab.key, ())
    rows = [{"task": task, **row} for task, row in rows_of(_DRAWN.get(lab.key, ""), str(path), *drawn)]
    return json.dumps({"lab": lab.key, "tasks": tasks, "rows": rows, "sizes": drawn, "receipt": str(receipt)})


def _said_by_pytest(lab: Lab, path: Path, language: str) -> str:
    """What pytest prints in a language for a lab's spec, graded on one file."""
    printed = io.StringIO()
    spec = ROOT / "labs" / lab.folder / "test_lab.py"
    told = {"LAB_IMPL": str(path), "LAB_LANG": language}
    before = {name: os.environ.get(name) for name in told}
    os.environ.update(told)
    _forget(lab, path)
    options = ["-q", "--tb=no", "--capture=sys", "--import-mode=importlib", "-p", "no:cacheprovider", "-p",
               "no:faulthandler", f"--rootdir={ROOT}", "-c", os.devnull]  # fmt: skip
    try:
        with redirect_stdout(printed), redirect_stderr(printed):
            pytest.main([str(spec), *options])
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
    return printed.getvalue()


def _forget(lab: Lab, path: Path) -> None:
    """Have the next run read the file anew, and not what the last one left of it."""
    sys.modules.pop(f"{lab.folder.replace('-', '_')}_{path.stem}", None)
    for kept in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
        kept.unlink()


def _verdicts(lab: Lab, printed: str) -> list[dict[str, Any]]:
    """The summary's lines by task; a task that pytest did not come to has none of its tests passed."""
    said: dict[int, dict[str, Any]] = {}
    lines = printed.splitlines()
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        if found := _TASK.match(line):
            number = int(found[3])
            why = after.strip()[:MOST_LETTERS] if after.startswith("      ") else ""
            said[number] = {
                "number": number, "name": found[4], "passed": int(found[5]), "tests": int(found[6]), "said": why
            }  # fmt: skip
    missing = next((line.strip() for line in reversed(lines) if line.strip()), "")[:MOST_LETTERS]
    return [
        said.get(task.number)
        or {"number": task.number, "name": task.name, "passed": 0, "tests": len(task.tests), "said": missing}
        for task in lab.tasks
    ]
