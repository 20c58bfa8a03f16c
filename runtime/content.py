"""The prose and the labels of every page, read from content/<language>/<stem>.md, in the language of the visit.

A file is a run of blocks: a line `## name` opens one, and everything to the next such line is its Markdown. A block
`## name.*` is a list of short ones, `key: words` on a line each: `## figure.*` with `own: your link` is the block
`figure.own`. A block holds fields, `{{name}}` or `{{row.name|unit}}`, that are filled from core: see runtime.prose.

A language is a folder. Its `language.md` says its name, how it writes numbers, and whether it is finished; what it
lacks is said in English while it is not, and a test lists what a finished one lacks.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

from core import english

CONTENT = Path(__file__).resolve().parent.parent / "content"
ENGLISH = "en"
FIELD = english.FIELD
_speaking: ContextVar[str] = ContextVar("language", default=ENGLISH)
"""Of this thread alone: every visit's run has one of its own, and a thread begins in English."""


def language() -> str:
    """The language that is being spoken: the folder's name."""
    return _speaking.get()


def speak(name: str) -> None:
    """Speak another language from here on, in this thread."""
    _speaking.set(name)


@contextmanager
def speaking(name: str) -> Iterator[None]:
    """Speak another language for a while."""
    token = _speaking.set(name)
    try:
        yield
    finally:
        _speaking.reset(token)


@lru_cache(maxsize=1)
def languages() -> tuple[str, ...]:
    """Every language there is a folder of, English first."""
    folders = sorted(path.parent.name for path in CONTENT.glob("*/language.md"))
    return (ENGLISH, *(name for name in folders if name != ENGLISH))


@lru_cache(maxsize=1)
def finished() -> tuple[str, ...]:
    """The languages that lack nothing, by what they say themselves."""
    return tuple(name for name in languages() if blocks("language", name)["finished"] == "yes")


def first_of(asked: str) -> str:
    """The first finished language of a list as browsers send it; English where it has none."""
    names = (name.strip().partition(";")[0].partition("-")[0].lower() for name in asked.split(","))
    return next((name for name in names if name in finished()), ENGLISH)


def load(stem: str, name: str | None = None) -> Mapping[str, str]:
    """Every block of one file by name, in the language being spoken; English where that has none.

    Raises FileNotFoundError for an unknown stem, ValueError for a block named twice.
    """
    return _merged(stem, name or language())


@lru_cache(maxsize=256)
def _merged(stem: str, name: str) -> Mapping[str, str]:
    english = blocks(stem, ENGLISH)
    if name == ENGLISH or not (CONTENT / name / f"{stem}.md").is_file():
        return english
    return MappingProxyType({**english, **blocks(stem, name)})


@lru_cache(maxsize=256)
def blocks(stem: str, name: str) -> Mapping[str, str]:
    """The blocks of one file of one language, and no other's.

    Raises FileNotFoundError for an unknown file, ValueError for a block named twice or a line that is no entry.
    """
    path = CONTENT / name / f"{stem}.md"
    return english.blocks_of(path.read_text(encoding="utf-8"), f"content/{name}/{stem}.md")


@lru_cache(maxsize=1024, typed=True)
def slug(option: object) -> str:
    """An option of the code as an address and a block name it: `the link` is `the_link`.

    >>> slug("TP × PP"), slug("TP=8 or TP=4")
    ('tp_pp', 'tp_8_or_tp_4')
    """
    return re.sub(r"[^a-z0-9]+", "_", str(option).lower()).strip("_")


def forget() -> None:
    """Drop what is kept of the files, so that each is read anew."""
    for kept in (languages, finished, _merged, blocks):
        kept.cache_clear()
