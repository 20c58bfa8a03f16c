"""A lab's text as it is handed to students, who get no file beside it."""

import re
from pathlib import Path

from core.course.grading.tasks import Lab
from runtime import content
from runtime.files import ROOT


def task_text(lab: Lab, language: str) -> str:
    """A lab's text in one piece: its README and, behind it, its further parts."""
    folder = ROOT / "labs" / lab.folder
    first, *further = (_in_language(path, language) for path in (folder / "README.md", *_parts(folder)))
    first = re.sub(r"^\*\[.*\]\(README[\w.]*\)\*\n+", "", first, flags=re.MULTILINE)  # to another language
    first = re.sub(r"\[([^\[\]]+)\]\(PART-[\w.-]+\)", r"\1", first)
    return "\n".join([first, *(f"#{text}" for text in further)])


def _parts(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("PART-*.md") if path.stem.count(".") == 0)


def _in_language(path: Path, language: str) -> str:
    spoken = path.with_suffix(f".{language}.md")
    chosen = path if language == content.ENGLISH or not spoken.is_file() else spoken
    return chosen.read_text(encoding="utf-8")
