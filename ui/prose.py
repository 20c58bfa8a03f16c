"""Prose as Markdown: an inserted value is escaped, so that `$0.70` opens no formula and `a_b` no emphasis."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from runtime import content
from runtime import prose as words

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#$|~:])")
_ADDRESS = re.compile(r"(?<=:)(?=//)|(?<=www)(?=\.)|(?<=\w@)(?=\w)", re.IGNORECASE)
_SHORT = 80
"""Of a value: a number with its unit, a name. What is longer may have been pasted, and is not kept."""
_JOINER = "\N{WORD JOINER}"
_DIRECTIVE = re.compile(r":[a-z-]{1,40}\[([^\[\]]*)\]")
_LONG_CODE = re.compile(r"`([A-Za-z0-9_./-]{16,200})`")
"""A path or a name that a column may have no room for."""
_BETWEEN = re.compile(r"(?<=[/_])|(?<=[a-z])(?=[A-Z])")
"""Where a word of it ends."""

_LINK = re.compile(r"\[([^\[\]]*)\]\([^()]*\)")
_UNIT = re.compile(r" (?<=[\d}] )(?=(?:[mnµ]?s|[KkMGT]?i?B(?:/s)?|Gb/s|[GT]FLOP(?:/s)?|×(?! [\w{]))(?![\w×]))")
"""What stands between a number, or its field, and its unit."""


def joined(text: str) -> str:
    """Numbers at one with their units where a line ends; code, which may be copied, keeps its spaces.

    >>> joined("5,75 µs, `8 GB` and 8 GB/s").split(" ")
    ['5,75\\xa0µs,', '`8', 'GB`', 'and', '8\\xa0GB/s']
    """
    parts = text.split("`")
    return "`".join(part if number % 2 else _UNIT.sub("\u00a0", part) for number, part in enumerate(parts))


def escape(value: object) -> str:
    """A value as Markdown that shows itself and nothing else, no address a link: whoever wrote it is not known.

    An error is said in the language being spoken.

    Streamlit links addresses in what is left when escapes are resolved: a joiner of no width parts them.
    """
    text = words.explained(value) if isinstance(value, Exception) else str(value)
    return (_escaped if len(text) <= _SHORT else _escaped.__wrapped__)(text)


@lru_cache(maxsize=4096)
def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", _ADDRESS.sub(_JOINER, joined(text)))


def breakable(markdown: str) -> str:
    """Markdown, as HTML where a table's cell has a long path or name in code: its line may end between its words.

    A browser sees no place there, and breaks `layers/linear.py` in a narrow column before its last two letters.
    What is copied has no break in it.
    """
    lines = (_LONG_CODE.sub(_with_breaks, line) if line.startswith("|") else line for line in markdown.split("\n"))
    return "\n".join(lines)


def _with_breaks(code: re.Match[str]) -> str:
    words_of = _BETWEEN.sub("<wbr>", code[1]).replace("_", "&#95;")  # which would open emphasis
    return f"<code>{words_of}</code>"


def plain_text(markdown: str) -> str:
    """Markdown read aloud: no directives, links or marks. For `alt=` and labels."""
    text = _LINK.sub(r"\1", _DIRECTIVE.sub(r"\1", markdown))
    text = re.sub(r"^#{1,6} ", "", text, flags=re.MULTILINE)
    text = re.sub(r"(?<!\\)[*`$]|(?<![\\\w])_(?=\w)|(?<=\w)(?<!\\)_(?!\w)", "", text)
    return " ".join(re.sub(r"\\(.)", r"\1", text).replace(_JOINER, "").split())


@cache
def _whole(block: str) -> str:
    return joined(block)


@dataclass(frozen=True)
class Prose(words.Prose):
    """A page's prose: Markdown, whose values show themselves."""

    escape: Callable[[object], str] = escape

    def block(self, name: str) -> str:
        """A block whose quantities stay with their units."""
        return _whole(self.blocks[name])

    def plain(self, name: str, row: object = None) -> str:
        """A block as a screen reader should say it."""
        return plain_text(self.text(name, row))


def prose_of(stem: str, fields: Mapping[str, object]) -> Prose:
    """The prose of a page."""
    return Prose(content.load(stem), fields)


def label(name: str, /, **fields: object) -> str:
    """A block of `content/<language>/shell.md`, what the shell around every page says, with its fields filled."""
    return words.said("shell", name, **fields)
