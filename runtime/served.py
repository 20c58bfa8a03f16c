"""Times of served models, read from a file: those that ship with the project, or a table as it was printed."""

import csv
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from core.errors import UnreadableTextError
from core.evidence.served import KEPT, ServedRow, read_served
from runtime.files import DATA

SERVED = DATA / "served_times.csv"
LARGEST_FILE_BYTES = 32 * 2**20


def served_table(path: Path = SERVED) -> tuple[ServedRow, ...]:
    """A table of served times; lines that begin with # are its notes.

    Raises UnreadableTextError for a file that is none.
    """
    try:
        if path.stat().st_size > LARGEST_FILE_BYTES:
            raise UnreadableTextError("file.large_times", path=path)
        lines = [line for line in path.read_text(encoding="utf-8-sig").splitlines() if not line.startswith("#")]
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableTextError("file.unreadable", path=path, error=error) from error
    return read_served(csv.DictReader(lines))


@lru_cache(maxsize=1)
def shipped_served() -> tuple[ServedRow, ...]:
    """The served times that ship with the project."""
    return served_table()


def write_served(rows: Sequence[ServedRow], path: Path, note: str) -> None:
    """Keep a table in a file that `served_table` reads back; `note` is its first line."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(f"# {note}\n")
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(KEPT)
        lines.writerows([getattr(row, name) for name in KEPT] for row in rows)
