"""What there is to say of an answer: a code that `content/` words, and the values that its words name."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

LONGEST_VALUE = 1_000
"""Characters of a value: a word of somebody's paste may be one, and of any length."""


@dataclass(frozen=True)
class Remark:
    """`code` is a file of content/ and a block of it: `placement.memory` is `## remark.memory` in placement.md.

    Values are rows, quantities in SI and names; one that is a remark itself is worded in its place, and None is
    left out. `line` counts the lines of a pasted text from one; 0 where it is of no line.
    """

    code: str
    values: Mapping[str, object] = field(default_factory=dict)
    line: int = 0


def remark(code: str, line: int = 0, **values: object) -> Remark:
    """A remark by its code and values, of a longer text its beginning."""
    return Remark(code, {name: _bounded(value) for name, value in values.items()}, line)


def _bounded(value: object) -> object:
    if isinstance(value, str) and len(value) > LONGEST_VALUE:
        return f"{value[:LONGEST_VALUE]}…"
    return value


def once(remarks: Iterable[Remark]) -> tuple[Remark, ...]:
    """Each thing once, where it is first said."""
    first: dict[tuple[str, str], Remark] = {}
    for each in remarks:
        first.setdefault((each.code, repr(each.values)), each)
    return tuple(first.values())
