"""Writing what a run found."""

from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """A file whole or not at all."""
    part = path.with_suffix(".part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)
