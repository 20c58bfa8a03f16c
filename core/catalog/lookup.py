"""Finding a catalog row by key, alias, repository name or path."""

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TypeVar

from core.errors import OutOfRangeError, UnknownNameError
from core.specs import GpuSpec, LinkSpec, ModelSpec

_VARIANT = re.compile(
    r"[-_.](?:instruct|chat|it|hf|base|pt|bf16|fp16|fp8|fp4|nvfp4|bnb|mxfp4|int8|int4|4bit|8bit|awq|gptq|marlin|gguf|"
    r"w\d+a\d+|q\d\w*|\d+g|dynamic|quantized|mindie|v0\.\d|"
    r"\db-\d+g|g\d+|eo8|kv|qat|qlora|spinquant|autoround|auto-round|hqq|mlx|preview|ct|(?:fp8|nvfp4|fp4)-v\d)$"
)


_DATE = re.compile(r"[-_.]((?:20\d\d-?)?(?:0[1-9]|1[0-2])-?(?:0[1-9]|[12]\d|3[01])|2[3-9](?:0[1-9]|1[0-2]))$")
"""A release of a known shape by its date: `-0731`, `-2507`, `-20260731`, `-2026-07-31`."""

R = TypeVar("R", ModelSpec, GpuSpec, LinkSpec)


def by_key(rows: Iterable[R], table: str) -> Mapping[str, R]:
    """The rows of a table under their keys, read-only, in the order given.

    Raises OutOfRangeError where a key is of two rows: one of them would be gone without a word.
    """
    found: dict[str, R] = {}
    for row in rows:
        if row.key in found:
            names = f"{found[row.key].name!r} and {row.name!r}"
            raise OutOfRangeError(f"{table}: key", row.key, "two_rows", names=names)
        found[row.key] = row
    return MappingProxyType(found)


def find(kind: str, rows: Mapping[str, R], name: str) -> R:
    """The row that `name` means: its key, an alias, or a path or repository whose last part is one.

    Case does not count. Where the whole name is unknown, endings that leave the shape alone (`-Instruct`,
    `-AWQ`, `-bf16`) are taken off one by one, and so is the date of a release.

    Raises UnknownNameError.
    """
    if name in rows:
        return rows[name]
    names = _names(rows)
    for candidate in _candidates(name):
        if candidate in names:
            return names[candidate]
    raise UnknownNameError(kind, name, rows, {one: row.key for one, row in names.items()})


def _names(rows: Mapping[str, R]) -> dict[str, R]:
    """Every name of every row in lower case; a key wins over another row's alias."""
    names: dict[str, R] = {}
    for row in rows.values():
        for alias in row.aliases:
            names.setdefault(alias.lower(), row)
            names.setdefault(_last_part(alias.lower()), row)
    return names | {key.lower(): row for key, row in rows.items()}


def _candidates(name: str) -> Iterable[str]:
    """`name` as written, hyphenated, its last part, then that with one variant ending fewer each time."""
    lowered = name.strip().lower()
    yield lowered
    yield re.sub(r"[\s_]+", "-", lowered)
    short = _last_part(lowered)
    yield short
    while match := _VARIANT.search(short) or _DATE.search(short):
        short = short[: match.start()]
        yield short


def date_in(name: str) -> str:
    """The date that a name ends on, before what else leaves the shape alone; "" where it has none."""
    short = _last_part(name.strip().lower())
    while match := _VARIANT.search(short):
        short = short[: match.start()]
    dated = _DATE.search(short)
    return dated[1] if dated else ""


def _last_part(path: str) -> str:
    """The last part of a path or repository name; the repository's, inside a Hugging Face cache folder."""
    parts = [part for part in re.split(r"[/\\]", path) if part]
    for part in parts:
        if part.startswith("models--"):
            return part.split("--")[-1]
    return parts[-1] if parts else ""
