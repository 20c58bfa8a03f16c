"""Files: where ours lie, one written whole or not at all, and one that is brought along, as text or as a module."""

import importlib.util
import sys
import traceback
from pathlib import Path
from types import ModuleType, TracebackType

ROOT = Path(__file__).resolve().parent.parent
"""Where this repository lies."""
DATA = ROOT / "data"


def write_whole(path: Path, text: str) -> None:
    """Put `text` in place of what stood at `path`, in one step."""
    part = path.with_suffix(".part")
    part.write_text(text, encoding="utf-8", newline="\n")
    part.replace(path)


def put_text(folder: Path, place: str, text: str) -> None:
    """Write a file below a folder, and the folders that it lies in."""
    path = folder / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")


def text_of(data: bytes) -> str:
    """The text of an uploaded file: UTF-8, or UTF-16 where its mark says so, as a Windows shell redirects output.

    Bytes that are no text are replaced; a table or a log among them is still found.
    """
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    return data.decode(encoding, errors="replace")


def module_at(path: Path, name: str) -> ModuleType:
    """The module that a file is, run afresh under a name. Raises what the file raises."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def line_in(path: Path, raised: TracebackType | None) -> int:
    """The last line of a file on the way to an error; 0 where it has none."""
    frames = traceback.extract_tb(raised)
    return next((frame.lineno or 0 for frame in reversed(frames) if Path(frame.filename) == path), 0)
