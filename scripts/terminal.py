"""What every command shares: a parser that helps, one printer of JSON, one line for an error, and exit statuses.

0    answered
1    answered, and something does not hold: a log that is off, a place that is missing
2    what was asked cannot be read or meant; one line on stderr, which with `--json` is a JSON object
3    answered: nothing fits, or nothing that does meets the targets
141  whoever read the output has closed it, as `head` does
"""

import argparse
import json
import math
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence, Set
from contextlib import nullcontext
from dataclasses import fields, is_dataclass
from fractions import Fraction
from operator import attrgetter
from pathlib import Path
from typing import Any, NoReturn, ParamSpec

from core.errors import OutOfRangeError, Remark, ShardlabError, UnreadableTextError, nearest
from core.units import MIB, binary_bytes
from runtime import content
from runtime.files import text_of
from runtime.prose import explained, said, worded

OFF, BAD_INPUT, NOTHING_FITS, CLOSED = 1, 2, 3, 141
SCHEMA_VERSION = 1
"""Counts up when a key is renamed or goes; keys that are added leave it."""
LARGEST_FILE_BYTES = 64 * MIB
"""A saved benchmark with every request in it has some megabytes; anything above this is another file."""
_MARKS = re.compile(r":[a-z-]+\[([^\]]*)\]|\[([^\]]*)\]\([^)]*\)|[*`]+|#+ ")
P = ParamSpec("P")
Answer = Mapping[str, object]
Shown = tuple[Answer, Callable[[], object]]
Computed = Answer | Shown
"""An answer's figures by their names, and what prints them where that is not one line a figure."""


COMMON: Mapping[str, Mapping[str, Any]] = {
    "--model": {"help": "a catalog key or a Hugging Face repository"},
    "--gpu": {"help": "a catalog key"},
    "--gpus-per-node": {"type": int},
    "--nodes": {"type": int, "default": 1},
    "--link": {"help": "link inside a node, a catalog key; the GPU's usual one"},
    "--network": {"help": "link between nodes, a catalog key"},
    "--tp": {"type": int, "help": "tensor-parallel ranks"},
    "--prompt": {"type": int, "help": "tokens of a prompt"},
    "--output": {"type": int, "help": "tokens of an answer"},
    "--requests": {"type": int, "help": "of each run"},
    "--seed": {"type": int, "default": 0, "help": "which numbers; the same seed draws the same"},
    "--ledger": {"type": Path, "help": "the file that is appended to"},
    "--seed-file": {"type": Path, "help": "holds the instructor's secret seed, which `classroom seed` makes"},
    "--unconfined": {"action": "store_true", "help": "run submissions without bubblewrap; every report says so"},
    "--json": {"action": "store_true", "help": "one JSON object"},
}
"""The options that several commands have."""


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line on stderr, with the nearest name there is, and exit status 2."""

    as_json = False

    def __init__(self, *, prog: str = "", **given: object) -> None:
        """`prog` is the command's name, behind `shardlab`; argparse makes those of sub-commands itself."""
        named = prog if " " in prog else f"shardlab {prog.replace('_', '-')}".rstrip()
        super().__init__(prog=named, **given)  # type: ignore[arg-type]

    def common(self, *names: str, **otherwise: object) -> None:
        """Take options of `COMMON`, and say what is otherwise for this command."""
        for name in names:
            self.add_argument(name, **{**COMMON[name], **otherwise})

    def take_language(self, of: str) -> None:
        """Take the language that something is said in, English where none is named."""
        self.add_argument(
            "--lang", choices=content.languages(), default=content.ENGLISH, help=f"the language of {of}"
        )

    def parse_args(self, args: Sequence[str] | None = None, namespace: object = None) -> argparse.Namespace:  # type: ignore[override]
        """As argparse does, remembering how an error is to be written."""
        Parser.as_json = "--json" in (sys.argv[1:] if args is None else args)  # sub-parsers ask too
        return super().parse_args(args)

    def error(self, message: str, kind: str = "usage") -> NoReturn:
        """End the command with one line."""
        complaint = " ".join((message + self._meant(message)).split())
        error = {
            "schema_version": SCHEMA_VERSION,
            "error": {"kind": kind, "message": complaint, "status": BAD_INPUT},
        }
        line = json.dumps(error, ensure_ascii=False) if self.as_json else f"{self.prog}: {complaint}"
        print(line, file=sys.stderr)
        raise SystemExit(BAD_INPUT)

    def _meant(self, message: str) -> str:
        """The nearest option to one that there is not."""
        unknown = re.search(r"unrecognized arguments: (--[\w-]+)", message)
        meant = nearest(unknown[1], self._option_string_actions) if unknown else None
        return f"; did you mean {meant}?" if meant else ""


