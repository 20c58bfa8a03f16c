"""The instructor's seed: 128 random bits that the command makes and keeps in a file, and that nobody can guess.

Whoever knows it knows what every student will be asked. So it is never a word that somebody typed: the file has a
form that only this makes, and another is refused.
"""

import os
import re
import secrets
from hashlib import sha256
from pathlib import Path

from core.errors import OutOfRangeError

BITS = 128
_FORM = re.compile(r"shardlab-seed ([0-9a-f]{32}) ([0-9a-f]{8})\n?")


def seed_in(path: Path) -> str:
    """The seed that a file holds.

    Raises OutOfRangeError for a file that is not there, is a link, or holds anything else.
    """
    if path.is_symlink() or not path.is_file():
        raise OutOfRangeError("seed-file", path, "no_seed_file")
    form = _FORM.fullmatch(path.read_bytes()[:200].decode(errors="replace"))
    if form is None or form[2] != _check(form[1]):
        raise OutOfRangeError("seed-file", path, "no_seed")
    return form[1]


def make_seed(path: Path) -> str:
    """Make a seed and keep it in a file that only its owner can read; a file that is there stays as it is.

    Raises OutOfRangeError where there is one, OSError where none can be written.
    """
    seed = secrets.token_hex(BITS // 8)
    try:
        opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise OutOfRangeError("seed-file", path, "kept") from None
    with os.fdopen(opened, "w", encoding="ascii") as file:
        file.write(text_of_seed(seed))
    return seed


def text_of_seed(seed: str) -> str:
    """What a file that keeps the seed holds."""
    return f"shardlab-seed {seed} {_check(seed)}\n"


def _check(seed: str) -> str:
    """Eight digits that a word typed into the file would not have."""
    return sha256(f"shardlab seed {seed}".encode()).hexdigest()[:8]
