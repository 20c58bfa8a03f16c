"""The English words of what core refuses, for a traceback, a terminal and a learner's own code.

A page says the same codes in the language of its visit, by `runtime.prose`. The words are read once, where an error
is first printed: this is the one module of core that opens a file, and it opens these alone.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

FIELD = re.compile(r"\{\{([a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)*)(?:\|([^{}|\n]+))?\}\}")
"""A field: a name or a path of names, and behind a bar its unit."""

_FORMATS = MappingProxyType({"#": ",", "g": "g", "2": ".2f"})
"""The units that an error's words name, as Python's format has them."""

CAPITAL = "^"
"""The unit of what begins a sentence."""

_CONTENT = Path(__file__).resolve().parents[1] / "content" / "en"
_BLOCK = re.compile(r"^## ([a-z][a-z0-9_.]*?)(\.\*)?[ \t]*$", re.MULTILINE)
_ENTRY = re.compile(r"([A-Za-z0-9_][\w.+-]*):\s+(\S.*)", re.ASCII)


def express(code: str, values: Mapping[str, object]) -> str:
    """The sentence of a code, `errors.above`, with its values; the code and they where a copy has no words.

    Raises KeyError for a field that has no value.
    """
    block = template(code)
    if block is None:
        return f"{code} {', '.join(f'{field}={_written(value)}' for field, value in values.items())}".rstrip()
    return FIELD.sub(lambda field: _written(values[field[1]], field[2]), block)


def template(code: str) -> str | None:
    """The words of a code with their fields; None where it has none."""
    stem, _, name = code.partition(".")
    return _words(stem).get(f"remark.{name}")


def _written(value: object, unit: str | None = None) -> str:
    if type(value) is tuple:
        return ", ".join(map(_written, value))
    text = express(value.code, value.values) if hasattr(value, "code") and hasattr(value, "values") else str(value)
    if unit == CAPITAL:
        return text[:1].upper() + text[1:]
    return format(value, _FORMATS[unit]) if unit else text


@lru_cache(maxsize=8)
def _words(stem: str) -> Mapping[str, str]:
    path = _CONTENT / f"{stem}.md"
    return blocks_of(path.read_text(encoding="utf-8"), stem) if path.is_file() else {}


def blocks_of(text: str, name: str) -> Mapping[str, str]:
    """The blocks of a file of words by their names. `name` is the file's, for what is refused.

    Raises ValueError for a block named twice or a line that is no entry.
    """
    texts: dict[str, str] = {}
    _, *parts = _BLOCK.split(text)
    for heading, listed, body in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        entries = _entries(heading, body) if listed else [(heading, body.strip())]
        for key, words in entries:
            if key in texts:
                raise ValueError(f"{name} names {key} twice")
            texts[key] = words
    return MappingProxyType(texts)


def _entries(heading: str, body: str) -> Iterator[tuple[str, str]]:
    for line in filter(str.strip, body.splitlines()):
        entry = _ENTRY.fullmatch(line.strip())
        if entry is None:
            raise ValueError(f"{heading}.*: {line!r} is not `key: words`")
        yield f"{heading}.{entry[1]}", entry[2].strip()
