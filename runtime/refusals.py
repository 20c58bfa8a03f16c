"""A message that core or a run wrote in English, in the language being spoken.

Whatever raises an error says it in English, for a terminal and a traceback. `content/en/errors.md` holds the same
sentences with fields where values stand: a message is found there by its words, its values are read off, and the
block of the same name in another language says it. A value may be a message of its own (`part.*`, or an error).
"""

import re
from collections.abc import Mapping
from functools import lru_cache

from runtime import content
from runtime.quantities import grouped, local

STEM = "errors"
_HEAD = r"(?:(?P<head_>[^=]{1,40})=(?P<value_>.*?) )?"
"""What `OutOfRangeError` puts before its rule."""

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+")
_PART = "part."


def translated(message: str) -> str:
    """The message in the language being spoken; as it is where that is English, or nobody has a block for it."""
    return message if content.language() == content.ENGLISH else _found(message, parts=False) or message


def template_of(message: str, parts: bool = False) -> tuple[str, Mapping[str, str]] | None:
    """The block that says a message, and the values in it: the one with the most words of its own that fits."""
    for name, pattern in _patterns(content.CONTENT.as_posix()):
        if name.startswith(_PART) == parts and (found := pattern.fullmatch(message)):
            return name, {field: value or "" for field, value in found.groupdict().items()}
    return None


def _found(message: str, parts: bool) -> str | None:
    if (known := template_of(message, parts)) is None:
        return None
    name, texts = known
    values = {field: _value(field, text) for field, text in texts.items()}
    said = content.FIELD.sub(lambda field: values[field[1]], content.load(STEM)[name])
    return f"{values['head_']}={values['value_']} {said}" if texts.get("head_") else said


def _value(field: str, text: str) -> str:
    bare = text.strip()
    if _NUMBER.fullmatch(bare):
        return local(text)
    if _THOUSANDS.fullmatch(bare):
        return grouped(int(bare.replace(",", "")))
    worded = _found(bare, parts=False) if field == "error" else None
    worded = worded or _found(bare, parts=True)
    return text if worded is None else text.replace(bare, worded)


@lru_cache(maxsize=2)
def _patterns(folder: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Every block as a pattern, those with the most words of their own first. `folder` is content/'s, for tests."""
    blocks = content.blocks(STEM, content.ENGLISH)
    by_words = sorted(blocks, key=lambda name: -len(content.FIELD.sub("", blocks[name])))
    return tuple((name, _pattern(name, blocks[name])) for name in by_words)


def _pattern(name: str, template: str) -> re.Pattern[str]:
    pieces, seen, last = [_HEAD if name.startswith("refused.") else ""], set[str](), 0
    for field in content.FIELD.finditer(template):
        assert field[1] not in seen, f"{name} names {field[1]} twice"
        seen.add(field[1])
        pieces += [re.escape(template[last : field.start()]), f"(?P<{field[1]}>.*?)"]
        last = field.end()
    return re.compile("".join([*pieces, re.escape(template[last:])]), re.DOTALL)
