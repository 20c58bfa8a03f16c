"""A lab for a whole class: handouts, an answer key, grades from a roster, a Gradescope zip, a notebook.

    python -m scripts.classroom handout lab-03 --roster roster.csv --word-file word.txt --out handouts/
    python -m scripts.classroom key lab-03 --roster roster.csv --word-file word.txt --out key.csv
    python -m scripts.classroom grade lab-03 --roster roster.csv --word-file word.txt --submissions DIR \\
      --out grades.csv
    python -m scripts.classroom gradescope lab-03 --word-file word.txt --out lab-03.zip
    python -m scripts.classroom notebook lab-03 --out lab-03.ipynb

A roster is a CSV file with a column `student`. A submission is a folder of that name with the code (`starter.py`,
or the only `.py` file) and `answers.txt`, or with a notebook: the one that `notebook` writes, as nbgrader collects
it.
The secret word decides every student's inputs and questions; see scripts.grade.
"""

import argparse
import csv
import json
import os
import zipfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from core.course.grading.questions import questions, seed_of
from core.course.grading.report import Grade
from core.course.grading.tasks import Lab, lab_of
from core.errors import OutOfRangeError, ShardlabError
from runtime.files import ROOT
from runtime.scratch import scratch
from scripts.grade import graded, paper, word_of
from scripts.terminal import Parser, run, written_json

MOST_STUDENTS = 10_000
_IN_THE_ZIP = (
    "core",
    "runtime",
    "scripts/grade.py",
    "scripts/terminal.py",
    "content/en",
)
_SETUP = """#!/usr/bin/env bash
set -euo pipefail
apt-get update -qq && apt-get install -y -qq --no-install-recommends python3 python3-pip util-linux
pip3 install --break-system-packages -q {packages} || pip3 install -q {packages}
chmod -R go-rwx /autograder/source
"""
_RUN = """#!/usr/bin/env bash
cd /autograder/source
answers=/autograder/submission/answers.txt
[ -f "$answers" ] && set -- --answers "$answers"
python3 -m scripts.grade {lab} --file /autograder/submission/{file} "$@" --word-file word \\
  --metadata /autograder/submission_metadata.json --format gradescope --out /autograder/results/results.json
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Do one thing for a class."""
    parser = make_parser()
    options = parser.parse_args(arguments)
    needed = {"grade": ("roster", "submissions"), "handout": ("roster",), "key": ("roster",)}.get(options.what, ())
    if missing := [f"--{name}" for name in needed if getattr(options, name) is None]:
        parser.error(f"{options.what} needs {' and '.join(missing)}")
    try:
        lab = lab_of(options.lab)
        {"handout": _handouts, "key": _key, "grade": _grades, "gradescope": _gradescope, "notebook": _notebook}[
            options.what
        ](lab, options)
    except (ShardlabError, OSError, UnicodeDecodeError, csv.Error) as error:
        parser.error(str(error), type(error).__name__)
    if options.json:
        print(written_json({"written": Path(options.out)}, options))
    return 0


def roster(path: Path) -> tuple[str, ...]:
    """The students of a roster, in its order.

    Raises OutOfRangeError for a file without the column, without a student, or with one twice.
    """
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.DictReader(file)
        if "student" not in (rows.fieldnames or ()):
            raise OutOfRangeError("roster", path, "has no column `student`")
        students = tuple(name for row in rows if (name := (row["student"] or "").strip()))
    twice = sorted({name for name in students if students.count(name) > 1})
    if not 0 < len(students) <= MOST_STUDENTS or twice:
        raise OutOfRangeError(
            "roster", path, f"names {len(students)} students, twice: {', '.join(twice) or 'none'}"
        )
    if unsafe := [name for name in students if name in (".", "..") or set(name) & set("/\\\0")]:
        raise OutOfRangeError("student", unsafe[0], "is no name of a folder")
    return students


def _handouts(lab: Lab, options: argparse.Namespace) -> None:
    word, options.out = word_of(options.word_file), Path(options.out)
    options.out.mkdir(parents=True, exist_ok=True)
    task = (ROOT / "labs" / lab.folder / "README.md").read_text(encoding="utf-8")
    for student in roster(options.roster):
        asked = paper(questions(lab, seed_of(student, lab, word)))
        sheet = f"{task.rstrip()}\n\n## Questions for {student}\n\n{asked}\n"
        (options.out / f"{student}.md").write_text(sheet, encoding="utf-8")


def _key(lab: Lab, options: argparse.Namespace) -> None:
    word, students = word_of(options.word_file), roster(options.roster)
    rows = [
        (student, f"q{number}", f"{question.in_unit:.6g}", question.unit)
        for student in students
        for number, question in enumerate(questions(lab, seed_of(student, lab, word)), 1)
    ]
    _write(options.out, ("student", "question", "answer", "unit"), rows)


def _grades(lab: Lab, options: argparse.Namespace) -> None:
    word, students = word_of(options.word_file), roster(options.roster)
    heads = ("student", "points", "of", *(task.name for task in lab.tasks), "questions", "remark")
    workers = 1 if lab.needs_torch else os.cpu_count()  # each waits for a process of its own
    with ThreadPoolExecutor(workers) as pool:
        rows = pool.map(lambda student: _row(lab, student, options, word), students)
        _write(options.out, heads, rows)


