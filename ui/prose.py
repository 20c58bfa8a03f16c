"""Prose with its numbers put in.

The words are in content/, the numbers come from core through ui/facts. A field no page fills is an error, not
a gap; an inserted value is escaped, so that `$0.70` opens no formula and `a_b` no emphasis.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from runtime import content

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#$|~:])")
_DIRECTIVE = re.compile(r":[a-z-]+\[([^\]]*)\]")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


def escape(value: object) -> str:
    """A value as Markdown that shows itself and nothing else."""
    return _SPECIAL.sub(r"\\\1", str(value))


def plain_text(markdown: str) -> str:
    """Markdown read aloud: no directives, links or marks. For `alt=` and labels."""
    text = _LINK.sub(r"\1", _DIRECTIVE.sub(r"\1", markdown))
    text = re.sub(r"(?<!\\)[*`$]|(?<![\\\w])_(?=\w)|(?<=\w)(?<!\\)_(?!\w)", "", text)
    return " ".join(re.sub(r"\\(.)", r"\1", text).split())


@dataclass(frozen=True)
class Prose:
    """One page's blocks and the values of their fields."""

    blocks: Mapping[str, str]
    fields: Mapping[str, str] = field(default_factory=dict)

    def text(self, name: str) -> str:
        """A block with its fields filled.

        Raises KeyError for an unknown block or a field no one filled.
        """
        return content.FIELD.sub(lambda found: escape(self.fields[found[1]]), self.blocks[name])

    def plain(self, name: str) -> str:
        """A block as a screen reader should say it."""
        return plain_text(self.text(name))

    def has(self, name: str) -> bool:
        """Whether the page says anything under this name."""
        return name in self.blocks


def prose_of(stem: str, fields: Mapping[str, str]) -> Prose:
    """The prose of a page."""
    return Prose(content.load(stem), fields)
