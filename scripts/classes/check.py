"""Before the deadline: what an instructor's machine lacks, and what each submission would get for its form alone.

Nothing of a submission is run. Without a roster each folder or file stands for a student of its name.
"""

import argparse
import ast
import shutil
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

from core.course.grading.questions import answers_in
from core.course.grading.roster import Roster, Student
from core.course.grading.tasks import LABS, Lab
from core.errors import OutOfRangeError
from core.text.quantity import readings
from core.units import GIB
from runtime import confinement
from runtime.prose import said, worded
from runtime.sent_files import Sent, sent_files
from runtime.submissions import Submission, collected
from runtime.tree_limits import Tree
from scripts.classes.packages import OLDEST_PYTHON
from scripts.grade import roster_in
from scripts.terminal import OFF, print_aligned

ROOM_BYTES = GIB


def check(lab: Lab | None, options: argparse.Namespace) -> int:
    """Print what is missing, and each student's form; the exit status is 1 where anything is."""
    files = sent_files(options.submissions) if options.submissions else []
    lab = lab or _likeliest(files)
    lacking = list(machine(lab))
    rows = [(_said("machine"), _said("lacks" if lacking else "ready"), "; ".join(lacking))]
    off = bool(lacking)
    if options.submissions:
        roster = roster_in(options.roster) if options.roster else _of_files(files, options.submissions)
        found = collected(files, roster, lab)
        for one in found.submissions:
            problems = form(lab, one)
            off |= bool(problems)
            rows.append((one.student.key, _said("look" if problems else "ok"), "; ".join(problems)))
        off |= bool(found.strangers)
        rows += [(name, _said("look"), _said("nobodys")) for name in found.strangers]
    print_aligned(rows)
    return OFF if off else 0


def _said(name: str, /, **fields: object) -> str:
    return said("classes", f"check.{name}", **fields)


def machine(lab: Lab) -> Iterator[str]:
    """What this machine lacks for grading a lab, each in a sentence."""
    if sys.version_info < OLDEST_PYTHON:
        yield _said("python", oldest=".".join(map(str, OLDEST_PYTHON)))
    for package in ("numpy", "torch") if lab.needs_torch else ("numpy",):
        if find_spec(package) is None:
            yield _said("package", package=package, same=package)
    if fault := confinement.missing():
        yield worded(fault)
    tree = Tree(ROOM_BYTES, 16)
    bounded = tree.bounded
    tree.close()
    if lab.needs_torch and not bounded:
        yield _said("no_group")
    if shutil.disk_usage(".").free < ROOM_BYTES:
        yield _said("disk", room=ROOM_BYTES // GIB)


def form(lab: Lab, sent: Submission) -> list[str]:
    """What is wrong with the form of a submission: files, tasks not written, answers that cannot be read."""
    if sent.fault:
        return [sent.fault, *(remark for remark in sent.remarks if remark not in sent.fault)]
    return [*sent.remarks, *_of_code(lab, sent.code), *_of_answers(sent.answers)]


def _of_code(lab: Lab, code: bytes) -> Iterator[str]:
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        yield _said("no_python", kind=type(error).__name__, line=getattr(error, "lineno", None) or "?")
        return
    named = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    for task in lab.tasks:
        if task.name not in named:
            yield _said("not_defined", task=task.name)
        elif "raise NotImplementedError" in ast.unparse(named[task.name]):
            yield _said("not_written", task=task.name)


def _of_answers(text: str) -> Iterator[str]:
    given = answers_in(text)
    for name in ("q1", "q2", "q3", "q4"):
        if name not in given:
            yield _said("no_answer", question=name)
        elif not readings(given[name]):
            yield _said("no_number", question=name, answer=repr(given[name]))


def _of_files(files: Sequence[Sent], given: Path) -> Roster:
    """A roster of whatever is there: a folder's name, or a file's before its ending and before `answers`."""
    keys: dict[str, None] = {}
    for sent in files:
        alone = "/" not in sent.path
        stem = sent.top.rpartition(".")[0] or sent.top
        keys[stem.removesuffix("answers").rstrip("_- ") or stem if alone else sent.top] = None
    if not keys:
        raise OutOfRangeError("submissions", given, "empty")
    return Roster(tuple(Student(key) for key in keys))


def _likeliest(files: Sequence[Sent]) -> Lab:
    """The lab whose tasks are defined most often in the files."""
    texts = [
        one.data().decode("utf-8", errors="replace")
        for one in files
        if not one.fault and one.name.endswith((".py", ".ipynb"))
    ]
    counts = {
        lab.key: sum(f"{task.name}(" in text for text in texts for task in lab.tasks) for lab in LABS.values()
    }
    return LABS[max(counts, key=lambda key: counts[key])]
