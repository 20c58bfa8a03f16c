"""What every command shares: one line for an error, one JSON object or a table for an answer."""

import argparse
import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import NoReturn

from core.errors import OutOfRangeError, ShardlabError, UnreadableTextError

BAD_INPUT = 2
MOST_CHARACTERS = 2**20


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line on stderr and exit status 2."""

    def error(self, message: str) -> NoReturn:
        """End the command with one line."""
        print(f"{self.prog}: {' '.join(message.split())}", file=sys.stderr)
        raise SystemExit(BAD_INPUT)


def finite(text: str) -> float:
    """A finite number, as an argument type."""
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def answer(parser: Parser, compute: Callable[[], Mapping[str, object]], as_json: bool, table: bool = True) -> int:
    """Print what `compute` returns, as JSON or as aligned lines; a refusal ends the command in one line."""
    try:
        result = compute()
        written = _json(result) if as_json else ""
    except (ShardlabError, OverflowError) as error:
        parser.error(str(error))
    if as_json:
        print(written)
    elif table:
        print_aligned([(name, _text(value)) for name, value in result.items()])
    return 0


def _json(result: Mapping[str, object]) -> str:
    """One JSON object.

    Raises OutOfRangeError where a figure is beyond what JSON has.
    """
    try:
        return json.dumps(result, allow_nan=False, ensure_ascii=False)
    except ValueError as error:
        raise OutOfRangeError("a figure of the answer", "infinity", "is no JSON; ask for less") from error


def print_aligned(rows: Sequence[Sequence[str]]) -> None:
    """Columns padded to their widest cell."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def picked(row: object, *names: str, **renamed: str) -> dict[str, object]:
    """Some attributes of a row for JSON, each under its own name or, `key="its.path"`, under another.

    >>> picked(complex(3, 4), "real", im="imag")
    {'real': 3.0, 'im': 4.0}
    """
    return {name: attrgetter(path)(row) for name, path in {**{name: name for name in names}, **renamed}.items()}


def read_text(path: str) -> str:
    """A file's text, or for `-` standard input's; no more than MOST_CHARACTERS of it.

    Raises UnreadableTextError for a file that cannot be read.
    """
    try:
        if path == "-":
            return sys.stdin.read(MOST_CHARACTERS)
        with Path(path).open(encoding="utf-8", errors="replace") as file:
            return file.read(MOST_CHARACTERS)
    except OSError as error:
        raise UnreadableTextError(f"cannot read {path}: {error.strerror}") from error


def whole(value: float) -> float:
    """An int where the value is one, so that bytes print as bytes."""
    return int(value) if value == int(value) else value


def _text(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
