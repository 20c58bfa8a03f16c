"""Files: written whole or not at all, and the text of one that somebody brings along."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
"""Where this repository lies."""


def write_whole(path: Path, text: str) -> None:
    """Put `text` in place of what stood at `path`, in one step."""
    part = path.with_suffix(".part")
    part.write_text(text, encoding="utf-8", newline="\n")
    part.replace(path)


def text_of(data: bytes) -> str:
    """The text of an uploaded file: UTF-8, or UTF-16 where its mark says so, as a Windows shell redirects output.

    Bytes that are no text are replaced; a table or a log among them is still found.
    """
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    return data.decode(encoding, errors="replace")
