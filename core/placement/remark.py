"""What there is to say of an answer: a code that `content/` words, and the values that its words name."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Remark:
    """`code` is a file of content/ and a block of it: `placement.memory` is `## remark.memory` in placement.md.

    Values are rows, quantities in SI and names; one that is a remark itself is worded in its place, and None is
    left out.
    """

    code: str
    values: Mapping[str, object] = field(default_factory=dict)


def remark(code: str, **values: object) -> Remark:
    """A remark by its code and values."""
    return Remark(code, values)
