"""What any paste is made of: lines of a bounded length, with the colours and tags of what showed them taken off.

Each expression here has one way to match, or bounded ones: a line costs what it is long.
"""

import html
import re
from collections.abc import Mapping
from typing import Any

LONGEST_LINE = 60_000
"""Characters that are read of a line; whoever reads says which lines were cut."""

CONTAINER = re.compile(r"^([\w.@-]{1,120}) {0,40}\| ")
"""A container's name, as Docker Compose and a swarm's service put it before each line."""
_COLOUR = re.compile(r"(?:\x1b|␛|\^\[|\\x1b|\\033|\\e|\\u001b)\[[0-9;?]{0,20}[A-Za-z]")
_TAG = re.compile(r"</?(?:br|p|div|span|pre|code|li|t[rdh]|b|i|font)\b[^<>]{0,200}>", re.IGNORECASE)
_ENTITY = re.compile(r"&(?:quot|apos|lt|gt|amp|nbsp|#39|#x27);")


def without_colours(line: str) -> str:
    """A line without a terminal's colours, however their escape character was written."""
    return _COLOUR.sub("", line) if "[" in line else line


def without_tags(line: str, between: str = "") -> str:
    """A line without HTML's tags, `between` in place of each, and its entities as the characters they are."""
    line = _TAG.sub(between, line) if "<" in line else line
    return html.unescape(line) if "&" in line and _ENTITY.search(line) else line


def object_in(value: object) -> Mapping[str, Any]:
    """An object of JSON, as a paste has it somewhere; an empty one where there is something else."""
    return value if isinstance(value, Mapping) else {}