def _row(lab: Lab, student: str, options: argparse.Namespace, word: str) -> Sequence[object]:
    """One student's line: a missing or unreadable submission earns nothing and says so."""
    with scratch("class") as name:
        try:
            code, answers = _submission(options.submissions / student, Path(name))
            grade = graded(lab, code, student, answers, word)
        except (ShardlabError, OSError, UnicodeDecodeError) as error:
            return (student, 0, 100, *("" for _ in lab.tasks), "", str(error))
    right = sum(answer.right for answer in grade.answers)
    return (student, f"{grade.points:g}", f"{grade.max_points:g}", *_points(grade), right, _never_asked(grade))


def _never_asked(grade: Grade) -> str:
    """Why no task could be asked, where one thing stopped them all: the code, or the machine that was to run it."""
    problems = {outcome.problem for result in grade.tasks for outcome in result.outcomes}
    return problems.pop() if len(problems) == 1 else ""


def _points(grade: Grade) -> Iterator[str]:
    return (f"{float(result.points):g}" for result in grade.tasks)


def _submission(folder: Path, scratch: Path) -> tuple[Path, str]:
    """The code and the answers of a folder, out of its notebook where it holds one.

    Raises OutOfRangeError where there is nothing to grade.
    """
    if not folder.is_dir():
        raise OutOfRangeError("submission", folder.name, "is not there")
    for path in sorted(folder.rglob("*.ipynb")):
        cells = _cells(path)
        code = scratch / "submission.py"
        code.write_text(cells.get("submission", ""), encoding="utf-8")
        return code, cells.get("answers", "")
    files = [folder / "starter.py"] if (folder / "starter.py").is_file() else sorted(folder.glob("*.py"))
    if len(files) != 1:
        raise OutOfRangeError("submission", folder.name, f"holds {len(files)} Python files; one is graded")
    answers = folder / "answers.txt"
    return files[0], answers.read_text(encoding="utf-8") if answers.is_file() else ""


def _cells(path: Path) -> dict[str, str]:
    """A notebook's cells by nbgrader's `grade_id`."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        named = [(cell["metadata"].get("nbgrader", {}).get("grade_id"), cell["source"]) for cell in cells]
        return {str(name): source if isinstance(source, str) else "".join(source) for name, source in named if name}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise OutOfRangeError("notebook", path.name, "is not one that can be read") from None


def _gradescope(lab: Lab, options: argparse.Namespace) -> None:
    word = word_of(options.word_file)
    wanted = ("numpy", "torch") if lab.needs_torch else ("numpy",)
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    packages = " ".join(line for line in lines if line.partition("==")[0] in wanted)
    runner = "distributed" if lab.needs_torch else "distributed/graded_process.py"
    rooms = (*_IN_THE_ZIP, f"labs/{lab.folder}", runner)
    with zipfile.ZipFile(options.out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in _files(rooms):
            archive.write(path, path.relative_to(ROOT).as_posix())
        archive.writestr("word", word)
        for name, text in (("setup.sh", _SETUP), ("run_autograder", _RUN)):
            entry = zipfile.ZipInfo(name)
            entry.external_attr = 0o755 << 16
            archive.writestr(entry, text.format(packages=packages, lab=lab.key, file="starter.py"))


def _files(rooms: Sequence[str]) -> Iterator[Path]:
    for room in rooms:
        path = ROOT / room
        files = [path] if path.is_file() else sorted(path.rglob("*"))
        yield from (one for one in files if one.suffix in (".py", ".md") and one.is_file())


def _notebook(lab: Lab, options: argparse.Namespace) -> None:
    """An nbgrader assignment: the task, a cell for the code, one for the answers; each with its id."""
    folder = ROOT / "labs" / lab.folder
    cells = [
        _cell("markdown", "task", (folder / "README.md").read_text(encoding="utf-8"), solution=False),
        _cell("code", "submission", (folder / "starter.py").read_text(encoding="utf-8"), solution=True),
        _cell("raw", "answers", "q1 = \nq2 = \nq3 = \nq4 = \n", solution=True),
    ]
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    text = json.dumps({"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}, indent=1)
    Path(options.out).write_text(text + "\n", encoding="utf-8")


def _cell(kind: str, name: str, source: str, solution: bool) -> dict[str, object]:
    marks = {"grade_id": name, "grade": False, "solution": solution, "locked": not solution, "schema_version": 3}
    more: dict[str, object] = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return {
        "cell_type": kind,
        "id": name,
        "metadata": {"nbgrader": {**marks, "task": False}},
        "source": source,
        **more,
    }


def _write(out: str, heads: Sequence[str], rows: Iterator[Sequence[object]] | Sequence[Sequence[object]]) -> None:
    with Path(out).open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(heads)
        for row in rows:
            table.writerow([_cell_text(value) for value in row])


def _cell_text(value: object) -> object:
    """A text that a spreadsheet reads as a text: none begins a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "@", "\t") else value


def make_parser() -> Parser:
    parser = Parser(prog="classroom", description="A lab for a whole class.")
    parser.add_argument("what", choices=("handout", "key", "grade", "gradescope", "notebook"))
    parser.add_argument("lab", help="lab-01, lab-02, lab-03 or lab-04")
    parser.add_argument("--roster", type=Path, help="a CSV file with a column `student`")
    parser.add_argument("--submissions", type=Path, help="a folder with a folder for each student")
    parser.common("--word-file")
    parser.add_argument("--out", required=True, help="the file, or for handouts the folder, to write")
    parser.common("--json", help="say what was asked and where it was written")
    return parser


if __name__ == "__main__":
    run(main)
