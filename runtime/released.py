"""A lab's starter as it was released: what is handed to students, whatever an instructor's own copy holds.

An instructor solves a lab in `starter.py`, where the tests look for it. So what is handed out is the text of the
last commit, and refused where that, or a copy without git, holds an answer.
"""

import ast
import subprocess

from core.course.grading.tasks import Lab
from core.errors import OutOfRangeError
from runtime.files import ROOT
from runtime.prose import said


def released_starter(lab: Lab) -> tuple[str, str]:
    """The text of a lab's starter that students get, and a warning where the working copy differs from it.

    Raises OutOfRangeError where the released text cannot be had: what there is holds an answer.
    """
    place = f"labs/{lab.folder}/starter.py"
    here = (ROOT / place).read_text(encoding="utf-8")
    committed = _committed(place)
    text = here if committed is None else committed
    if answered := answered_tasks(text, lab):
        raise OutOfRangeError("starter", place, "answered", tasks=", ".join(answered))
    differs = text != here
    return text, said("classes", "file.differs", place=place) if differs else ""


def answered_tasks(text: str, lab: Lab) -> list[str]:
    """The tasks that a starter holds an answer to: each of its functions does anything but raise, or it is gone."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return [task.name for task in lab.tasks]
    named = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    return [task.name for task in lab.tasks if task.name not in named or not _is_open(named[task.name])]


def _is_open(node: ast.FunctionDef | ast.ClassDef) -> bool:
    """Whether there is nothing but docstrings and NotImplementedErrors in it."""
    rest = [one for one in node.body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))]
    if isinstance(node, ast.ClassDef):
        return all(isinstance(one, ast.FunctionDef) and _is_open(one) for one in rest)
    return len(rest) == 1 and isinstance(rest[0], ast.Raise) and "NotImplementedError" in ast.unparse(rest[0])


def _committed(place: str) -> str | None:
    """The file in the last commit; None where there is no git, or no such commit."""
    command = ["git", "-C", str(ROOT), "show", f"HEAD:{place}"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8") if done.returncode == 0 else None
