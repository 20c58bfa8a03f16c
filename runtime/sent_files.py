"""Files as students send them: in a folder, in a zip, in a zip inside; regular files alone, of bounded size.

A link is never followed, in a folder or in a zip; a name that leads out of its folder is dropped with it.
"""

import io
import os
import stat
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from core.errors import OutOfRangeError, UnreadableTextError

MOST_BYTES = 2**20
"""Of a file that is read."""
MOST_FILES = 100_000
MOST_ZIPS_BYTES = 2**28
_JUNK = {
    "__macosx",
    "__pycache__",
    ".git",
    ".github",
    ".ds_store",
    ".ipynb_checkpoints",
    ".venv",
    "venv",
    "node_modules",
}


@dataclass(frozen=True)
class Sent:
    """A file: its path below what was given, its size, and why it is not read; None where it is."""

    path: str
    size: int
    fault: UnreadableTextError | None
    source: Path
    inside: tuple[str, ...] = ()
    """The names of the zips that it lies in, and its own in the last; empty where it lies in a folder."""

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def top(self) -> str:
        """The first folder of its path, or its own name."""
        return self.path.partition("/")[0]

    def data(self) -> bytes:
        """What it holds.

        Raises UnreadableTextError for a link and for what is too long, or no zip after all.
        """
        if self.fault:
            raise self.fault
        if not self.inside:
            with os.fdopen(os.open(self.source, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)), "rb") as file:
                return file.read(MOST_BYTES)
        try:
            data = self.source.read_bytes()
            for name in self.inside:
                data = _member(data, name)
        except (zipfile.BadZipFile, RuntimeError, NotImplementedError, KeyError, EOFError, ValueError) as error:
            raise UnreadableTextError("file.not_from_zip", name=self.name, error=error) from error
        return data


def sent_files(given: Path) -> list[Sent]:
    """Every file below a folder, or in a zip, in the order of their paths; what systems leave beside is left out.

    Raises OutOfRangeError where there is neither.
    """
    if given.is_dir():
        found = list(_in_folder(given))
    elif given.is_file() and zipfile.is_zipfile(given):
        found = list(_in_zip(given, given.read_bytes(), "", ()))
    else:
        raise OutOfRangeError("submissions", given, "no_folder")
    if len(found) > MOST_FILES:
        raise OutOfRangeError("submissions", given, "most_files", most=MOST_FILES)
    return sorted((one for one in found if not _is_junk(one.path)), key=lambda one: one.path)


def _is_junk(path: str) -> bool:
    parts = path.lower().split("/")
    return bool(_JUNK & set(parts)) or parts[-1].startswith("._")


def _in_folder(given: Path) -> Iterator[Sent]:
    for folder, folders, files in os.walk(given, followlinks=False):
        here = Path(folder)
        for name in [*files, *(one for one in folders if (here / one).is_symlink())]:
            path = here / name
            status = path.lstat()
            told = path.relative_to(given).as_posix()
            fault = _fault(name, status.st_mode, status.st_size)
            if name.lower().endswith(".zip") and stat.S_ISREG(status.st_mode) and path.parent != given:
                yield from _opened(path, told, path.read_bytes() if status.st_size < MOST_ZIPS_BYTES else b"", ())
            else:
                yield Sent(told, status.st_size, fault, path)


def _opened(source: Path, told: str, data: bytes, inside: tuple[str, ...]) -> Iterator[Sent]:
    """The files of a zip; the zip itself, with its fault, where it is none."""
    try:
        yield from _in_zip(source, data, told.rpartition("/")[0], inside)
    except (zipfile.BadZipFile, ValueError):
        yield Sent(told, len(data), UnreadableTextError("file.no_zip", name=told.rpartition("/")[2]), source)


def _in_zip(source: Path, data: bytes, under: str, inside: tuple[str, ...]) -> Iterator[Sent]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = archive.infolist()
        if sum(entry.file_size for entry in entries) > MOST_ZIPS_BYTES:
            raise ValueError("too large")
        for entry in entries:
            name = entry.filename.replace("\\", "/")
            if entry.is_dir():
                continue
            path = f"{under}/{name}".lstrip("/")
            mode = entry.external_attr >> 16
            own = path.rpartition("/")[2]
            fault = _fault(own, mode or stat.S_IFREG, entry.file_size)
            if name.startswith("/") or ".." in name.split("/"):
                fault = UnreadableTextError("file.outside", name=own)
            if not fault and name.lower().endswith(".zip") and not inside:
                yield from _opened(source, path, archive.read(entry), (entry.filename,))
            else:
                yield Sent(path, entry.file_size, fault, source, (*inside, entry.filename))


def _member(data: bytes, name: str) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as archive, archive.open(name) as file:
        limit = MOST_ZIPS_BYTES if name.lower().endswith(".zip") else MOST_BYTES
        return file.read(limit)


def _fault(name: str, mode: int, size: int) -> UnreadableTextError | None:
    """What makes a file none that is read; a zip of Windows says no kind."""
    if stat.S_ISLNK(mode):
        return UnreadableTextError("file.link", name=name)
    if stat.S_IFMT(mode) not in (stat.S_IFREG, 0):
        return UnreadableTextError("file.none", name=name)
    return UnreadableTextError("file.long", name=name, most=MOST_BYTES) if size > MOST_BYTES else None
