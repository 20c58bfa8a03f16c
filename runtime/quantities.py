"""How the language being spoken writes a number: the marks that its folder names, put into what core.units writes.

    8 KiB   6.82 ms   1 035 648   46.0 %        in English
    8 KiB   6,82 ms   1 035 648   46,0 %        in Spanish

A terminal, a file to take away and an address keep core's own form; what a visitor reads is written here.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, wraps
from types import MappingProxyType
from typing import ParamSpec

from core import units
from runtime import content

MARKS = MappingProxyType(
    {"point": ".", "comma": ",", "narrow": "\u202f", "space": "\u00a0", "none": "", "apostrophe": "’"}
)
"""What a folder's `language.md` may name as its decimal mark, between groups of three, before a percent sign."""

_DECIMAL = re.compile(r"(?<=\d)\.(?=\d)")
_GROUP = re.compile(r"(?<=\d)\u202f(?=\d)")
_PERCENT = re.compile(r"(?<=\d)[\u00a0\u202f ]%")

PLURALS: MappingProxyType[str, Callable[[float], int]] = MappingProxyType(
    {
        "one": lambda count: 0,
        "one-other": lambda count: 0 if count == 1 else 1,
        "upto-one-other": lambda count: 0 if abs(count) < 2 else 1,
        "one-few-many": lambda count: _east_slavic(count),
        "one-few-other": lambda count: 0 if count == 1 else 1 if count in (2, 3, 4) else 2,
    }
)
"""Which of a noun's forms a count takes, as CLDR has it: Chinese; English, Spanish; French; Ukrainian; Czech."""

Asked = ParamSpec("Asked")


def _east_slavic(count: float) -> int:
    """`1 год`, `2 года`, `5 лет`, and a broken number as few."""
    if count != int(count):
        return 1
    tens, ones = int(count) % 100, int(count) % 10
    if ones == 1 and tens != 11:
        return 0
    return 1 if ones in (2, 3, 4) and tens not in (12, 13, 14) else 2


@dataclass(frozen=True)
class Style:
    """One language's marks."""

    decimal: str
    groups: str
    percent: str

    def put(self, text: str) -> str:
        """The numbers of a text that core wrote, in this style; its words must hold no number of another's."""
        if (self.decimal, self.groups, self.percent) == (".", "\u202f", "\u00a0"):
            return text
        text = _DECIMAL.sub(self.decimal, text)
        return _PERCENT.sub(f"{self.percent}%", _GROUP.sub(self.groups, text))


def style() -> Style:
    """How the language being spoken writes numbers."""
    return _style(content.language())


@lru_cache(maxsize=16)
def _style(language: str) -> Style:
    blocks = content.load("language", language)
    return Style(*(MARKS[blocks[f"numbers.{part}"]] for part in ("decimal", "groups", "percent")))


def form(count: float, forms: Sequence[str]) -> str:
    """The form of a noun that a count takes, by the rule of the language being spoken; the last of too few."""
    return forms[min(PLURALS[content.load("language")["plural"]](count), len(forms) - 1)]


def local(number: str) -> str:
    """A number as core or Python writes it, `0.5`, in the style of the language being spoken."""
    return style().put(number)


def heard(typed: str) -> str:
    """What a visitor typed, as core's reader of numbers takes it: a lone comma is a decimal mark in Spanish."""
    lone = typed.count(",") == 1 and "." not in typed
    return typed.replace(",", ".") if lone and style().decimal == "," else typed


def _styled(write: Callable[Asked, str]) -> Callable[Asked, str]:
    @wraps(write)
    def written(*args: Asked.args, **named: Asked.kwargs) -> str:
        return local(write(*args, **named))

    return written


significant = _styled(units.significant)
plain = _styled(units.plain)
binary_bytes = _styled(units.binary_bytes)
decimal_bytes = _styled(units.decimal_bytes)
seconds = _styled(units.seconds)
percent = _styled(units.percent)
bandwidth = _styled(units.bandwidth)
grouped = _styled(units.grouped)
