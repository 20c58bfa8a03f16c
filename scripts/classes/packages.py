"""What other graders take: Gradescope's zip, and a repository for GitHub Classroom with its workflow.

Both hand out or grade against the released starter, whatever the working copy holds.
"""

import argparse
import sys
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from core.course.grading.tasks import Lab
from core.errors import OutOfRangeError
from runtime import content
from runtime.files import ROOT, put_text
from runtime.lab_text import task_text
from runtime.released import released_starter
from runtime.seed_file import text_of_seed
from scripts.grade import roster_in
from scripts.terminal import told

OLDEST_PYTHON = (3, 11)
_IN_THE_ZIP = (
    "core",
    "runtime",
    "scripts/grade.py",
    "scripts/terminal.py",
    "scripts/classes/autograder.py",
    "content",
)
_SETUP = """#!/usr/bin/env bash
# Needs an image whose Python is {oldest} or newer: on Gradescope choose Ubuntu 24.04, which has 3.12.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends python3 python3-venv util-linux bubblewrap
for python in python3.14 python3.13 python3.12 python3.11 python3; do
  if command -v "$python" >/dev/null && "$python" -c 'import sys; sys.exit(sys.version_info < ({comma}))'; then
    found=$python
    break
  fi
done
if [ -z "${{found:-}}" ]; then
  echo "This autograder needs Python {oldest} or newer; this image has $(python3 --version)." >&2
  echo "Choose the base image Ubuntu 24.04, and build again." >&2
  exit 1
fi
"$found" -m venv /autograder/venv
/autograder/venv/bin/pip install -q {packages}
chmod -R go-rwx /autograder/source
"""
_RUN = """#!/usr/bin/env bash
mkdir -p /autograder/results
results=/autograder/results/results.json
said="{said}"
printf '{{"output": "%s"}}\n' "$said" >"$results"
cd /autograder/source
/autograder/venv/bin/python -m scripts.classes.autograder {lab} --autograder /autograder --lang {lang} || true
[ -s "$results" ]
"""


def gradescope(lab: Lab, options: argparse.Namespace, secret: str) -> int:
    """Write the zip that Gradescope takes as an autograder, with the roster and the seed in it."""
    roster_in(options.roster)  # one that cannot be read is refused here, not by 150 containers
    starter = _released(lab)
    wanted = ("numpy", "torch") if lab.needs_torch else ("numpy",)
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    packages = " ".join(line for line in lines if line.partition("==")[0] in wanted)
    runner = "distributed" if lab.needs_torch else "distributed/graded_process.py"
    oldest = {"oldest": ".".join(map(str, OLDEST_PYTHON)), "comma": ", ".join(map(str, OLDEST_PYTHON))}
    spoken = {"said": told("not_started"), "lang": content.language()}
    with zipfile.ZipFile(options.out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in _files((*_IN_THE_ZIP, runner)):
            archive.write(path, path.relative_to(ROOT).as_posix())
        archive.writestr(f"labs/{lab.folder}/starter.py", starter)
        archive.writestr("roster.csv", options.roster.read_bytes())
        archive.writestr("seed.txt", text_of_seed(secret))
        for name, text in (("setup.sh", _SETUP), ("run_autograder", _RUN)):
            entry = zipfile.ZipInfo(name)
            entry.external_attr = 0o755 << 16
            archive.writestr(entry, text.format(packages=packages, lab=lab.key, **spoken, **oldest))
    return 0


def _released(lab: Lab) -> str:
    starter, warning = released_starter(lab)
    if warning:
        print(warning, file=sys.stderr)
    return starter


def _files(rooms: Sequence[str]) -> Iterator[Path]:
    for room in rooms:
        path = ROOT / room
        files = [path] if path.is_file() else sorted(path.rglob("*"))
        yield from (one for one in files if one.suffix in (".py", ".md") and one.is_file() and not one.is_symlink())


_WORKFLOW = """name: {lab}
on: [push, workflow_dispatch]
permissions:
  contents: read
  checks: write
  actions: read
jobs:
  autograding:
    runs-on: ubuntu-latest
    timeout-minutes: 15
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
      - run: pip install {packages}
{steps}      - uses: education/autograding-grading-reporter@v1
        env:
{results}        with:
          runners: {runners}
"""
_STEP = """      - id: {id}
        uses: education/autograding-command-grader@v1
        with:
          test-name: {name}
          command: {command}
          timeout: 5
          max-score: {points}
"""
_OF_WORDS = tuple(
    f"runtime/{name}.py" for name in ("__init__", "content", "plurals", "quantities", "prose", "catalog_words")
)
_STEMS = ("errors", "labs", "language")
"""What the lab's tests say another language than English with, `LAB_LANG`."""

_ANSWERS = "q1 = ?\nq2 = ?\nq3 = ?\nq4 = ?\n"


def github(lab: Lab, options: argparse.Namespace, secret: str) -> int:
    """Write the folder of a template repository: the lab, what it imports, and a workflow with each task's points.

    The workflow tells students how far they are, by the lab's own tests. The grade comes from `classroom grade`
    over the repositories that were downloaded: whoever owns a repository owns its workflow.
    """
    folder = Path(options.out)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise OutOfRangeError("out", folder, "not_empty")
    home = f"labs/{lab.folder}"
    rooms = (
        "core",
        *_OF_WORDS,
        *(f"content/{language}/{stem}.md" for language in content.languages() for stem in _STEMS),
        *(path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "labs").glob("*.py"))),
        home,
        *(("distributed", "runtime") if lab.needs_torch else ()),
    )
    for path in dict.fromkeys(_files(rooms)):
        if path.name != "solution.py":
            put_text(folder, path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))
    put_text(folder, f"{home}/starter.py", _released(lab))
    put_text(folder, "answers.txt", _ANSWERS)
    put_text(folder, "README.md", task_text(lab, content.language()))
    put_text(
        folder,
        "pytest.ini",
        "[pytest]\nmarkers =\n    gpu: needs a GPU\n    ranks: starts real ranks\n    slow: takes long\n",
    )
    put_text(folder, ".gitignore", "__pycache__/\n.pytest_cache/\n")
    put_text(folder, f".github/workflows/{lab.key}.yml", workflow(lab))
    return 0


def workflow(lab: Lab) -> str:
    """A workflow that runs each task's tests for its points, as GitHub Classroom reports them."""
    packages = "numpy pytest torch" if lab.needs_torch else "numpy pytest"
    ids = {task.number: f"task-{task.number}" for task in lab.tasks}
    steps = "".join(
        _STEP.format(
            id=ids[task.number], name=task.name, points=task.points, command=task_command(lab, task.number)
        )
        for task in lab.tasks
    )
    results = "".join(
        f"          {name.upper()}_RESULTS: ${{{{ steps.{name}.outputs.result }}}}\n" for name in ids.values()
    )
    return _WORKFLOW.format(
        lab=lab.folder, packages=packages, steps=steps, results=results, runners=",".join(ids.values())
    )


def task_command(lab: Lab, number: int) -> str:
    """The command that runs a task's tests over the starter."""
    task = next(task for task in lab.tasks if task.number == number)
    file = f"labs/{lab.folder}/test_lab.py"
    spoken = "" if content.language() == content.ENGLISH else f" LAB_LANG={content.language()}"
    return f"env LAB_IMPL=starter{spoken} python -m pytest -q {' '.join(f'{file}::{test}' for test in task.tests)}"
