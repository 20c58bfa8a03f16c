"""What each student of a roster sent: the code, the answers, and remarks on what else was found.

A submission is a folder of a student's, or files that bear a student's name, as Canvas, Moodle and GitHub Classroom
export them; a notebook counts for both files. Nothing is dropped in silence: what cannot be read is named, and what
is nobody's is told apart.
"""

import json
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from core.course.grading.questions import answers_in
from core.course.grading.roster import Roster, Student, folded
from core.course.grading.tasks import Lab
from core.errors import ShardlabError, UnreadableTextError
from runtime.files import ROOT
from runtime.prose import explained, said
from runtime.sent_files import Sent
from runtime.students_text import answers_from, code_from, text_from

_AGAIN = re.compile(r"(?:[ _-]?\((\d{1,3})\)|-(\d{1,3}))$")
"""What Canvas and browsers put behind the name of a file that is sent again."""
_TEXTS = (".txt", ".text", ".md", ".csv", "")
_NOT_CODE = re.compile(r"\A(test_.*|.*_test|conftest|setup|solution|apart|billed|diagnosis|checks|__init__)\.py")


@dataclass(frozen=True)
class Submission:
    """What a student sent. `fault` says why there is nothing to grade; `empty` where nothing was sent at all."""

    student: Student
    code: bytes = b""
    code_name: str = ""
    answers: str = ""
    answers_name: str = ""
    remarks: tuple[str, ...] = ()
    fault: str = ""
    empty: bool = False
    late: bool = False


@dataclass(frozen=True)
class Collected:
    """The submissions of a class, in the roster's order, and the paths that are nobody's."""

    submissions: tuple[Submission, ...]
    strangers: tuple[str, ...]


@dataclass(frozen=True)
class _Code:
    """A candidate for the code: its text, and how much it looks like it."""

    sent: Sent
    data: bytes
    answers: str
    rank: tuple[object, ...]


def collected(files: Sequence[Sent], roster: Roster, lab: Lab) -> Collected:
    """Every student's submission, from the files of a class."""
    files = _without_wrapping(files, roster)
    of_student: dict[str, list[Sent]] = defaultdict(list)
    strangers: dict[str, None] = {}
    for sent in files:
        student = roster.of_file(sent.top)
        if student is None:
            strangers[sent.top] = None
        else:
            of_student[student.key].append(sent)
    rows = tuple(submission(student, of_student[student.key], lab) for student in roster.students)
    return Collected(rows, tuple(strangers))


def _without_wrapping(files: Sequence[Sent], roster: Roster) -> Sequence[Sent]:
    """The files, below the one folder that a zip put around all of them."""
    tops = {sent.top for sent in files}
    wrapped = len(tops) == 1 and all("/" in sent.path for sent in files)
    if not wrapped or roster.of_file(next(iter(tops))):
        return files
    inner = [Sent(sent.path.partition("/")[2], sent.size, sent.fault, sent.source, sent.inside) for sent in files]
    return _without_wrapping(inner, roster)


def submission(student: Student, files: Sequence[Sent], lab: Lab) -> Submission:
    """What one student's files come to."""
    if not files:
        return Submission(student, fault=said("classes", "file.nothing_sent"), empty=True)
    faults = [explained(sent.fault) for sent in files if sent.fault]
    codes = _codes(files, lab, faults)
    late = any("_late_" in sent.name.lower() for sent in files)
    answers, answers_name = _answers(files, codes, faults)
    others = ", ".join(sorted(one.name for one in files)[:8])
    if not codes:
        found = said("classes", "file.no_code", others=others)
        return Submission(student, answers=answers, answers_name=answers_name, remarks=tuple(faults),
                          fault="; ".join([found, *faults]), late=late)  # fmt: skip
    best = max(codes, key=lambda code: code.rank)
    remarks = list(faults)
    if rest := [code.sent.path for code in codes if code is not best]:
        remarks.append(said("classes", "file.graded", path=best.sent.path, rest=", ".join(rest[:5])))
    if not answers_in(answers):
        remarks.append(said("classes", "file.no_answers", others=others))
    return Submission(student, best.data, best.sent.name, answers, answers_name, tuple(remarks), late=late)


