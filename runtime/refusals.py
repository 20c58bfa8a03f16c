"""A sentence that a lab or its judge says in English, in the language being spoken.

A lab's tests, the judge and a student's process say what they find in English. `content/en/labs.md`
and `errors.md` hold the same sentences with fields where values stand: a message is found there by its words, its
values are read off, and the block of the same name in another language says it. A value may be a message of its own
(`part.*`, or a field of `_SENTENCES`). An error has a code: `runtime.prose.explained` says it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from runtime import content
from runtime.quantities import local

LABS = ("labs", "errors")
"""What a lab's tests and the judge of a submission say, of a learner's code above all."""

_LONGEST_NAME = 40
"""Of what `OutOfRangeError` puts before its rule: a name, `=` and a value."""

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
_PART = "part."
_RULE, _KIND = "remark.rule.", "remark.kind."
"""Of errors.md: what is wrong with a quantity, and what nobody has a name for."""

_WORD = re.compile(r"[a-z]{2}")
_SENTENCES = ("error", "why")
"""Fields that hold a whole message."""

_DEEPEST = 8
"""Messages in one another: whoever sends one chooses how often it says `On rank 0: On rank 0:`."""

_LIST = "inputs"
"""The field that holds a list of `name=value`."""

_INPUT = re.compile(r", (?=\w+=)")


def translated(message: str, *stems: str) -> str:
    """The message in the language being spoken; as it is where that is English, or nobody has a block for it.

    It is looked for in the files of these stems, one after another.
    """
    if content.language() == content.ENGLISH:
        return message
    return _found(message, parts=False, stems=stems) or message


def template_of(message: str, parts: bool, stem: str) -> tuple[str, Mapping[str, str]] | None:
    """The block that says a message, and the values in it: the one with the most words of its own that fits."""
    for template in _templates(content.CONTENT.as_posix(), stem):
        if template.name.startswith((_PART, _KIND)) == parts and (values := template.values(message)) is not None:
            return template.name, values
    return None


def filled(stem: str, name: str, values: Mapping[str, str]) -> str:
    """A block in the language being spoken, for a message whose parts are known; `inputs` has values in words."""
    told = {field: _inputs(text, (stem,), 0) if field == _LIST else text for field, text in values.items()}
    return content.FIELD.sub(lambda field: told[field[1]], content.load(stem)[name])


def _found(message: str, parts: bool, stems: tuple[str, ...], depth: int = 0) -> str | None:
    if depth > _DEEPEST:
        return None
    for stem in stems:
        if (known := template_of(message, parts, stem)) is not None:
            return _worded(stem, *known, stems, depth)
    return None


def _worded(stem: str, name: str, texts: Mapping[str, str], stems: tuple[str, ...], depth: int) -> str:
    values = {field: _value(field, text, stems, depth) for field, text in texts.items()}
    worded = content.FIELD.sub(lambda field: values[field[1]], content.load(stem)[name])
    if not (head := texts.get("head_", "")):
        return worded
    return f"{head if head.isidentifier() else values['head_']}={values['value_']} {worded}"


def _value(field: str, text: str, stems: tuple[str, ...], depth: int) -> str:
    bare = text.strip()
    if _NUMBER.fullmatch(bare):
        return local(text)
    if field == _LIST:
        return _inputs(text, stems, depth)
    worded = _found(bare, False, stems, depth + 1) if field in _SENTENCES else None
    worded = worded or _found(bare, True, stems, depth + 1)
    if worded is None and bare[:1].isupper():  # where the value begins a sentence in English alone
        worded = _found(bare[:1].lower() + bare[1:], True, stems, depth + 1)
    return text if worded is None else text.replace(bare, worded)


def _inputs(text: str, stems: tuple[str, ...], depth: int) -> str:
    """A list of `name=value`, each value in its own words."""
    told = []
    for pair in _INPUT.split(text):
        name, equals, value = pair.partition("=")
        told.append(f"{name}{equals}{_value(name, value, stems, depth + 1)}" if value else pair)
    return ", ".join(told)


@dataclass(frozen=True)
class _Template:
    """A block as what stands between its fields. A rule may follow a name and a value of its own."""

    name: str
    fields: tuple[str, ...]
    between: tuple[str, ...]

    def values(self, message: str) -> dict[str, str] | None:
        """What the fields hold in a message; None where it is another's."""
        if self.name.startswith(_RULE):
            head, equals, rest = message.partition("=")
            if equals and 1 <= len(head) <= _LONGEST_NAME and ": " not in head:
                first, *others = self.between
                filled = _filled(("", f" {first}", *others), rest)
                if filled is not None:
                    return {"head_": head, **dict(zip(("value_", *self.fields), filled, strict=True))}
        filled = _filled(self.between, message)
        return None if filled is None else dict(zip(self.fields, filled, strict=True))


def _filled(between: tuple[str, ...], text: str) -> list[str] | None:
    """What stands between some words in a text, each as short as it can be; in time that the text's length bounds.

    Where the words are found at all, they are found each at its first place behind the last.
    """
    first, last = between[0], between[-1]
    if len(between) == 1:
        return [] if text == first else None
    at, end = len(first), len(text) - len(last)
    if not (text.startswith(first) and text.endswith(last) and at <= end):
        return None
    values = []
    for words in between[1:-1]:
        start = text.find(words, at, end)
        if start < 0:
            return None
        values.append(text[at:start])
        at = start + len(words)
    return [*values, text[at:end]]


@lru_cache(maxsize=8)
def _templates(folder: str, stem: str) -> tuple[_Template, ...]:
    """Every block of a file, those with the most words of their own first. `folder` is content/'s, for tests.

    What ends in another sentence, its `why`, or begins with one comes before all: that one may have more words.
    """
    blocks = content.blocks(stem, content.ENGLISH)
    around = {name: text.endswith("{{why}}") or text.startswith("{{error}}") for name, text in blocks.items()}
    blocks = {name: text for name, text in blocks.items() if _WORD.search(content.FIELD.sub("", text))}
    by_words = sorted(blocks, key=lambda name: (not around[name], -len(content.FIELD.sub("", blocks[name]))))
    return tuple(_template(name, blocks[name]) for name in by_words)


def _template(name: str, block: str) -> _Template:
    fields = tuple(field[1] for field in content.FIELD.finditer(block))
    assert len(set(fields)) == len(fields), f"{name} names a field twice"
    places = [0, *(edge for field in content.FIELD.finditer(block) for edge in field.span()), len(block)]
    between = tuple(block[start:end] for start, end in zip(places[::2], places[1::2], strict=True))
    return _Template(name, fields, between)
