"""The file of predictions made before a figure was seen: appended to under a lock, never rewritten."""

import os
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from core.errors import UnreadableTextError
from core.evidence.foretold import Foretold, ForetoldTable, read_foretold, read_tables
from runtime.files import DATA
from runtime.locks import appending

LEDGER = DATA / "foretold.jsonl"


def foretold(path: Path = LEDGER) -> tuple[Foretold, ...]:
    """Every prediction there is. Raises as `read_foretold` does."""
    return _read(tuple(_lines(path)))


def tables(path: Path = LEDGER) -> tuple[ForetoldTable, ...]:
    """Every table that was told at once. Raises as `read_foretold` does."""
    return _read_tables(tuple(_lines(path)))


_read_tables = lru_cache(maxsize=4)(read_tables)
_read = lru_cache(maxsize=4)(read_foretold)
"""Lines read once, for whoever asks while no line is behind them."""


def append(make_line: Callable[[str], str], path: Path = LEDGER) -> tuple[Foretold, ...]:
    """Put a line behind the last one, if the ledger can be read with it, and return all of it.

    Raises as `read_foretold` does: nothing is written then.
    """
    try:
        with appending(path) as file:
            lines = _lines(path)
            line = make_line(lines[-1] if lines else "")
            told = read_foretold([*lines, line])
            os.write(file, (line + "\n").encode())
            os.fsync(file)
            return told
    except OSError as error:
        raise UnreadableTextError("file.unusable", path=path, error=error.strerror) from error


def _lines(path: Path) -> list[str]:
    if not path.is_file():
        return []
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableTextError("file.unreadable", path=path, error=error) from error
