"""The prose of every page, read from content/<language>/<stem>.md.

A file is a run of blocks: a line `## name` opens one, and everything to the next such line is its Markdown.
A block holds fields, `{{name}}` or `{{row.name|unit}}`, that are filled from core: see runtime.prose.
"""

import re
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

CONTENT = Path(__file__).resolve().parent.parent / "content"
FIELD = re.compile(r"\{\{([a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)*)(?:\|([^{}|\n]+))?\}\}")
"""A field: a name or a path of names, and behind a bar its unit."""

_BLOCK = re.compile(r"^## ([a-z][a-z0-9_.]*)\s*$", re.MULTILINE)


@lru_cache(maxsize=64)
def load(stem: str, language: str = "en") -> MappingProxyType[str, str]:
    """Every block of one file by name.

    Raises FileNotFoundError for an unknown stem, ValueError for a block named twice.
    """
    text = (CONTENT / language / f"{stem}.md").read_text(encoding="utf-8")
    names, bodies = _BLOCK.findall(text), _BLOCK.split(text)[2::2]
    if len(set(names)) != len(names):
        raise ValueError(f"content/{language}/{stem}.md names a block twice")
    return MappingProxyType({name: body.strip() for name, body in zip(names, bodies, strict=True)})


def stems(language: str = "en") -> list[str]:
    """Every page that has prose in a language."""
    return sorted(path.stem for path in (CONTENT / language).glob("*.md"))


def fields_of(text: str) -> set[str]:
    """The first name of every field in a text: what whoever shows it must know."""
    return {path.partition(".")[0] for path, _ in FIELD.findall(text)}
