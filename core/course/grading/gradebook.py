"""A class's grades as rows that add up, and as the files that Canvas, Moodle and PrairieLearn import.

Sources: Canvas, "How do I import grades in the Gradebook" (Student, ID, SIS User ID, SIS Login ID, Section, and a
row of points possible); Moodle, "Grade import" (any column of the user, a grade, a feedback); PrairieLearn,
"Uploading assessment scores" (uid, instance, score_perc).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, median, quantiles
from types import MappingProxyType
from typing import Literal

from core.course.grading.answer import writable
from core.course.grading.questions import points_each
from core.course.grading.report import Grade, Say, in_english, shown_points, zeros
from core.course.grading.roster import Roster, Student
from core.course.grading.tasks import QUESTION_POINTS, Lab
from core.errors import OutOfRangeError
from core.text.numbers import number

Status = Literal["graded", "nothing sent", "not graded"]
Gradebook = Literal["canvas", "moodle", "prairielearn"]


@dataclass(frozen=True)
class Marked:
    """A student's grade; or why there is none: nothing was sent, which is zero, or it could not be graded."""

    student: Student
    status: Status
    grade: Grade | None = None
    remark: str = ""

    @property
    def points(self) -> float | None:
        """What counts; None where there is no grade."""
        if self.grade is not None:
            return self.grade.points
        return 0.0 if self.status == "nothing sent" else None


def heads(lab: Lab) -> tuple[str, ...]:
    """The columns of `grades.csv`, in their order."""
    tasks = (f"{task.name} ({task.points})" for task in lab.tasks)
    sums = (f"code ({lab.points})", f"questions ({QUESTION_POINTS})", "total", "maximum")
    return (
        "student",
        "name",
        "status",
        *tasks,
        *(f"q{n} ({points_each(lab):g})" for n in asked(lab)),
        *sums,
        "remark",
    )


def asked(lab: Lab) -> range:
    """The numbers of a lab's questions."""
    return range(1, round(QUESTION_POINTS / points_each(lab)) + 1)


def row(lab: Lab, marked: Marked, say: Say = in_english) -> tuple[str, ...]:
    """A student's line of `grades.csv`: tasks add up to the code, questions to theirs, and both to the total."""
    most, grade = lab.points + QUESTION_POINTS, marked.grade
    front = (marked.student.key, marked.student.name, marked.status)
    if grade is None:
        cells = len(heads(lab)) - len(front) - 3
        total = "" if marked.points is None else "0"
        return (*front, *[total] * cells, total, f"{most:g}", marked.remark)
    tasks = (f"{shown_points(result):g}" for result in grade.tasks)
    each = (f"{points_each(lab) if answer.right else 0:g}" for answer in grade.answers)
    sums = (f"{grade.code_points:g}", f"{grade.question_points:g}", f"{grade.points:g}", f"{most:g}")
    unconfined = "" if grade.confined else say("unconfined")
    said = filter(None, (zeros(grade, say), *grade.remarks, unconfined, marked.remark))
    return (*front, *tasks, *each, *sums, " | ".join(said))


def cell(text: str) -> str:
    """A text that a spreadsheet takes for a text, in one line: none begins a formula, and none moves the cursor."""
    plain = writable(text)
    number = plain.lstrip("-").replace(".", "", 1).isdecimal()
    return f"'{plain}" if plain.lstrip()[:1] in ("=", "+", "-", "@") and plain and not number else plain


def gradebook(
    kind: Gradebook, lab: Lab, roster: Roster, grades: Mapping[str, Mapping[str, str]]
) -> Iterator[Sequence[str]]:
    """The rows of a file that a gradebook imports, from the lines of `grades.csv` by student.

    Who has no total is left out: an empty cell would take away a grade that is there.
    Raises OutOfRangeError where the roster lacks what the gradebook knows students by.
    """
    students = [student for student in roster.students if grades.get(student.key, {}).get("total", "")]
    yield from _GRADEBOOKS[kind](lab, students, grades)


def _canvas(
    lab: Lab, students: Sequence[Student], grades: Mapping[str, Mapping[str, str]]
) -> Iterator[Sequence[str]]:
    known = ("ID", "SIS User ID", "SIS Login ID")
    if students and not any(_column(students[0], head) for head in known):
        raise OutOfRangeError("for", "canvas", "canvas")
    yield ("Student", *known, "Section", lab.folder)
    yield ("    Points Possible", "", "", "", "", f"{lab.points + QUESTION_POINTS:g}")
    for student in students:
        cells = [_column(student, head) for head in known]
        yield (student.name, *cells, _column(student, "Section"), grades[student.key]["total"])


def _moodle(
    lab: Lab, students: Sequence[Student], grades: Mapping[str, Mapping[str, str]]
) -> Iterator[Sequence[str]]:
    kinds = [kind for kind in ("email", "sis", "login") if students and students[0].row.get(kind)]
    if students and not kinds:
        raise OutOfRangeError("for", "moodle", "moodle")
    named = {"email": "Email address", "sis": "ID number", "login": "Username"}
    yield (*(named[kind] for kind in kinds), lab.folder, "Feedback")
    for student in students:
        line = grades[student.key]
        yield (*(student.row.get(kind, "") for kind in kinds), line["total"], cell(line.get("remark", "")))


def _prairielearn(
    lab: Lab, students: Sequence[Student], grades: Mapping[str, Mapping[str, str]]
) -> Iterator[Sequence[str]]:
    if students and not (students[0].row.get("login") or students[0].row.get("email")):
        raise OutOfRangeError("for", "prairielearn", "prairielearn")
    yield ("uid", "instance", "score_perc")
    for student in students:
        line = grades[student.key]
        share = 100 * _number(line["total"]) / (lab.points + QUESTION_POINTS)
        yield (student.row.get("email") or student.row["login"], "1", f"{share:.4g}")


_GRADEBOOKS = MappingProxyType({"canvas": _canvas, "moodle": _moodle, "prairielearn": _prairielearn})


def _number(text: str) -> float:
    value = number(text)
    if value is None:
        raise OutOfRangeError("total", text, "no_points")
    return value


def _column(student: Student, head: str) -> str:
    """A student's cell under a head of the roster's own file."""
    return next((value for name, value in student.columns.items() if name.casefold() == head.casefold()), "")


@dataclass(frozen=True)
class Spread:
    """How points are spread over a class: the mean, the median, and a quarter of the class below and above."""

    mean: float
    median: float
    low: float
    high: float


def spread(values: Sequence[float]) -> Spread | None:
    """The spread of some points; None of none."""
    if not values:
        return None
    low, _, high = quantiles(values, n=4, method="inclusive") if len(values) > 1 else (values[0],) * 3
    return Spread(mean(values), median(values), low, high)
