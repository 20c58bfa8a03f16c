"""Source archives that citations are checked against, and the record of the last checks.

An archive is read member by member: nothing is unpacked to the disk, imported or executed.
"""

import json
import re
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from pathlib import Path, PurePosixPath
from typing import Literal

from core.course.citations import Citation, Source, citations
from core.course.citations.predicates import UnparsedError
from core.errors import UnreadableTextError
from runtime.files import DATA

RECORD = DATA / "citations.json"
LARGEST_MEMBER_BYTES = 8 * 2**20
Outcome = Literal["holds", "moved", "not asked"]


@dataclass(frozen=True)
class Check:
    """Every claim about one engine, put to one release on one day."""

    engine: str
    package: str
    release: str
    checked: str
    archive: str
    rows: Mapping[str, Outcome]

    def count(self, outcome: Outcome) -> int:
        return sum(each == outcome for each in self.rows.values())

    @property
    def held(self) -> int:
        return self.count("holds")

    @property
    def asked(self) -> int:
        return len(self.rows) - self.count("not asked")

    @property
    def moved(self) -> tuple[str, ...]:
        return tuple(key for key, outcome in self.rows.items() if outcome == "moved")


@dataclass(frozen=True)
class Archive:
    """A package at a release, and its members by their path in the package."""

    package: str
    release: str
    name: str
    members: Mapping[str, Callable[[], bytes]]

    def text(self, path: str) -> str | None:
        """A member's text; None where there is none, or more than one would read."""
        read = self.members.get(path)
        if read is None:
            return None
        content = read()
        return None if len(content) > LARGEST_MEMBER_BYTES else content.decode("utf-8", "replace")


def check(engine: Source, path: Path, today: str) -> Check:
    """Every claim about an engine against a wheel, a source package, or a folder where it is installed.

    Raises UnreadableTextError for what is no such thing, or is of another package.
    """
    with _opened(path, engine.package) as archive:
        rows = {row.key: _outcome(row, engine, archive) for row in citations(engine.engine)}
        return Check(engine.engine, archive.package, archive.release, today, archive.name, rows)


def _outcome(row: Citation, engine: Source, archive: Archive) -> Outcome:
    if not row.asked_of(archive.release):
        return "not asked"
    text = archive.text(f"{engine.root}/{row.file}")
    try:
        return "holds" if text is not None and row.predicate.holds(text, row.symbol) else "moved"
    except UnparsedError:
        return "moved"


@contextmanager
def _opened(path: Path, package: str) -> Iterator[Archive]:
    """An archive while it is read."""
    with ExitStack() as stack:
        try:
            listed = _members(path, package, stack)
        except (OSError, zipfile.BadZipFile, tarfile.TarError, EOFError) as error:
            raise UnreadableTextError("file.unreadable", path=path, error=error) from error
        metadata = next((listed[name] for name in sorted(listed, key=len) if _is_metadata(name, package)), None)
        header = metadata().decode("utf-8", "replace").partition("\n\n")[0] if metadata else ""
        told = re.findall(r"^(Name|Version): *(\S+) *$", header, re.MULTILINE)
        fields = dict(told) if metadata else _made_of(listed)
        if _plain(fields.get("Name", "")) != _plain(package) or "Version" not in fields:
            raise UnreadableTextError("file.no_package", path=path, package=package)
        # what a source package holds stands under one folder named for the release
        top = fields.get("Top", f"{package}-{fields['Version']}/").replace("-", "_").lower()
        members = {name[len(top) :] if name.replace("-", "_").lower().startswith(top) else name: read
                   for name, read in listed.items()}  # fmt: skip
        yield Archive(package, fields["Version"], path.name, members)


def _members(path: Path, package: str, stack: ExitStack) -> dict[str, Callable[[], bytes]]:
    if path.is_dir():
        folders = [path / package.replace("-", "_").partition("_")[0], *path.glob("*-info")]
        files = (file for folder in folders for file in folder.rglob("*") if file.is_file())
        return {file.relative_to(path).as_posix(): file.read_bytes for file in files}
    if zipfile.is_zipfile(path):
        zipped = stack.enter_context(zipfile.ZipFile(path))
        infos = [info for info in zipped.infolist() if info.file_size <= LARGEST_MEMBER_BYTES]
        return {info.filename: partial(zipped.read, info) for info in infos}
    tar = stack.enter_context(tarfile.open(path))  # noqa: SIM115
    return {
        str(PurePosixPath(one.name)): partial(_tar_bytes, tar, one)
        for one in tar.getmembers()
        if one.isfile() and one.size <= LARGEST_MEMBER_BYTES
    }


def _made_of(listed: Mapping[str, Callable[[], bytes]]) -> dict[str, str]:
    """Name, release and folder of NCCL's sources, which say them in a makefile; nothing of others."""
    makefile = next((name for name in listed if name.endswith("makefiles/version.mk")), None)
    if makefile is None:
        return {}
    text = listed[makefile]().decode("utf-8", "replace")
    numbers = re.findall(r"^NCCL_(?:MAJOR|MINOR|PATCH) *:= *(\d{1,4}) *$", text, re.MULTILINE)
    return {"Name": "nccl", "Version": ".".join(numbers), "Top": makefile.removesuffix("makefiles/version.mk")}


def _tar_bytes(tar: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = tar.extractfile(member)
    return file.read() if file else b""


def _is_metadata(name: str, package: str) -> bool:
    parts = PurePosixPath(name).parts
    own = len(parts) == 2 and _plain(parts[0].partition("-")[0]) == _plain(package)
    return own and parts[1] in ("METADATA", "PKG-INFO")


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@lru_cache(maxsize=1)
def recorded() -> tuple[Check, ...]:
    """The last check of each engine and release, the newest release first."""
    return tuple(Check(**row) for row in json.loads(RECORD.read_text(encoding="utf-8")))


def record(done: Check, path: Path = RECORD) -> None:
    """Keep a check in place of the one before it of the same engine and release."""
    kept: Sequence[Mapping[str, object]] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []
    others = [row for row in kept if (row["engine"], row["release"]) != (done.engine, done.release)]
    rows = sorted((asdict(done), *others), key=lambda row: (str(row["engine"]), _newest_first(str(row["release"]))))
    path.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def _newest_first(release: str) -> tuple[int, ...]:
    return tuple(-int(part) for part in re.findall(r"\d+", release.partition("+")[0]))
