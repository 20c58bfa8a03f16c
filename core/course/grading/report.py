"""A grade as text, as JUnit XML, and as Gradescope's results.json.

Sources: the Jenkins JUnit schema (testsuites, testsuite, testcase, failure), and Gradescope's autograder
specifications, "Output format" (score, tests with score, max_score, status, name, number, output, visibility).
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from xml.etree import ElementTree

from core.course.grading.questions import points_each
from core.course.grading.tasks import Lab, TaskResult, earned

_NOT_XML = re.compile("[^\\t\\n\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")


@dataclass(frozen=True)
class Answered:
    """One of a student's own questions in words, what was said, and why it is not right, empty where it is."""

    asked: str
    said: str
    remark: str

    @property
    def right(self) -> bool:
        return not self.remark


@dataclass(frozen=True)
class Grade:
    """One submission's grade. `answers` is empty where no student was named, and nothing was asked."""

    lab: Lab
    tasks: tuple[TaskResult, ...]
    answers: tuple[Answered, ...] = ()
    student: str = ""

    @property
    def points(self) -> float:
        return float(earned(self.tasks)) + points_each(self.lab) * sum(answer.right for answer in self.answers)

    @property
    def max_points(self) -> float:
        return self.lab.points + points_each(self.lab) * len(self.answers)


@dataclass(frozen=True)
class Line:
    """One row of a report: a test or an answer, its share of the points, and its problem, empty when right."""

    suite: str
    number: str
    name: str
    points: float
    max_points: float
    problem: str


def lines(grade: Grade) -> Iterator[Line]:
    for result in grade.tasks:
        task, share = result.task, float(Fraction(result.task.points, len(result.outcomes)))
        for position, test in enumerate(result.outcomes, 1):
            yield Line(
                task.name,
                f"{task.number}.{position}",
                test.name,
                share if test.passed else 0.0,
                share,
                test.problem,
            )
    each = points_each(grade.lab)
    for position, answer in enumerate(grade.answers, 1):
        number = f"{len(grade.tasks) + 1}.{position}"
        yield Line("questions", number, answer.asked, each if answer.right else 0.0, each, answer.remark)


def as_text(grade: Grade) -> str:
    """A report to be read: each task, what failed in it, each answer, and the sum."""
    rows = [grade.lab.folder + (f", {grade.student}" if grade.student else "")]
    for result in grade.tasks:
        task = result.task
        rows.append(
            f"{_sign(all(t.passed for t in result.outcomes))} task {task.number}  {task.name}: {_of(result)}"
        )
        rows += [f"       {test.name}: {_first_line(test.problem)}" for test in result.outcomes if not test.passed]
    for answer in grade.answers:
        quoted = f"  said {answer.said!r}" if answer.said else ""
        rows.append(f"{_sign(answer.right)} {answer.asked}{quoted}")
        rows += [f"       {answer.remark}"] if answer.remark else []
    rows.append(f"{_plain(grade.points)} of {_plain(grade.max_points)} points")
    return "\n".join(rows)


def as_junit(grade: Grade) -> str:
    """JUnit XML: a suite a task and one for the answers, a case a test, points as properties of the suite."""
    root = ElementTree.Element("testsuites", name=grade.lab.folder)
    rows = list(lines(grade))
    for suite in dict.fromkeys(line.suite for line in rows):
        root.append(_suite(grade.lab, suite, [line for line in rows if line.suite == suite]))
    root.set("tests", str(len(rows)))
    root.set("failures", str(sum(bool(line.problem) for line in rows)))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True)


def as_gradescope(grade: Grade) -> str:
    """JSON as Gradescope reads it in `results.json`: a test a line, points out of points."""
    tests = [
        {
            "name": f"{line.suite}: {line.name}",
            "number": line.number,
            "score": round(line.points, 4),
            "max_score": round(line.max_points, 4),
            "status": "failed" if line.problem else "passed",
            "output": line.problem,
            "output_format": "text",
            "visibility": "visible",
        }
        for line in lines(grade)
    ]
    result = {
        "score": round(grade.points, 2),
        "output": f"{grade.lab.folder}: {_plain(grade.points)} of {_plain(grade.max_points)} points.",
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": tests,
    }
    return json.dumps(result, ensure_ascii=False, allow_nan=False, indent=1)


def _suite(lab: Lab, name: str, rows: Sequence[Line]) -> ElementTree.Element:
    failures = sum(bool(line.problem) for line in rows)
    suite = ElementTree.Element(
        "testsuite", name=name, tests=str(len(rows)), failures=str(failures), errors="0", skipped="0"
    )
    properties = ElementTree.SubElement(suite, "properties")
    totals = {"points": sum(line.points for line in rows), "max_points": sum(line.max_points for line in rows)}
    for key, total in totals.items():
        ElementTree.SubElement(properties, "property", name=key, value=_plain(total))
    for line in rows:
        case = ElementTree.SubElement(suite, "testcase", classname=f"{lab.key}.{name}", name=_clean(line.name))
        if line.problem:
            failure = ElementTree.SubElement(
                case, "failure", message=_clean(_first_line(line.problem)), type="assert"
            )
            failure.text = _clean(line.problem)
    return suite


def _clean(text: str) -> str:
    """Text that XML may hold: a learner's message can have any character in it."""
    return _NOT_XML.sub("", text)


def _first_line(text: str) -> str:
    return text.strip().split("\n", 1)[0][:200]


def _sign(right: bool) -> str:
    return "ok  " if right else "    "


def _of(result: TaskResult) -> str:
    return f"{_plain(float(result.points))} of {result.task.points}"


def _plain(points: float) -> str:
    return f"{points:.2f}".rstrip("0").rstrip(".")