def _codes(files: Sequence[Sent], lab: Lab, faults: list[str]) -> list[_Code]:
    """Every file that may be the code; what cannot be read goes to the faults."""
    found = []
    for sent in files:
        ending = sent.name.lower().rpartition(".")[2]
        if sent.fault or ending not in ("py", "ipynb") or _NOT_CODE.fullmatch(_plain_name(sent)[0]):
            continue
        try:
            found.append(_code(sent, ending, lab))
        except ShardlabError as error:
            faults.append(explained(error))
    return [code for code in found if code.rank[0]] or found[: len(found) if len(found) == 1 else 0]


def _code(sent: Sent, ending: str, lab: Lab) -> _Code:
    """A file as code. The best defines tasks, was worked on, has the starter's name and the lab's folder."""
    name, again = _plain_name(sent)
    if ending == "ipynb":
        cells = cells_of(sent.data(), sent.name)
        data, answers = cells.get("submission", "").encode("utf-8"), cells.get("answers", "")
    else:
        data, answers = code_from(sent.data(), sent.name), ""
    text = data.decode("utf-8", errors="replace")
    defined = sum(
        bool(re.search(rf"^\s*(?:async\s+)?(?:def|class)\s+{task.name}\b", text, re.M)) for task in lab.tasks
    )
    worked_on = "".join(text.split()) != _released(lab)
    in_folder = any(part in (lab.folder, lab.key) for part in sent.path.lower().split("/"))
    rank = (defined > 0, worked_on, name.startswith("starter."), in_folder, defined, again, -sent.path.count("/"))
    return _Code(sent, data, answers, rank)


@lru_cache
def _released(lab: Lab) -> str:
    """The starter without its spaces, as a file that nobody worked on is the same."""
    return "".join((ROOT / "labs" / lab.folder / "starter.py").read_text(encoding="utf-8").split())


def _plain_name(sent: Sent) -> tuple[str, int]:
    """A file's own name, without what Canvas puts before it and behind, and how often it was sent again."""
    stem, dot, ending = folded(sent.name).rpartition(".")
    again = _AGAIN.search(stem)
    stem = _AGAIN.sub("", stem)
    parts = re.split(r"_(?:late_)?\d+_\d+_|_assignsubmission_file_", stem)
    return parts[-1] + dot + ending, int(again[1] or again[2]) if again else 0


def _answers(files: Sequence[Sent], codes: Sequence[_Code], faults: list[str]) -> tuple[str, str]:
    """The sheet of answers and its name: the one named so, else the one that has most of them."""
    found = []
    for sent in files:
        name, again = _plain_name(sent)
        stem, dot, ending = name.rpartition(".")
        if sent.fault or (dot + ending if dot else "") not in _TEXTS or (stem or name).startswith("readme"):
            continue
        try:
            text = answers_from(sent.data(), sent.name)
        except ShardlabError as error:
            faults.append(explained(error))
            continue
        count = len(answers_in(text))
        if count or "answers" in name:
            found.append((("answers" in name, again, count, -sent.path.count("/")), text, sent.name))
    found += [((False, 0, 0, 0), code.answers, code.sent.name) for code in codes if answers_in(code.answers)]
    best = max(found, key=lambda one: one[0], default=None)
    return (best[1], best[2]) if best else ("", "")


def cells_of(data: bytes, name: str) -> dict[str, str]:
    """A notebook's cells by nbgrader's `grade_id`.

    Raises UnreadableTextError for what is no notebook, or holds no cell that `classroom notebook` named.
    """
    try:
        cells = json.loads(text_from(data, name))["cells"]
        named = [(cell["metadata"].get("nbgrader", {}).get("grade_id"), cell["source"]) for cell in cells]
        told = {
            str(key): source if isinstance(source, str) else "".join(map(str, source))
            for key, source in named
            if key
        }
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise UnreadableTextError("file.no_notebook", name=name) from None
    if "submission" not in told:
        raise UnreadableTextError("file.no_cell", name=name)
    return told
