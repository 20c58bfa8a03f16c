"""Writing a file whole or not at all: whoever reads it finds the old one or the new one."""

from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Put `text` in place of what stood at `path`, in one step."""
    part = path.with_suffix(".part")
    part.write_text(text, encoding="utf-8", newline="\n")
    part.replace(path)
