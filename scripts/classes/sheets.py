"""What students are handed: a sheet each, with the task and questions of their own, and a notebook of the same.

The starter is the released one, whatever the working copy holds.
"""

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from core.course.grading.questions import TOLERANCE, points_each, questions, seed_of
from core.course.grading.roster import Student
from core.course.grading.tasks import Lab
from core.errors import OutOfRangeError, remark
from core.text.pages import as_code, page
from core.text.question import Number
from runtime import content
from runtime.files import write_whole
from runtime.lab_text import task_text
from runtime.prose import said
from runtime.released import released_starter
from scripts.classes.grading import table
from scripts.grade import paper, roster_in, worded

CHROMIUM = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome")


def handouts(lab: Lab, options: argparse.Namespace, secret: str) -> int:
    """Write every student's sheet as Markdown and HTML, and as PDF where that is asked for."""
    folder = Path(options.out)
    folder.mkdir(parents=True, exist_ok=True)
    printer = _printer() if options.pdf else ""
    for student in roster_in(options.roster).students:
        text = sheet(lab, student, secret, options.url)
        write_whole(folder / f"{student.key}.md", text)
        html = folder / f"{student.key}.html"
        write_whole(html, page(f"{lab.folder}: {student.name}", text, content.language()))
        if printer:
            _print(printer, html, folder / f"{student.key}.pdf")
    return 0


def sheet(lab: Lab, student: Student, secret: str, url: str = "") -> str:
    """A student's sheet as Markdown: the task, how to get and to submit it, the questions, the points."""
    title, _, task = task_text(lab, content.language()).partition("\n")
    asked = questions(lab, seed_of(student.identity, lab, secret))
    return "\n".join([
        title, "", _said("for", student=_bold(student.name)), "",
        *_how(lab, url), task.strip(), "", *_questions(asked), *_points(lab),
    ])  # fmt: skip


def _said(name: str, **fields: object) -> str:
    return said("classroom", f"handout.{name}", **fields)


def _bold(name: str) -> str:
    """A name within bold type, with no sign that would end it."""
    return name.replace("*", "").replace("`", "")


def _how(lab: Lab, url: str) -> list[str]:
    starter = f"labs/{lab.folder}/starter.py"
    packages = "numpy pytest torch" if lab.needs_torch else "numpy pytest"
    get = _said("get_from", url=url, starter=starter) if url else _said("get_any", starter=starter)
    spoken = "" if content.language() == content.ENGLISH else f"LAB_LANG={content.language()} "
    command = f"{spoken}LAB_IMPL=starter pytest labs/{lab.folder}"
    return [
        f"## {_said('get')}", "", get, _said("needs", packages=packages), "", "```", command, "```", "",
        f"## {_said('submit')}", "", _said("files"), "",
    ]  # fmt: skip


def _questions(asked: Sequence[Number]) -> list[str]:
    lines = [f"- {worded(place, question)}" for place, question in enumerate(asked, 1)]
    blanks = [f"q{place} = ? {question.unit}" for place, question in enumerate(asked, 1)]
    return [
        f"## {_said('questions')}", "", *lines, "",
        f"## {_said('answers')}", "", _said("format"), "", "```", *blanks, "```", "",
        _said("tolerance", tolerance=TOLERANCE), _said("units"), "",
    ]  # fmt: skip


def _points(lab: Lab) -> list[str]:
    names = [said("classroom", f"table.{name}") for name in ("task", "points")]
    rows = [[as_code(task.name), str(task.points)] for task in lab.tasks]
    rows.append([said("classroom", "table.each"), f"{points_each(lab):g}"])
    return [f"## {_said('points')}", "", *table([names, *rows]), ""]


def _printer() -> str:
    """The browser that prints.

    Raises OutOfRangeError where there is none: any browser prints the HTML page as well.
    """
    found = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if found is None:
        raise OutOfRangeError("pdf", remark("errors.none"), "no_browser")
    return found


def _print(printer: str, html: Path, pdf: Path) -> None:
    flags = ("--headless", "--disable-gpu", "--no-sandbox", "--no-pdf-header-footer")
    command = [printer, *flags, f"--print-to-pdf={pdf.resolve()}", html.resolve().as_uri()]
    done = subprocess.run(command, capture_output=True, timeout=120, check=False)
    if done.returncode or not pdf.is_file():
        raise OutOfRangeError("pdf", pdf.name, "not_printed", printer=printer)


def notebooks(lab: Lab, options: argparse.Namespace, secret: str) -> int:
    """Write an nbgrader assignment: one for all, or with a roster a folder with one for each student."""
    starter, warning = released_starter(lab)
    if warning:
        print(warning, file=sys.stderr)
    if options.roster is None:
        write_whole(Path(options.out), _notebook(lab, starter, ()))
        return 0
    for student in roster_in(options.roster).students:
        asked = questions(lab, seed_of(student.identity, lab, secret))
        home = Path(options.out) / student.key
        home.mkdir(parents=True, exist_ok=True)
        write_whole(home / f"{lab.folder}.ipynb", _notebook(lab, starter, asked))
    return 0


def _notebook(lab: Lab, starter: str, asked: Sequence[Number]) -> str:
    """The task, the student's own questions, a cell for the code, one for the answers, and one that checks."""
    note = {
        name: said("classroom", f"notebook.{name}") for name in ("submission", "answers", "check", "no_questions")
    }
    blanks = paper(asked).rpartition("\n\n")[2] if asked else "q1 = ?\nq2 = ?\nq3 = ?\nq4 = ?"
    own = paper(asked).rpartition("\n\n")[0].replace("\n", "\n\n") if asked else note["no_questions"]
    cells = [
        _cell("markdown", "task", task_text(lab, content.language()), locked=True),
        _cell("markdown", "questions", own, locked=True),
        _cell("markdown", "about_submission", note["submission"], locked=True),
        _cell("code", "submission", starter, locked=False),
        _cell("markdown", "about_answers", note["answers"], locked=True),
        _cell("code", "answers", f'ANSWERS = """\n{blanks}\n"""\n', locked=False),
        _cell("markdown", "about_check", note["check"], locked=True),
        _cell("code", "check", _check(lab), locked=True),
    ]
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return json.dumps({"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"


def _check(lab: Lab) -> str:
    """What a student runs before submitting: form alone, in any kernel, with nothing of ours."""
    names = {"name": "{name}", "answer": "{answer!r}", "line": "{line!r}"}  # which the student's kernel fills
    blocks = ("not_defined", "not_written", "there", "read_as", "not_read")
    told = {block: repr(said("classroom", f"notebook.{block}", **names)) for block in blocks}
    return _CHECK.format(tasks=[task.name for task in lab.tasks], **told)


_CHECK = """\
import inspect
import re

for name in {tasks}:
    there = globals().get(name)
    if there is None:
        print({not_defined}.format(name=name))
    elif "raise NotImplementedError" in inspect.getsource(there):
        print({not_written}.format(name=name))
    else:
        print({there}.format(name=name))
for line in ANSWERS.strip().splitlines():
    form = re.fullmatch(r"\\s*(q\\d)\\s*[:=]\\s*([^?\\s].*)", line)
    print({read_as}.format(name=form[1], answer=form[2]) if form else {not_read}.format(line=line))
"""


def _cell(kind: str, name: str, source: str, locked: bool) -> Mapping[str, object]:
    marks = {"grade_id": name, "grade": False, "solution": not locked, "locked": locked, "schema_version": 3}
    more: dict[str, object] = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return {
        "cell_type": kind,
        "id": name,
        "metadata": {"nbgrader": {**marks, "task": False}},
        "source": source,
        **more,
    }
