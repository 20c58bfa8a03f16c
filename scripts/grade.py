"""Grade a submission: `python -m scripts.grade lab-03 --file mine.py --student ada --word-file word.txt`.

The code is asked to compute with hidden inputs, in a process that it cannot leave; the student's own questions
count too: `--questions` prints them, and `--answers` is a file of lines `q1 = 6.82 ms`. Both are drawn from the
student's name and the instructor's secret word, which comes from a file or from SHARDLAB_GRADING_WORD. `--practice`
draws at random. Formats: text, junit (XML), gradescope (results.json). The exit status is 0 whatever the grade.
"""

import argparse
import json
import os
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path

from core.course.grading.questions import answers_in, questions, seed_of
from core.course.grading.report import Answered, Grade, as_gradescope, as_junit, as_text, lines
from core.course.grading.tasks import Lab, lab_of
from core.errors import OutOfRangeError, ShardlabError
from core.text.question import Number, judge
from runtime.files import ROOT
from runtime.grading import grade
from scripts.terminal import Parser, run, words, written_json

FORMATS = {"text": as_text, "junit": as_junit, "gradescope": as_gradescope}
WORD = "SHARDLAB_GRADING_WORD"


def main(arguments: Sequence[str] | None = None) -> int:
    """Grade one submission, or print one student's questions."""
    parser = make_parser()
    options = parser.parse_args(arguments)
    try:
        text = _answer(options, lab_of(options.lab))
    except (ShardlabError, OSError, UnicodeDecodeError) as error:
        parser.error(str(error), type(error).__name__)
    if options.out:
        options.out.write_text(text + "\n", encoding="utf-8")
    else:
        print(text)
    return 0


def word_of(file: Path | None) -> str:
    """The instructor's secret word. Its variable is taken out of the environment, which children inherit.

    Raises OutOfRangeError where there is none.
    """
    word = file.read_text(encoding="utf-8") if file else os.environ.pop(WORD, "")
    if not word.strip():
        raise OutOfRangeError("word", "none", f"was given: name a file by --word-file, or set {WORD}")
    return word.strip()


def graded(lab: Lab, file: Path, student: str, answers: str, word: str) -> Grade:
    """One submission's grade: its code, and the answers to this student's questions where one is named."""
    seed = seed_of(student, lab, word)
    asked = questions(lab, seed) if student else ()
    given = answers_in(answers)
    answered = tuple(
        answer_to(number, question, given.get(f"q{number}")) for number, question in enumerate(asked, 1)
    )
    return Grade(lab, grade(lab, file, seed), answered, student)


def answer_to(number: int, question: Number, answer: str | None) -> Answered:
    """What was said to a question, and what is told of it where it is not right."""
    judged = None if answer is None else judge(question, answer)
    block = "judge.unanswered" if judged is None else f"judge.{judged.reply}"
    if judged and judged.reply == "slip":
        block = judged.block
    remark = "" if judged and judged.right else words("grading", block, {**question.fields, "unit": question.unit})
    return Answered(worded(number, question), answer or "", remark)


def worded(number: int, question: Number) -> str:
    """A question as a student reads it."""
    asks = words("grading", f"{question.key}.asks", question.fields)
    return f"q{number}. {asks} {words('grading', 'answer_in', {'unit': question.unit})}"


def paper(asked: Sequence[Number]) -> str:
    """The questions, and the lines to be filled in."""
    numbered = list(enumerate(asked, 1))
    blanks = [f"q{number} = ? {question.unit}" for number, question in numbered]
    return "\n".join([*(worded(number, question) for number, question in numbered), "", *blanks])


def _answer(options: argparse.Namespace, lab: Lab) -> str:
    student = _student(options)
    word = secrets.token_hex(16) if options.practice else word_of(options.word_file)
    if options.questions:
        if not student:
            raise OutOfRangeError("student", "none", "must be named: its questions are nobody else's")
        asked = questions(lab, seed_of(student, lab, word))
        return written_json({"questions": _asked(asked)}, options) if options.json else paper(asked)
    file = options.file or ROOT / "labs" / lab.folder / "starter.py"
    answers = options.answers.read_text(encoding="utf-8") if options.answers else ""
    grade = graded(lab, file, student, answers, word)
    return written_json(_points(grade), options) if options.json else FORMATS[options.format](grade)


def _asked(asked: Sequence[Number]) -> Sequence[Mapping[str, object]]:
    return [
        {"number": number, "asks": worded(number, question), "unit": question.unit}
        for number, question in enumerate(asked, 1)
    ]


def _points(grade: Grade) -> Mapping[str, object]:
    return {"points": grade.points, "max_points": grade.max_points, "lines": tuple(lines(grade))}


def _student(options: argparse.Namespace) -> str:
    """Who submits: named, or as Gradescope's submission_metadata.json says; a group is all of its members."""
    if options.student or not options.metadata:
        return str(options.student or "")
    try:
        users = json.loads(options.metadata.read_text(encoding="utf-8"))["users"]
        return "+".join(sorted(str(user.get("email") or user["id"]) for user in users))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise OutOfRangeError("metadata", options.metadata, "is not a submission_metadata.json") from None


def make_parser() -> Parser:
    parser = Parser(prog="grade", description="Grade a submission to a lab.")
    parser.add_argument("lab", help="lab-01, lab-02, lab-03 or lab-04")
    parser.add_argument("--file", type=Path, help="the submission; by default the lab's starter.py")
    parser.add_argument("--format", choices=FORMATS, default="text")
    parser.add_argument("--out", type=Path, help="a file to write instead of standard output")
    parser.add_argument("--student", default="", help="a name, number or address: its questions are its own")
    parser.add_argument(
        "--metadata", type=Path, help="Gradescope's submission_metadata.json, in place of --student"
    )
    parser.add_argument("--answers", type=Path, help="a file of lines such as `q1 = 6.82 ms`")
    parser.common("--word-file", help=f"holds the instructor's secret word; else {WORD} does")
    parser.add_argument("--practice", action="store_true", help="draw inputs and questions at random instead")
    parser.common("--json", help="as every command has it, in place of --format")
    parser.add_argument("--questions", action="store_true", help="print the student's questions and grade nothing")
    return parser


if __name__ == "__main__":
    run(main)
