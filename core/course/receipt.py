"""A receipt of a finished lab: which tasks of which file passed the lab's own tests, in one line that is sent on.

It is no grade: whoever can write the line can write any. It tells that a line belongs to a file.
"""

import hashlib
import re
from dataclasses import dataclass

from core.errors import OutOfRangeError
from core.text.numbers import whole_number

_LINE = re.compile(
    r"shardlab receipt (lab-[0-9]{2}) passed ([0-9,]{1,99}|none) of ([0-9]{1,2}) sha256 ([0-9a-f]{64})"
)


@dataclass(frozen=True)
class Receipt:
    """A lab, the numbers of its tasks that passed, how many it has, and the hash of the source.

    >>> print(Receipt("lab-03", (1, 2), 5, 64 * "0"))  # doctest: +ELLIPSIS
    shardlab receipt lab-03 passed 1,2 of 5 sha256 000...
    """

    lab: str
    passed: tuple[int, ...]
    tasks: int
    sha256: str

    def __str__(self) -> str:
        numbers = ",".join(map(str, self.passed)) or "none"
        return f"shardlab receipt {self.lab} passed {numbers} of {self.tasks} sha256 {self.sha256}"

    @property
    def is_whole(self) -> bool:
        """Say whether every task of the lab has passed."""
        return self.passed == tuple(range(1, self.tasks + 1))

    def is_of(self, source: str) -> bool:
        """Whether the receipt was made for this text. A file's line ends are no difference."""
        return hashlib.sha256(with_unix_lines(source).encode()).hexdigest() == self.sha256


def with_unix_lines(source: str) -> str:
    """The text as an editor in a browser has it: a line ends in one character."""
    return source.replace("\r\n", "\n").replace("\r", "\n")


def read_receipt(text: str) -> Receipt:
    """The receipt in a text, which may have broken it over lines.

    Raises OutOfRangeError where there is none.
    """
    found = _LINE.search(" ".join(text.split()))
    if found is None:
        raise OutOfRangeError("receipt", " ".join(text.split())[:60], "no_receipt")
    passed = tuple(number for text in found[2].split(",") if (number := whole_number(text)) is not None)
    return Receipt(found[1], passed, whole_number(found[3]) or 0, found[4])
