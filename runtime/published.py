"""Published measurements, read from a file: those that ship with the project, or a table as it was printed."""

import csv
import json
import os
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from core.errors import UnreadableTextError
from core.evidence.measurements import KEPT_COLUMNS, Measurement, PublishedTable, keep, read_kept
from core.evidence.published import PRINTED_COLUMNS, PublishedRow, read_published
from core.placement.beside import Compared, Planners
from runtime.files import DATA

SHIPPED, COMPARED = DATA / "published_times.csv", DATA / "planners.json"
CASES_VARIABLE = "SHARDLAB_CASES"
LARGEST_FILE_BYTES = 32 * 2**20


def default_table() -> Path:
    """measurements.csv of the folder of cases, where there is one; else the figures that ship with the project."""
    folder = os.environ.get(CASES_VARIABLE)
    beside = Path(folder) / "measurements.csv" if folder else SHIPPED
    return beside if beside.is_file() else SHIPPED


def published_table(path: Path) -> PublishedTable:
    """A table of measurements, kept or as it was printed: its columns say which.

    Raises UnreadableTextError for a file that is none, or lacks a column.
    """
    try:
        if path.stat().st_size > LARGEST_FILE_BYTES:
            raise UnreadableTextError("file.large_table", path=path)
        with path.open(encoding="utf-8-sig", newline="") as file:
            return _table(csv.DictReader(file), path)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UnreadableTextError("file.unreadable", path=path, error=error) from error


@lru_cache(maxsize=1)
def shipped_table() -> PublishedTable:
    """The published figures that ship with the project."""
    return published_table(SHIPPED)


@lru_cache(maxsize=1)
def planners() -> Planners:
    """Two planners' answers, with date and version, as `python -m benchmarks.bench_planners` keeps them."""
    kept = json.loads(COMPARED.read_text(encoding="utf-8"))
    rows = tuple(Compared(**row) for row in kept["rows"])
    times = (kept["seconds_shardlab"], kept["seconds_aiconfigurator"])
    return Planners(kept["date"], kept["aiconfigurator"], *times, rows)


def write_table(measurements: Iterable[Measurement], path: Path) -> None:
    """Keep measurements in a file that `published_table` reads back."""
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(KEPT_COLUMNS)
        lines.writerows(keep(one).values() for one in measurements)


def _table(reader: "csv.DictReader[str]", path: Path) -> PublishedTable:
    names = reader.fieldnames or ()
    columns = KEPT_COLUMNS if "measured_s" in names else PRINTED_COLUMNS
    missing = [name for name in columns if name not in names]
    if missing:
        raise UnreadableTextError("file.no_column", path=path, missing=", ".join(missing))
    rows = [{name: row[name] or "" for name in columns} for row in reader]
    if columns is KEPT_COLUMNS:
        return read_kept(rows)
    return read_published(PublishedRow(**row) for row in rows)
