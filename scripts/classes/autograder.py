"""Gradescope's autograder: reads its folder, grades what was submitted, and always writes `results.json`.

    python -m scripts.classes.autograder lab-03 --autograder /autograder

Who submitted is looked up in the roster that the zip holds, so everybody is asked what their handout says; of
partners each has a sheet, and the best answered counts. Bubblewrap confines the code where the container lets it;
where it does not, the code runs as nobody in Gradescope's container, which is one submission's own, and every
result says so.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from core.course.grading.report import as_gradescope, not_graded_on_gradescope
from core.course.grading.roster import Roster, Student
from core.course.grading.tasks import lab_of
from core.errors import OutOfRangeError, ShardlabError, remark
from runtime import confinement, content
from runtime.files import ROOT
from runtime.prose import explained, said
from runtime.seed_file import seed_in
from runtime.sent_files import sent_files
from runtime.submissions import submission
from scripts.grade import graded, roster_in
from scripts.terminal import Parser, run, told


def main(arguments: Sequence[str] | None = None) -> int:
    """Grade one submission on Gradescope; the exit status is 0, and what went wrong is in the result."""
    options = make_parser().parse_args(arguments)
    with content.speaking(options.lang):
        try:
            text = _result(options)
        except (ShardlabError, OSError) as error:
            text = not_graded_on_gradescope(explained(error), told)
        except Exception as error:  # whatever it is, Gradescope is told, and nobody gets a zero for it
            failed = said("classes", "fault.autograder", error=f"{type(error).__name__}: {error}")
            text = not_graded_on_gradescope(failed, told)
    results = options.autograder / "results"
    results.mkdir(parents=True, exist_ok=True)
    (results / "results.json").write_text(text + "\n", encoding="utf-8")
    return 0


def _result(options: argparse.Namespace) -> str:
    lab, secret = lab_of(options.lab), seed_in(options.source / "seed.txt")
    students = submitters(options.autograder / "submission_metadata.json", roster_in(options.source / "roster.csv"))
    sent = submission(students[0], sent_files(options.autograder / "submission"), lab)
    if sent.fault:
        raise OutOfRangeError("submission", students[0].key, "fault", fault=sent.fault)
    identities = list(dict.fromkeys(student.identity for student in students))
    names = "+".join(student.key for student in students)
    confine = not confinement.missing()
    grade = graded(
        lab, sent.code, identities, sent.answers, secret, student=names, remarks=sent.remarks, confine=confine
    )
    return as_gradescope(grade, told)


def submitters(metadata: Path, roster: Roster) -> list[Student]:
    """Who submitted, as the roster has them: by address, number or name, in the roster's order.

    Raises OutOfRangeError for another file, or where somebody is nobody in the roster.
    """
    try:
        users = json.loads(metadata.read_bytes())["users"]
        known = [[str(user[name]) for name in ("email", "sid", "name", "id") if user.get(name)] for user in users]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise OutOfRangeError("metadata", metadata.name, "no_metadata") from None
    found = [next(filter(None, map(roster.find, names)), None) for names in known]
    lost = [
        names[0] if names else said("classes", "part.nameless")
        for names, one in zip(known, found, strict=True)
        if one is None
    ]
    if lost or not found:
        raise OutOfRangeError("student", ", ".join(lost) or remark("errors.none"), "nobody_here")
    order = {student.key: place for place, student in enumerate(roster.students)}
    return sorted((one for one in found if one), key=lambda one: order[one.key])


def make_parser() -> Parser:
    parser = Parser(prog="autograder", description="Grade a submission where Gradescope unpacked it.")
    parser.add_argument("lab", help="lab-01, lab-02, lab-03 or lab-04")
    parser.add_argument("--autograder", type=Path, default=Path("/autograder"), help="Gradescope's folder")
    parser.add_argument("--source", type=Path, default=ROOT, help="the folder with roster.csv and seed.txt")
    parser.take_language("the results")
    return parser


if __name__ == "__main__":
    run(main)
