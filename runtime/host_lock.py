"""A lock that one process of a machine holds at a time, and that the system lets go when its holder dies."""

import os
import sys
import tempfile
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    OPEN_FOR = os.O_RDWR
else:
    import fcntl

    OPEN_FOR = os.O_RDONLY


class HostLock:
    """A named lock file in the temporary folder. Not waited for: it is free, or it is not."""

    def __init__(self, name: str) -> None:
        self.path = Path(tempfile.gettempdir()) / f"{name}.lock"
        self._file: int | None = None

    def acquire(self) -> bool:
        """Take the lock; False when another holds it, this process included."""
        file = os.open(self.path, os.O_CREAT | OPEN_FOR, 0o666)
        try:
            if sys.platform == "win32":
                msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
            else:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(file)
            return False
        self._file = file
        return True

    def release(self) -> None:
        """Let go; nothing happens when the lock is not held."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
