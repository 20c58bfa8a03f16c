"""Grade a submission: `python -m scripts.grade lab-03 --file mine.py --student ada --seed-file seed.txt`.

The code is asked to compute with hidden inputs, in a process that it cannot leave; the student's own questions
count too: `--questions` prints them, and `--answers` is a file of lines `q1 = 6.82 ms`. Both are drawn from the
student's identity, which a `--roster` decides, and the instructor's seed, which `classroom seed` makes.
`--practice` draws at random. Formats: text, junit (XML), gradescope (results.json), each in English or, with
`--lang es`, in Spanish. The exit status is 0 whatever the grade, and 1 where none could be given, by a fault of the
machine's or of the judge's: that is no grade of zero.
"""

import argparse
import csv
import io
import re
import secrets
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from core.course.grading.questions import answers_in, questions, seed_of
from core.course.grading.report import Answered, Grade, as_gradescope, as_junit, as_text, lines
from core.course.grading.roster import Roster, roster_of
from core.course.grading.tasks import Lab, lab_of
from core.errors import NotGradedError, OutOfRangeError, ShardlabError, remark
from core.text.question import Number, judge
from runtime import content
from runtime.files import ROOT
from runtime.grading import code_of, grade_code
from runtime.prose import explained, said
from runtime.seed_file import seed_in
from runtime.sent_files import MOST_BYTES
from runtime.students_text import answers_from, code_from, text_from
from scripts.terminal import OFF, Parser, run, told, words, written_json

_BYTES = re.compile(r"(?<![A-Za-z])([kKMG])(?:B|b|[Bb]ytes?)\b")
FORMATS = {"text": as_text, "junit": as_junit, "gradescope": as_gradescope}


def main(arguments: Sequence[str] | None = None) -> int:
    """Grade one submission, or print one student's questions."""
    parser = make_parser()
    options = parser.parse_args(arguments)
    with content.speaking(options.lang):
        try:
            text = _answer(options, lab_of(options.lab))
        except NotGradedError as error:
            why = said("classes", "told.command", error=explained(error))
            print(f"{parser.prog}: {why}", file=sys.stderr)
            return OFF
        except (ShardlabError, OSError, csv.Error) as error:
            parser.error(explained(error), type(error).__name__)
    if options.out:
        options.out.write_text(text + "\n", encoding="utf-8")
    else:
        print(text)
    return 0


def roster_in(path: Path) -> Roster:
    """The roster that a file holds, whatever parts its columns and however it is encoded.

    Raises OutOfRangeError for a file that is none.
    """
    if not path.is_file():
        raise OutOfRangeError("roster", path, "not_there")
    text = text_from(path.read_bytes()[: 16 * MOST_BYTES], path.name)
    head = text.partition("\n")[0]
    delimiter = max(",;\t", key=head.count)
    return roster_of(list(csv.reader(io.StringIO(text), delimiter=delimiter)), path)


def graded(
    lab: Lab,
    code: bytes,
    identities: Sequence[str],
    answers: str,
    secret: str,
    *,
    student: str = "",
    remarks: Sequence[str] = (),
    confine: bool = True,
) -> Grade:
    """One submission's grade: its code, and the answers to the questions of whoever sent it.

    Partners have several identities, and each a sheet of questions of their own: what they answered best counts.
    Without an identity there are no questions.
    """
    given = answers_in(answers)
    sheets = [(identity, _answered(lab, identity, given, secret)) for identity in identities]
    best = max(sheets, key=lambda sheet: sum(one.right for one in sheet[1]), default=("", ()))
    results = grade_code(lab, code, seed_of(best[0], lab, secret), confine=confine)
    return Grade(lab, results, best[1], student, tuple(remarks), confine)


def _answered(lab: Lab, identity: str, given: Mapping[str, str], secret: str) -> tuple[Answered, ...]:
    asked = questions(lab, seed_of(identity, lab, secret))
    return tuple(answer_to(number, question, given.get(f"q{number}")) for number, question in enumerate(asked, 1))


def answer_to(number: int, question: Number, answer: str | None) -> Answered:
    """What was said to a question, and what is told of it where it is not right."""
    judged = None if answer is None else judge(question, answer)
    block = "judge.unanswered" if judged is None else f"judge.{judged.reply}"
    if judged and judged.reply == "slip":
        block = judged.block
    if judged and not judged.right and judge(question, _BYTES.sub(r"\1iB", answer or "")).right:
        block = "judge.thousands"
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
    student, identity = _student(options)
    if not options.practice and options.seed_file is None:
        raise OutOfRangeError("seed-file", remark("errors.none"), "no_seed_named")
    secret = secrets.token_hex(16) if options.practice else seed_in(options.seed_file)
    if options.questions:
        if not student:
            raise OutOfRangeError("student", remark("errors.none"), "no_student")
        asked = questions(lab, seed_of(identity, lab, secret))
        return written_json({"questions": _asked(asked)}, options) if options.json else paper(asked)
    file = options.file or ROOT / "labs" / lab.folder / "starter.py"
    code = code_from(code_of(file), file.name)
    answers = answers_from(code_of(options.answers), options.answers.name) if options.answers else ""
    identities = [identity] if student else []
    grade = graded(lab, code, identities, answers, secret, student=student, confine=not options.unconfined)
    return written_json(_points(grade), options) if options.json else FORMATS[options.format](grade, told)


def _student(options: argparse.Namespace) -> tuple[str, str]:
    """Who submits, and the identity that decides the questions: the roster's, where there is one."""
    if not options.student or options.roster is None:
        return options.student, options.student
    found = roster_in(options.roster).find(options.student)
    if found is None:
        raise OutOfRangeError("student", options.student, "nobody_in", roster=options.roster)
    return found.key, found.identity


def _asked(asked: Sequence[Number]) -> Sequence[Mapping[str, object]]:
    return [
        {"number": number, "asks": worded(number, question), "unit": question.unit}
        for number, question in enumerate(asked, 1)
    ]


def _points(grade: Grade) -> Mapping[str, object]:
    told = {"points": grade.points, "max_points": grade.max_points, "lines": tuple(lines(grade))}
    return {**told, "confined": grade.confined}


def make_parser() -> Parser:
    parser = Parser(prog="grade", description="Grade a submission to a lab.")
    parser.add_argument("lab", help="lab-01, lab-02, lab-03 or lab-04")
    parser.add_argument("--file", type=Path, help="the submission; by default the lab's starter.py")
    parser.add_argument("--format", choices=FORMATS, default="text")
    parser.add_argument("--out", type=Path, help="a file to write instead of standard output")
    parser.add_argument("--student", default="", help="a name, number or address: its questions are its own")
    parser.add_argument("--roster", type=Path, help="a class list, which says who that is; see classroom")
    parser.add_argument("--answers", type=Path, help="a file of lines such as `q1 = 6.82 ms`")
    parser.common("--seed-file")
    parser.common("--unconfined")
    parser.add_argument("--practice", action="store_true", help="draw inputs and questions at random instead")
    parser.take_language("the report")
    parser.common("--json", help="as every command has it, in place of --format")
    parser.add_argument("--questions", action="store_true", help="print the student's questions and grade nothing")
    return parser


if __name__ == "__main__":
    run(main)
