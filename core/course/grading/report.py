"""A grade as text, as JUnit XML, and as Gradescope's results.json.

Sources: the Jenkins JUnit schema (testsuites, testsuite, testcase, failure), and Gradescope's autograder
specifications, "Output format" (score, tests with score, max_score, status, name, number, output, visibility).

A report hands each of its sentences, by name and values, to `say`, which words it: in English where none is given.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from xml.etree import ElementTree

from core.course.grading.answer import writable
from core.course.grading.questions import points_each
from core.course.grading.tasks import Lab, TaskResult
from core.english import express

QUESTIONS = "questions"
"""The suite of a student's own questions."""

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
    """One submission's grade. `answers` is empty where no student was named, and nothing was asked.

    `remarks` are what is to be said of the files; `confined` tells that the code ran in a sandbox.
    """

    lab: Lab
    tasks: tuple[TaskResult, ...]
    answers: tuple[Answered, ...] = ()
    student: str = ""
    remarks: tuple[str, ...] = ()
    confined: bool = True

    @property
    def points(self) -> float:
        """The sum of what the tasks show and of the questions: what is printed adds up."""
        return round(self.code_points + self.question_points, 2)

    @property
    def code_points(self) -> float:
        return round(sum(shown_points(result) for result in self.tasks), 2)

    @property
    def question_points(self) -> float:
        return round(points_each(self.lab) * sum(answer.right for answer in self.answers), 2)

    @property
    def max_points(self) -> float:
        return self.lab.points + points_each(self.lab) * len(self.answers)


Say = Callable[..., str]
"""A sentence of a report, by its name and values, in the language of whoever reads it."""


def in_english(name: str, /, **values: object) -> str:
    """A sentence of a report as a terminal has it."""
    return express(f"classes.report.{name}", values)


def shown_points(result: TaskResult) -> float:
    """A task's points as they are shown, to the cent."""
    return round(float(result.points), 2)


def zeros(grade: Grade, say: Say = in_english) -> str:
    """Why nothing was earned, for each task and each question that earned nothing, in one line."""
    problems = {
        result.task.name: next(one.problem for one in result.outcomes if one.problem)
        for result in grade.tasks
        if not result.points
    }
    if len(problems) == len(grade.tasks) and len(set(problems.values())) == 1:
        problems = {say("code"): next(iter(problems.values()))}
    said = [f"{name}: {problem}" for name, problem in problems.items()]
    wrong = [(f"q{place}", answer.remark) for place, answer in enumerate(grade.answers, 1) if answer.remark]
    remarks = dict.fromkeys(remark for _, remark in wrong)
    for remark in remarks:
        said.append(f"{', '.join(name for name, told in wrong if told == remark)}: {remark}")
    return writable(" | ".join(_first_line(one) for one in said))


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
        yield Line(QUESTIONS, number, answer.asked, each if answer.right else 0.0, each, answer.remark)


def as_text(grade: Grade, say: Say = in_english) -> str:
    """A report to be read: each task, what failed in it, each answer, and the sum."""
    rows = [grade.lab.folder + (f", {grade.student}" if grade.student else "")]
    for result in grade.tasks:
        task = result.task
        points = _plain(float(result.points))
        told = say("task", number=task.number, name=task.name, points=points, of=task.points)
        rows.append(f"{_sign(all(one.passed for one in result.outcomes))} {told}")
        rows += [f"       {test.name}: {_first_line(test.problem)}" for test in result.outcomes if not test.passed]
    for answer in grade.answers:
        quoted = f"  {say('said', said=repr(answer.said))}" if answer.said else ""
        rows.append(f"{_sign(answer.right)} {answer.asked}{quoted}")
        rows += [f"       {answer.remark}"] if answer.remark else []
    rows += [say("unconfined")] if not grade.confined else []
    rows += grade.remarks
    rows.append(say("sum", points=_plain(grade.points), of=_plain(grade.max_points)))
    return "\n".join(map(_line_of_text, rows))


def _line_of_text(row: str) -> str:
    """A line that shows a terminal nothing but letters."""
    return row[: len(row) - len(row.lstrip())] + writable(row.lstrip())


def as_junit(grade: Grade, say: Say = in_english) -> str:
    """JUnit XML: a suite a task and one for the answers, a case a test, points as properties of the suite."""
    root = ElementTree.Element("testsuites", name=grade.lab.folder)
    rows = list(lines(grade))
    for suite in dict.fromkeys(line.suite for line in rows):
        root.append(_suite(grade, suite, [line for line in rows if line.suite == suite], say))
    root.set("tests", str(len(rows)))
    root.set("failures", str(sum(bool(line.problem) for line in rows)))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True)


def as_gradescope(grade: Grade, say: Say = in_english) -> str:
    """JSON as Gradescope reads it in `results.json`: a test a line, points out of points."""
    tests = [
        {
            "name": f"{say(line.suite) if line.suite == QUESTIONS else line.suite}: {line.name}",
            "number": line.number,
            "score": round(line.points, 4),
            "max_score": round(line.max_points, 4),
            "status": "failed" if line.problem else "passed",
            "output": writable(line.problem),
            "output_format": "text",
            "visibility": "visible",
        }
        for line in lines(grade)
    ]
    earned = {"points": _plain(grade.points), "of": _plain(grade.max_points)}
    points = say("sum_of_lab", lab=grade.lab.folder, **earned)
    said = [points, *grade.remarks]
    result = {
        "score": round(grade.points, 2),
        "output": "\n".join(map(writable, [*said, *([] if grade.confined else [say("unconfined")])])),
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": tests,
    }
    return json.dumps(result, ensure_ascii=False, allow_nan=False, indent=1)


def not_graded_on_gradescope(reason: str, say: Say = in_english) -> str:
    """The same of a submission that could not be graded: it has no score, which Gradescope tells the instructor."""
    why = say("not_graded", error=writable(reason))
    said = f"{why}\n{say('no_zero')}"
    return json.dumps({"output": said, "output_format": "text", "visibility": "visible"}, ensure_ascii=False)


def _suite(grade: Grade, name: str, rows: Sequence[Line], say: Say) -> ElementTree.Element:
    failures = sum(bool(line.problem) for line in rows)
    suite = ElementTree.Element(
        "testsuite", name=name, tests=str(len(rows)), failures=str(failures), errors="0", skipped="0"
    )
    properties = ElementTree.SubElement(suite, "properties")
    totals = {"points": sum(line.points for line in rows), "max_points": sum(line.max_points for line in rows)}
    for key, total in totals.items():
        ElementTree.SubElement(properties, "property", name=key, value=str(_plain(total)))
    if not grade.confined:
        ElementTree.SubElement(properties, "property", name="sandbox", value=say("unconfined"))
    for line in rows:
        case = ElementTree.SubElement(
            suite, "testcase", classname=f"{grade.lab.key}.{name}", name=_clean(line.name)
        )
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


def _plain(points: float) -> float:
    """Points to the cent, an int where they are whole."""
    return round(points) if points == round(points) else round(points, 2)
