"""Grade a submission: `python -m scripts.grade lab-03 --file mine.py --student ada --answers answers.txt`.

The lab's own tests run on the file, each task in a process of its own with limits. With `--student`, or with
Gradescope's metadata, the student's own questions count too: `--questions` prints them, and the answers are lines
`q1 = 6.82 ms`. Formats: text, junit (XML), gradescope (results.json). The exit status is 0 whatever the grade.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from core.course.grading.tasks import Lab, lab_of
from core.course.grading.questions import Question, answers_in, judge, questions, seed_of
from core.course.grading.report import Grade, as_gradescope, as_junit, as_text
from core.errors import OutOfRangeError, ShardlabError
from runtime.grading import grade
from scripts.terminal import Parser

ROOT = Path(__file__).resolve().parents[1]
FORMATS = {"text": as_text, "junit": as_junit, "gradescope": as_gradescope}


def main(arguments: Sequence[str] | None = None) -> int:
    """Grade one submission, or print one student's questions."""
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        text = _answer(options, lab_of(options.lab))
    except (ShardlabError, OSError, UnicodeDecodeError) as error:
        parser.error(str(error))
    if options.out:
        options.out.write_text(text + "\n", encoding="utf-8")
    else:
        print(text)
    return 0


def _answer(options: argparse.Namespace, lab: Lab) -> str:
    student = _student(options)
    asked = questions(lab, seed_of(student, lab, options.word)) if student else ()
    if options.questions:
        if not student:
            raise OutOfRangeError("student", "none", "must be named: its questions are nobody else's")
        return _paper(asked)
    said = answers_in(_read(options.answers)) if options.answers else {}
    file = options.file or ROOT / "labs" / lab.folder / "starter.py"
    answers = tuple(judge(question, said.get(question.key)) for question in asked)
    return FORMATS[options.format](Grade(lab, grade(lab, file), answers, student))


def _paper(asked: Sequence[Question]) -> str:
    """The questions, and the lines to be filled in."""
    blanks = [f"{question.key} = ? {question.unit}" for question in asked]
    return "\n".join([*(question.text for question in asked), "", *blanks])


def _student(options: argparse.Namespace) -> str:
    """Who submits: named, or as Gradescope's submission_metadata.json says; a group is all of its members."""
    if options.student or not options.metadata:
        return str(options.student or "")
    try:
        users = json.loads(_read(options.metadata))["users"]
        return "+".join(sorted(str(user.get("email") or user["id"]) for user in users))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise OutOfRangeError("metadata", options.metadata, "is not a submission_metadata.json") from None


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _parser() -> Parser:
    parser = Parser(prog="scripts.grade", description="Grade a submission to a lab.")
    parser.add_argument("lab", help="lab-01, lab-02, lab-03 or lab-04")
    parser.add_argument("--file", type=Path, help="the submission; by default the lab's starter.py")
    parser.add_argument("--format", choices=FORMATS, default="text")
    parser.add_argument("--out", type=Path, help="a file to write instead of standard output")
    parser.add_argument("--student", default="", help="a name, number or address: the seed of its questions")
    parser.add_argument(
        "--metadata", type=Path, help="Gradescope's submission_metadata.json, in place of --student"
    )
    parser.add_argument("--answers", type=Path, help="a file of lines such as `q1 = 6.82 ms`")
    parser.add_argument("--word", default="", help="the instructor's own: another one asks everything anew")
    parser.add_argument("--questions", action="store_true", help="print the student's questions and grade nothing")
    return parser


if __name__ == "__main__":
    sys.exit(main())
