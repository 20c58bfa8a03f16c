"""A lab for a whole class: sheets for students, grades from a roster, and what other graders take.

    python -m scripts.classroom seed --seed-file seed.txt
    python -m scripts.classroom handout lab-03 --roster roster.csv --seed-file seed.txt --out handouts/
    python -m scripts.classroom check lab-03 class/ --roster roster.csv
    python -m scripts.classroom grade lab-03 class/ --roster roster.csv --seed-file seed.txt --out grades.csv \\
      --feedback feedback/ --statistics class.md --similar alike.md
    python -m scripts.classroom key lab-03 --roster roster.csv --seed-file seed.txt --out key.csv
    python -m scripts.classroom gradescope lab-03 --roster roster.csv --seed-file seed.txt --out lab-03.zip
    python -m scripts.classroom github lab-03 --out template/
    python -m scripts.classroom notebook lab-03 --roster roster.csv --seed-file seed.txt --out notebooks/
    python -m scripts.classroom qti lab-03 --seed-file seed.txt --out lab-03-qti.zip
    python -m scripts.classroom gradebook lab-03 --for canvas --roster roster.csv --grades grades.csv \
      --out canvas.csv

A roster is a CSV file with a column `student`, or one that Canvas, Moodle or Gradescope exports. A submission is a
folder, or files, of a student's name; see `runtime/submissions.py`. The seed decides every student's inputs and
questions: keep its file, and show it to nobody.
The exit status is 0 where all was graded, 1 where something was not or is nobody's, 2 where nothing could begin.
"""

import argparse
import csv
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

from core.course.grading.gradebook import gradebook
from core.course.grading.qti import package
from core.course.grading.questions import questions, seed_of
from core.course.grading.tasks import LABS, Lab, lab_of
from core.errors import OutOfRangeError, ShardlabError, remark
from runtime import content
from runtime.prose import explained, said
from runtime.seed_file import make_seed, seed_in
from scripts.classes.check import check
from scripts.classes.grading import grade_class, read_grades, write_csv
from scripts.classes.packages import github, gradescope
from scripts.classes.sheets import handouts, notebooks
from scripts.grade import roster_in, worded
from scripts.terminal import Parser, run, written_json

