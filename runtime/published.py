"""Published measurements, read from a file: the figures that ship with the project, or a fuller table beside it."""

import csv
import os
from dataclasses import fields
from functools import lru_cache
from pathlib import Path

from core.errors import UnreadableTextError
from core.evidence.published import PublishedRow
from runtime.measurements import DATA

SHIPPED = DATA / "published_steps.csv"
CASES_VARIABLE = "SHARDLAB_CASES"
LARGEST_FILE_BYTES = 32 * 2**20
_COLUMNS = [field.name for field in fields(PublishedRow)]


def default_table() -> Path:
    """measurements.csv of the folder of cases, where there is one; else the figures that ship with the project."""
    folder = os.environ.get(CASES_VARIABLE)
    beside = Path(folder) / "measurements.csv" if folder else SHIPPED
    return beside if beside.is_file() else SHIPPED


def published_rows(path: Path) -> tuple[PublishedRow, ...]:
    """Every row of a table of measurements, in the file's order.

    Raises UnreadableTextError for a file that is none, or lacks a column.
    """
    try:
        if path.stat().st_size > LARGEST_FILE_BYTES:
            raise UnreadableTextError(f"{path} is too large for a table of measurements")
        with path.open(encoding="utf-8-sig", newline="") as file:
            return _rows(csv.DictReader(file), path)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UnreadableTextError(f"cannot read {path}: {error}") from error


@lru_cache(maxsize=1)
def shipped_rows() -> tuple[PublishedRow, ...]:
    """The published figures that ship with the project."""
    return published_rows(SHIPPED)


def _rows(reader: "csv.DictReader[str]", path: Path) -> tuple[PublishedRow, ...]:
    missing = [name for name in _COLUMNS if name not in (reader.fieldnames or ())]
    if missing:
        raise UnreadableTextError(f"{path} has no column {', '.join(missing)}")
    return tuple(PublishedRow(**{name: row[name] or "" for name in _COLUMNS}) for row in reader)
