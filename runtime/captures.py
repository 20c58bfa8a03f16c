"""Recorded runs that ship with the app: the lines a run printed, the object it wrote, and their fingerprints.

data/captures/<name>/lines.jsonl    stdout of rank 0, as printed
data/captures/<name>/result.json    the object, its manifest inside: command, hardware, versions, date
data/captures/<name>/SHA256SUMS     of both, as sha256sum writes it
data/repeats/<name>-<i>.json        what a command wrote each time it ran at rest; the capture is their median
data/curves/<backend>.json          what distributed.run_curve wrote
data/faults/<fault>.json            what distributed.faulty wrote: two ranks until they stopped
"""

import hashlib
import io
import json
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from core.clinic.hang import Fault
from core.errors import ShardlabError, UnknownNameError
from core.two_way_tp.result import RunResult, read_manifest, read_result
from core.two_way_tp.run_log import RunLog, read_log
from core.two_way_tp.scaling import ScalingRun, read_scaling
from runtime.files import DATA

CAPTURES, CURVES, REPEATS = DATA / "captures", DATA / "curves", DATA / "repeats"
LINES, RESULT, SUMS = "lines.jsonl", "result.json", "SHA256SUMS"


class CaptureError(ShardlabError):
    """A capture that is not what was recorded."""


@dataclass(frozen=True)
class Capture:
    """One run, recorded or just made, read and typed."""

    name: str
    log: RunLog
    result: RunResult
    lines_text: str
    result_text: str


@lru_cache(maxsize=16)
def names(folder: Path = CAPTURES) -> tuple[str, ...]:
    """The captures that ship with the app."""
    return tuple(sorted(path.parent.name for path in folder.glob(f"*/{SUMS}")))


@lru_cache(maxsize=16)
def load(name: str, folder: Path = CAPTURES) -> Capture:
    """A capture, every file checked against its fingerprint.

    Raises UnknownNameError for a name that is not recorded, CaptureError when a file was changed.
    """
    if name not in names(folder):
        raise UnknownNameError("capture", name, names(folder))
    expected = _sums(folder / name / SUMS)
    texts = {}
    for file in (LINES, RESULT):
        content = (folder / name / file).read_bytes()
        if hashlib.sha256(content).hexdigest() != expected.get(file):
            raise CaptureError("other_file", name=name, file=file, hash="sha256")
        texts[file] = content.decode()
    return of_texts(name, texts[LINES], texts[RESULT])


def of_texts(name: str, lines_text: str, result_text: str) -> Capture:
    """A run's two files as a capture.

    Raises RunLogError when one of them is not what a run writes.
    """
    log = read_log(lines_text.splitlines())
    return Capture(name, log, read_result(result_text), lines_text, result_text)


def save(lines: Sequence[str], result: str, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    files = {LINES: "\n".join(lines) + "\n", RESULT: result}
    for file, text in files.items():
        (folder / file).write_text(text, newline="\n")
    (folder / SUMS).write_text(_sums_text(files), newline="\n")


@lru_cache(maxsize=16)
def repeats(name: str, folder: Path = REPEATS) -> tuple[RunResult, ...]:
    """Every run of a capture's command on the machine at rest, itself among them; none where it ran once."""
    return tuple(read_result(path.read_text(encoding="utf-8")) for path in sorted(folder.glob(f"{name}-*.json")))


@lru_cache(maxsize=8)
def load_curve(backend: str, folder: Path = CURVES) -> ScalingRun | None:
    """The recorded scaling curve of a backend, None where there is none.

    Raises RunLogError when the file is not what run_curve writes.
    """
    path = folder / f"{backend}.json"
    return read_scaling(path.read_text(encoding="utf-8")) if path.is_file() else None


@lru_cache(maxsize=1)
def recorded_faults() -> tuple[Fault, ...]:
    """Every recorded fault, in an order that tells nothing: that of their moments."""
    rows = (json.loads(path.read_text(encoding="utf-8")) for path in (DATA / "faults").glob("*.json"))
    faults = (
        Fault(row["fault"], tuple(row["lines"]), row["lasted_s"], read_manifest(row["manifest"])) for row in rows
    )
    return tuple(sorted(faults, key=lambda fault: fault.manifest.date))


def zipped(capture: Capture) -> bytes:
    """A capture as one file to keep: the same three files in a zip."""
    files = {LINES: capture.lines_text, RESULT: capture.result_text}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for file, text in {**files, SUMS: _sums_text(files)}.items():
            archive.writestr(f"{capture.name}/{file}", text)
    return buffer.getvalue()


def _sums_text(files: dict[str, str]) -> str:
    return "".join(f"{hashlib.sha256(text.encode()).hexdigest()}  {file}\n" for file, text in files.items())


def _sums(path: Path) -> dict[str, str]:
    rows = (line.split() for line in path.read_text().splitlines())
    return {file: digest for digest, file in rows}
