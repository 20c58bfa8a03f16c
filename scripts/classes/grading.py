"""Grades of a class: who sent what, a grade for each, `grades.csv`, feedback, statistics, and pairs that are alike.

A fault of the machine's or of the judge's own costs nobody anything: that student is not graded, the others go on,
and the exit status is 1. Code that was not graded can be graded again by itself, with `--only`.
"""

import argparse
import csv
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from core.course.grading.gradebook import Marked, Status, asked, cell, heads, row, spread
from core.course.grading.likeness import alike
from core.course.grading.report import Grade, shown_points
from core.course.grading.roster import Roster
from core.course.grading.tasks import QUESTION_POINTS, Lab
from core.errors import NotGradedError, OutOfRangeError, ShardlabError, remark
from core.text.pages import as_cell, as_code, page
from runtime import confinement, content
from runtime.files import write_whole
from runtime.prose import explained, said
from runtime.quantities import in_a_row, local
from runtime.released import released_starter
from runtime.seed_file import seed_in
from runtime.sent_files import sent_files
from runtime.submissions import Submission, collected
from scripts.grade import graded, roster_in
from scripts.terminal import OFF, told

LEAST_ALIKE = 0.8
"""The share of runs above which two submissions are worth a look."""


def grade_class(lab: Lab, options: argparse.Namespace) -> int:
    """Grade every submission of a roster; the exit status is 1 where not all is as it should be."""
    secret, roster, confine = seed_in(options.seed_file), roster_in(options.roster), not options.unconfined
    if confine and (fault := confinement.missing()):
        raise OutOfRangeError("sandbox", remark("errors.none"), "no_sandbox", fault=fault)
    found = collected(sent_files(options.submissions), roster, lab)
    if all(one.empty for one in found.submissions):
        names = ", ".join(found.strangers[:8]) or "nothing"
        raise OutOfRangeError("submissions", options.submissions, "none_sent", names=names)
    chosen = _only(found.submissions, roster, options.only)
    language = content.language()  # of this thread: those of a pool begin in English
    with ThreadPoolExecutor(1 if lab.needs_torch else os.cpu_count()) as pool:  # each waits for its own process
        marked = list(pool.map(lambda one: _marked(lab, one, secret, confine, language), chosen))
    rows = [row(lab, one, told) for one in marked]
    _write_grades(Path(options.out), lab, rows, keep=bool(options.only))
    if options.feedback:
        _write_feedback(options.feedback, lab, list(zip(chosen, marked, strict=True)))
    if options.statistics:
        options.statistics.write_text(statistics(lab, marked), encoding="utf-8")
    if options.similar:
        options.similar.write_text(similar(lab, found.submissions), encoding="utf-8")
    return _told(marked, found.strangers, roster, confine)


def _only(submissions: Sequence[Submission], roster: Roster, named: Sequence[str]) -> Sequence[Submission]:
    """The submissions of those who are named, or all of them.

    Raises OutOfRangeError for a name that means nobody.
    """
    keys = set()
    for name in named:
        student = roster.find(name)
        if student is None:
            raise OutOfRangeError("only", name, "nobody")
        keys.add(student.key)
    return [one for one in submissions if not keys or one.student.key in keys]


def _marked(lab: Lab, sent: Submission, secret: str, confine: bool, language: str) -> Marked:
    """One student's grade, or why there is none; whatever goes wrong here is not the student's fault."""
    with content.speaking(language):
        late = [said("classes", "file.late")] if sent.late else []
        if sent.fault:
            status: Status = "nothing sent" if sent.empty else "not graded"
            return Marked(sent.student, status, None, "; ".join([sent.fault, *late]))
        try:
            grade = graded(lab, sent.code, [sent.student.identity], sent.answers, secret, student=sent.student.key,
                           remarks=[*sent.remarks, *late], confine=confine)  # fmt: skip
        except NotGradedError as error:
            why = explained(error)
        except ShardlabError as error:
            why = said("classes", "fault.lab", error=explained(error))
        except Exception as error:  # one student's is not to end all the others'
            why = said("classes", "fault.judge", error=f"{type(error).__name__}: {error}")
        else:
            return Marked(sent.student, "graded", grade)
        return Marked(sent.student, "not graded", None, why)


