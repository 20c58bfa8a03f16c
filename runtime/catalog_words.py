"""What a catalog row says of itself, in the language being spoken: a name's qualifier, a source, what was measured.

A row says it in English, in one line beside its numbers. `content/<language>/catalog.md` holds the phrases that
such lines are made of; each is put in its place, the longest first, and numbers take the language's marks. Names
and titles of sources stay as they are.
"""

import re
from functools import lru_cache

from core.specs import LinkSpec
from runtime import content
from runtime.quantities import grouped, local

STEM = "catalog"
_THOUSANDS = re.compile(r"\b\d{1,3}(?:,\d{3}){1,9}\b")
_NUMBER = re.compile(
    r"(?:\b[A-Z][\w-]*|version|transformers)[ -]v?\d+\.[\d.]*|(?<![\w.])(?P<number>\d+\.\d+)\b(?!\.\d)"
)
"""A number with decimals; one behind a name is a release, which keeps its point."""


def told(text: str) -> str:
    """A row's own words in the language being spoken; as they are where that is English."""
    if content.language() == content.ENGLISH:
        return text
    english, spoken = content.blocks(STEM, content.ENGLISH), content.load(STEM)
    here = {words: spoken[name] for name, words in english.items()}
    worded = phrases(content.CONTENT.as_posix()).sub(lambda match: here[match[0]], text)
    worded = _THOUSANDS.sub(lambda match: grouped(int(match[0].replace(",", ""))), worded)
    return _NUMBER.sub(lambda match: local(match[0]) if match["number"] else match[0], worded)


def short_name(link: LinkSpec) -> str:
    """A link's name without what qualifies it."""
    return told(re.split(r",(?![^(]{0,200}\))", link.name)[0]).replace(" ", "\u00a0")


@lru_cache(maxsize=2)
def phrases(folder: str) -> re.Pattern[str]:
    """Every phrase in English, the longest first. `folder` is content/'s, for tests."""
    longest_first = sorted(content.blocks(STEM, content.ENGLISH).values(), key=len, reverse=True)
    return re.compile(rf"(?<![\w/-])(?:{'|'.join(map(re.escape, longest_first))})(?![\w/-])")