MOST_VARIANTS = 999
NEEDED = {
    "seed": ("seed_file",),
    "check": (),
    "handout": ("roster", "seed_file", "out"),
    "key": ("roster", "seed_file", "out"),
    "grade": ("roster", "submissions", "seed_file", "out"),
    "gradescope": ("roster", "seed_file", "out"),
    "github": ("out",),
    "notebook": ("out",),
    "qti": ("seed_file", "out"),
    "gradebook": ("roster", "grades", "for", "out"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Do one thing for a class."""
    parser = make_parser()
    options = parser.parse_args(arguments)
    options.submissions = options.named_submissions or options.submissions
    with content.speaking(options.lang):
        try:
            lab = _lab(options)
            if missing := _missing(options):
                parser.error(_needs(options.what, missing))
            status = _done(lab, options)
        except (ShardlabError, OSError, UnicodeDecodeError, csv.Error) as error:
            parser.error(explained(error), type(error).__name__)
    if options.json:
        print(written_json({"written": Path(options.out or options.seed_file or ""), "status": status}, options))
    return status


def _needs(what: str, missing: Sequence[str]) -> str:
    """What a command lacks, in the language being spoken."""
    block = ("needs", "needs_two", "needs_three", "needs_four")[len(missing) - 1]
    return said(
        "classes", f"told.{block}", what=what, option=missing[0], **dict(zip("abcd", missing, strict=False))
    )


def _missing(options: argparse.Namespace) -> list[str]:
    """The options that what is to be done needs, and that were not given."""
    needed = NEEDED[options.what] + (("seed_file",) if options.what == "notebook" and options.roster else ())
    return [f"--{name.replace('_', '-')}" for name in needed if getattr(options, name) is None]


def _lab(options: argparse.Namespace) -> Lab | None:
    """The lab that was named; for `check` the folder may stand in its place.

    Raises OutOfRangeError where none was, and one is needed.
    """
    if options.what == "seed" or (options.what == "check" and options.lab and Path(options.lab).is_dir()):
        options.submissions = Path(options.lab) if options.lab else options.submissions
        return None
    if options.lab is None and options.what != "check":
        raise OutOfRangeError("lab", remark("errors.none"), "no_lab", labs=", ".join(LABS))
    return lab_of(options.lab) if options.lab else None


def _done(lab: Lab | None, options: argparse.Namespace) -> int:
    """Do it; the exit status."""
    if options.what == "seed":
        make_seed(options.seed_file)
        return 0
    if options.what == "check":
        return check(lab, options)
    assert lab is not None
    if options.what in ("grade", "gradebook"):
        return grade_class(lab, options) if options.what == "grade" else _gradebook(lab, options)
    secret = seed_in(options.seed_file) if options.seed_file else ""
    work: dict[str, Callable[[Lab, argparse.Namespace, str], int]] = {
        "handout": handouts, "key": _key, "notebook": notebooks,
        "gradescope": gradescope, "github": github, "qti": _qti,
    }  # fmt: skip
    return work[options.what](lab, options, secret)


def _key(lab: Lab, options: argparse.Namespace, secret: str) -> int:
    rows = [
        (student.key, f"q{number}", f"{question.in_unit:.6g}", question.unit)
        for student in roster_in(options.roster).students
        for number, question in enumerate(questions(lab, seed_of(student.identity, lab, secret)), 1)
    ]
    write_csv(Path(options.out), [("student", "question", "answer", "unit"), *rows])
    return 0


def _qti(lab: Lab, options: argparse.Namespace, secret: str) -> int:
    if not 1 <= options.variants <= MOST_VARIANTS:
        raise OutOfRangeError("variants", options.variants, "not_from_to", least=1, most=MOST_VARIANTS)
    with zipfile.ZipFile(options.out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in package(lab, secret, options.variants, worded):
            archive.writestr(name, text)
    return 0


def _gradebook(lab: Lab, options: argparse.Namespace) -> int:
    rows = list(gradebook(getattr(options, "for"), lab, roster_in(options.roster), read_grades(options.grades)))
    with Path(options.out).open("w", encoding="utf-8", newline="") as file:  # its own heads, as they have to be
        csv.writer(file).writerows(rows)
    return 0


def make_parser() -> Parser:
    parser = Parser(prog="classroom", description="A lab for a whole class.")
    parser.add_argument("what", choices=tuple(NEEDED))
    parser.add_argument("lab", nargs="?", help="lab-01, lab-02, lab-03 or lab-04; `check` finds it by itself")
    parser.add_argument("submissions", nargs="?", type=Path, help="a folder or a zip with what every student sent")
    parser.add_argument("--submissions", dest="named_submissions", type=Path, help="the same, by name")
    parser.add_argument("--roster", type=Path, help="a CSV file that names the students")
    parser.common("--seed-file")
    parser.common("--unconfined")
    parser.add_argument("--out", help="the file, or for handouts and notebooks the folder, to write")
    parser.add_argument(
        "--only", action="append", default=[], help="grade this student alone, into the grades there are"
    )
    parser.add_argument("--feedback", type=Path, help="a folder for a page of feedback for each student")
    parser.add_argument("--statistics", type=Path, help="a file for how the class did")
    parser.add_argument("--similar", type=Path, help="a file for pairs of submissions whose code is alike")
    parser.add_argument("--grades", type=Path, help="the grades.csv that a gradebook is made from")
    parser.add_argument("--for", choices=("canvas", "moodle", "prairielearn"), help="whose gradebook")
    parser.add_argument("--variants", type=int, default=50, help="how many numbers a question of a QTI quiz has")
    parser.add_argument("--pdf", action="store_true", help="print handouts as PDF too, with Chromium")
    parser.add_argument("--url", default="", help="where students get the code, for handouts")
    parser.take_language("all that students are given, and of what is told here")
    parser.common("--json", help="say what was asked and where it was written")
    return parser


if __name__ == "__main__":
    run(main)