def _told(marked: Sequence[Marked], strangers: Sequence[str], roster: Roster, confine: bool) -> int:
    """Say what an instructor must know, and the exit status it ends with."""
    without = [one for one in marked if one.status == "not graded"]
    graded, nothing = (sum(one.status == status for one in marked) for status in ("graded", "nothing sent"))
    lines = [said("classes", "told.counts", graded=graded, nothing=nothing, left=len(without))]
    lines += [said("classes", "told.not_graded", student=one.student.key, error=one.remark) for one in without]
    lines += [said("classes", "told.stranger", name=name) for name in strangers]
    lines += [said("classes", "told.shared", name=name) for name in roster.shared_names]
    lines += [] if confine else [told("unconfined")]
    for line in lines:
        print(cell(line), file=sys.stderr)
    return OFF if without or strangers else 0


def write_csv(path: Path, rows: Sequence[Sequence[str]]) -> None:
    """Write a table whole or not at all, as spreadsheets take it."""
    part = path.with_name(path.name + ".part")
    with part.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([[cell(text) for text in one] for one in rows])
    part.replace(path)


def read_grades(path: Path) -> dict[str, dict[str, str]]:
    """The lines of a `grades.csv` by student."""
    if not path.is_file():
        raise OutOfRangeError("grades", path, "not_there")
    with path.open(encoding="utf-8-sig", newline="") as file:
        return {line.get("student", "").removeprefix("'"): line for line in csv.DictReader(file)}


def _write_grades(path: Path, lab: Lab, rows: Sequence[Sequence[str]], keep: bool) -> None:
    """Write the grades; with `keep` into the table that is there, in place of the same students' lines."""
    lines = [list(one) for one in rows]
    if keep and path.is_file():
        before = read_grades(path)
        if before and tuple(next(iter(before.values()))) != heads(lab):
            raise OutOfRangeError("out", path, "other_columns")
        anew = {one[0]: one for one in lines}
        kept = [anew.pop(student, list(line.values())) for student, line in before.items()]
        lines = [[text.removeprefix("'") for text in one] for one in kept] + list(anew.values())
    write_csv(path, [heads(lab), *lines])


def _write_feedback(folder: Path, lab: Lab, marked: Sequence[tuple[Submission, Marked]]) -> None:
    """A page for each student, as Markdown and as HTML."""
    folder.mkdir(parents=True, exist_ok=True)
    for sent, one in marked:
        text = feedback(lab, sent, one)
        write_whole(folder / f"{one.student.key}.md", text)
        write_whole(
            folder / f"{one.student.key}.html", page(f"{lab.folder}: {one.student.name}", text, content.language())
        )


def feedback(lab: Lab, sent: Submission, marked: Marked) -> str:
    """What a student is told: the points, what failed, which answers are right; never an answer that is due."""
    lines = [f"# {lab.folder}", "", as_code(marked.student.name), ""]
    if marked.grade is None:
        why = said("classroom", "feedback.not_sent") if marked.status == "nothing sent" else _why(marked)
        return "\n".join([*lines, why, ""])
    grade = marked.grade
    points, most = local(f"{grade.points:g}"), local(f"{grade.max_points:g}")
    lines += [said("classroom", "feedback.total", points=points, of=most), ""]
    read = {name: as_code(text) if text else said("classroom", "feedback.nothing")
            for name, text in (("code", sent.code_name), ("answers", sent.answers_name))}  # fmt: skip
    lines += [said("classroom", "feedback.read", **read), ""]
    lines += [] if grade.confined else [told("unconfined"), ""]
    lines += _section("feedback.tasks", _tasks(grade))
    lines += _section("feedback.failed", _failed(grade))
    lines += _section("feedback.answers", _of_answers(grade))
    lines += _section("feedback.remarks", [f"- {as_code(remark)}" for remark in grade.remarks])
    return "\n".join(lines)


