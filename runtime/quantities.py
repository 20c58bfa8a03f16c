"""How the language being spoken writes a number: the marks that its folder names, put into what core.units writes.

    8 KiB   6.82 ms   1 035 648   46.0%         in English
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
from core.text.quantity import LONGEST
from runtime import content, plurals

MARKS = MappingProxyType(
    {"point": ".", "comma": ",", "narrow": "\u202f", "space": "\u00a0", "none": "", "apostrophe": "’"}
)
"""What a folder's `language.md` may name as its decimal mark, between groups of three, before a percent sign."""

_DECIMAL = re.compile(r"(?<=\d)\.(?=\d)")
_GROUP = re.compile(r"(?<=\d)\u202f(?=\d)")
_WORDED = re.compile(r"(?P<figures>.{0,60}\d)\s{0,9}(?P<word>[^\W\d_]\D{0,60})")
_PERCENT = re.compile(r"(?<=\d)[\u00a0\u202f ]%")

Params = ParamSpec("Params")


@dataclass(frozen=True)
class Style:
    """A language's marks: its decimal sign, between thousands, and before %."""

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
    return forms[min(_plural(content.language())(count), len(forms) - 1)]


@lru_cache(maxsize=16)
def _plural(language: str) -> plurals.Rule:
    return plurals.rule(content.blocks("language", language))


def local(number: str) -> str:
    """A number as core or Python writes it, `0.5`, in the style of the language being spoken."""
    return style().put(number)


def percents(text: str) -> str:
    """Return a text that a template put together, its percent signs in the style of the language being spoken."""
    return _PERCENT.sub(f"{style().percent}%", text)


def in_a_row(numbers: Sequence[str]) -> str:
    """Numbers beside each other; apart by more than a comma where that is the decimal mark."""
    return ("; " if style().decimal == "," else ", ").join(numbers)


def heard(typed: str) -> str:
    """What a visitor typed, as core's reader of numbers takes it.

    Where the decimal mark is a comma a lone one is decimal, and `6,7 mil millones` is 6.7 billion.
    """
    lone = typed.count(",") == 1 and "." not in typed
    typed = typed.replace(",", ".") if lone and style().decimal == "," else typed
    worded = _WORDED.fullmatch(typed) if len(typed) <= LONGEST else None
    numeral = worded and _numerals(content.language()).get(worded["word"].rstrip().lower())
    return f"{worded['figures']} {numeral}" if worded and numeral else typed


@lru_cache(maxsize=16)
def _numerals(language: str) -> dict[str, str]:
    """What a language calls a thousand and more, by each of its words, and core's word for it."""
    named = {
        name: text for name, text in content.load("language", language).items() if name.startswith("numerals.")
    }
    return {
        word.strip(): name.removeprefix("numerals.") for name, text in named.items() for word in text.split(",")
    }


def _styled(write: Callable[Params, str]) -> Callable[Params, str]:
    @wraps(write)
    def written(*args: Params.args, **named: Params.kwargs) -> str:
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


def step_time(duration_s: float) -> str:
    """A step's compute, in ms as long as that is readable: `8 ms`, `780 s`."""
    return seconds(duration_s) if duration_s >= 1 else f"{plain(1e3 * duration_s)} ms"