def run(main: Callable[P, int], *given: P.args, **named: P.kwargs) -> NoReturn:
    """End the program with a command's status; quietly where its output was closed or it was interrupted."""
    try:
        status = main(*given, **named)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = CLOSED
    except KeyboardInterrupt:
        status = 130
    raise SystemExit(status)


def told(name: str, /, **values: object) -> str:
    """A sentence of a report in the language being spoken."""
    return said("classes", f"remark.report.{name}", **values)


def finite(text: str) -> float:
    """A finite number, as an argument type."""
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def command(
    make_parser: Callable[[], Parser],
    compute: Callable[[argparse.Namespace], Computed],
    status: Callable[[Answer], int] = lambda figures: 0,
) -> Callable[..., int]:
    """A command's `main`: it prints what `compute` makes of the arguments, as JSON or for people.

    A refusal ends it in one line. `status` is what the figures end it with.
    """

    def main(arguments: Sequence[str] | None = None) -> int:
        parser = make_parser()
        options = parser.parse_args(arguments)
        try:
            computed = compute(options)
            figures, show = computed if isinstance(computed, tuple) else (computed, None)
            if options.json:
                print(written_json(figures, options))
            elif show is not None:
                show()
            else:
                print_aligned([(name, _text(value)) for name, value in figures.items()])
        except (ShardlabError, OverflowError) as error:
            parser.error(explained(error), type(error).__name__)
        return status(figures)

    return main


def written_json(result: Answer, options: argparse.Namespace) -> str:
    """One JSON object: the schema's version, the inputs as they were read, the answer.

    Raises OutOfRangeError where a figure is beyond what JSON has.
    """
    inputs = {name: value for name, value in vars(options).items() if name != "json"}
    head = {"schema_version": SCHEMA_VERSION, "inputs": inputs}
    try:
        return json.dumps(as_json({**head, **result}), allow_nan=False, ensure_ascii=False)
    except ValueError as error:
        raise OutOfRangeError("a figure of the answer", "infinity", "beyond_json") from error


def as_json(value: object) -> object:
    """Anything that core returns as JSON has it: a row by its fields, a remark in words, a path as text."""
    if isinstance(value, Remark):
        return worded(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: as_json(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return as_json(value._asdict())
    if isinstance(value, Mapping):
        return {str(name): as_json(one) for name, one in value.items()}
    if isinstance(value, Sequence | Set) and not isinstance(value, str | bytes):
        return [as_json(one) for one in (sorted(value) if isinstance(value, Set) else value)]
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else float(value)
    return str(value) if isinstance(value, Path) else value


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
    """A file's text, or for `-` standard input's, whatever bytes are in it.

    Raises UnreadableTextError for a file that cannot be read, or is none that anybody pastes.
    """
    most = LARGEST_FILE_BYTES + 1
    try:
        with nullcontext(sys.stdin.buffer) if path == "-" else Path(path).open("rb") as source:
            data = source.read(most)
    except OSError as error:
        raise UnreadableTextError("file.unreadable", path=path, error=error.strerror) from error
    if len(data) == most:
        raise UnreadableTextError("file.larger", path=path, most=binary_bytes(LARGEST_FILE_BYTES))
    return text_of(data)


def whole(value: float) -> float:
    """An int where the value is one, so that bytes print as bytes."""
    return int(value) if value == int(value) else value


def _text(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def words(stem: str, block: str, fields: Mapping[str, object]) -> str:
    """A block of prose as plain text. Raises KeyError for an unknown block, or a field that is not given."""
    return _MARKS.sub(lambda match: match[1] or match[2] or "", said(stem, block, **fields))
