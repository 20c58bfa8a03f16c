"""Locks between processes of one machine, which the system lets go when their holder dies."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from runtime.one_process import ALONE
from runtime.scratch import temporary_folder

if sys.platform == "win32":
    import msvcrt

    OPEN_FOR = os.O_RDWR
else:
    OPEN_FOR = os.O_RDONLY
    if not ALONE:
        import fcntl

_held: set[str] = set()
"""Locks that are taken where no other process could take one: there the system keeps no account of them."""

FAR_BEHIND = 2**30
"""Windows locks bytes, not files: one that nobody reads."""


@contextmanager
def appending(path: Path) -> Iterator[int]:
    """A file to read and append to, nobody else's meanwhile: it is waited for. Closing it, or dying, lets go."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        _take(file, wait=True)
        yield file
    finally:
        os.close(file)


class HostLock:
    """A named lock file in the temporary folder. Not waited for: it is free, or it is not."""

    def __init__(self, name: str) -> None:
        self.path = temporary_folder() / f"{name}.lock"
        self._file: int | None = None

    def acquire(self) -> bool:
        """Take the lock; False when another holds it, this process included.

        Raises OSError where its file cannot be made.
        """
        file = os.open(self.path, os.O_CREAT | OPEN_FOR, 0o666)
        try:
            if str(self.path) in _held:
                raise BlockingIOError
            _take(file, wait=False)
        except OSError:
            os.close(file)
            return False
        self._file = file
        if ALONE:
            _held.add(str(self.path))
        return True

    def release(self) -> None:
        """Let go; nothing happens when the lock is not held."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
            _held.discard(str(self.path))


def _take(file: int, wait: bool) -> None:
    """Lock, or raise OSError where another has it and it is not waited for."""
    if sys.platform == "win32":
        os.lseek(file, FAR_BEHIND, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
    elif not ALONE:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