def _why(marked: Marked) -> str:
    return said("classroom", "feedback.not_graded", reason=as_code(marked.remark))


def _section(head: str, lines: Sequence[str]) -> list[str]:
    return [f"## {said('classroom', head)}", "", *lines, ""] if lines else []


def _tasks(grade: Grade) -> list[str]:
    names = [said("classroom", f"table.{name}") for name in ("task", "points", "of")]
    rows = [(as_code(one.task.name), local(f"{shown_points(one):g}"), str(one.task.points)) for one in grade.tasks]
    return table([names, *rows])


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as a table of Markdown, the first of them its head."""
    lines = ["| " + " | ".join(map(as_cell, one)) + " |" for one in rows]
    return [lines[0], "|" + "---|" * len(rows[0]), *lines[1:]]


def _failed(grade: Grade) -> list[str]:
    return [
        f"- {as_code(result.task.name)}, {outcome.name}: {as_code(outcome.problem)}"
        for result in grade.tasks
        for outcome in result.outcomes
        if outcome.problem
    ]


def _of_answers(grade: Grade) -> list[str]:
    lines = []
    for answer in grade.answers:
        wrote = said("classroom", "feedback.said", said=as_code(answer.said)) if answer.said else ""
        verdict = said("classroom", "feedback.right") if answer.right else answer.remark
        lines += [f"- {answer.asked}", f"  {' '.join(filter(None, (wrote, verdict)))}"]
    return lines


def statistics(lab: Lab, marked: Sequence[Marked]) -> str:
    """How a class did, task by task and question by question, as Markdown."""
    word = _words("statistics")
    grades = [one.grade for one in marked if one.grade is not None]
    states = (("graded", "graded"), ("missing", "nothing sent"), ("not_graded", "not graded"))
    counted = [f"- {word(name)}: {sum(one.status == status for one in marked)}" for name, status in states]
    rows = [["", word("mean"), word("median"), word("quarters")]]
    parts: list[tuple[str, list[float]]] = [
        (as_code(task.name) + f" ({task.points})", [shown_points(grade.tasks[at]) for grade in grades])
        for at, task in enumerate(lab.tasks)
    ]
    whole = lab.points + QUESTION_POINTS
    parts.append((f"{said('classroom', 'table.total')} ({whole})", [grade.points for grade in grades]))
    for name, values in parts:
        if found := spread(values):
            quarters = in_a_row([f"{found.low:g}", f"{found.high:g}"])
            rows.append([name, local(f"{found.mean:.1f}"), local(f"{found.median:g}"), quarters])
    each = [
        f"- q{n}: {word('right')} {sum(grade.answers[n - 1].right for grade in grades)} / {len(grades)}"
        for n in asked(lab)
        if grades
    ]
    each += [] if all(grade.confined for grade in grades) else ["", told("unconfined")]
    title = said("classroom", "statistics.title", lab=lab.folder)
    return "\n".join([f"# {title}", "", *counted, "", *table(rows), "", *each, ""])


def _words(group: str) -> Callable[[str], str]:
    return lambda name: said("classroom", f"{group}.{name}")


def similar(lab: Lab, submissions: Sequence[Submission]) -> str:
    """The pairs of submissions whose code is alike, as Markdown."""
    word = _words("similar")
    codes: Mapping[str, str] = {
        one.student.key: one.code.decode("utf-8", errors="replace") for one in submissions if one.code
    }
    pairs = alike(codes, released_starter(lab)[0], LEAST_ALIKE)
    found = [[as_code(one.first), as_code(one.second), f"{100 * one.shared_fraction:.0f} %"] for one in pairs]
    below = table([[word("first"), word("second"), word("share")], *found])
    title = said("classroom", "similar.title", lab=lab.folder)
    return "\n".join(
        [f"# {title}", "", *(below if found else [said("classroom", "similar.none", share=LEAST_ALIKE)]), ""]
    )
