"""YAML as it is written here, read back by no library: blocks, texts, collections on a line, and no more."""

import json
import re
from contextlib import suppress
from typing import Any

_COMMENT = re.compile(r'(^|\s)#[^"]*$')
_BARE = re.compile(r'"[^"]*"|[^\s{}\[\],:"][^{}\[\],:"]*')


def read(text: str) -> list[Any]:
    """Each document of a file."""
    return [_block(_lines(document)) for document in re.split(r"^---\n", text, flags=re.MULTILINE)]


def _lines(document: str) -> list[tuple[int, str]]:
    bare = (_COMMENT.sub("", line).rstrip() for line in document.splitlines())
    return [(len(line) - len(line.lstrip()), line.lstrip()) for line in bare if line]


def _block(lines: list[tuple[int, str]]) -> Any:
    listed = lines[0][1].startswith("- ")
    starts = [at for at, line in enumerate(lines) if line[0] == lines[0][0] and line[1].startswith("- ") == listed]
    parts = [lines[start:end] for start, end in zip(starts, [*starts[1:], len(lines)], strict=True)]
    if listed:
        return [_block([(part[0][0] + 2, part[0][1][2:]), *part[1:]]) for part in parts]
    if not re.match(r"[\w./-]+:(\s|$)", lines[0][1]):
        return _scalar(lines[0][1])
    found = {}
    for (_, first), *rest in parts:
        name, _, value = first.partition(":")
        found[name] = _scalar(value.strip()) if value.strip() else _block(rest) if rest else None
    return found


def _scalar(text: str) -> Any:
    """A collection on a line, a number, a switch or a text."""
    with suppress(json.JSONDecodeError):
        return json.loads(text)
    if text[0] in "{[":
        text = _BARE.sub(lambda bare: json.dumps(_scalar(bare[0].strip())), text)
        return json.loads(text)
    return text
