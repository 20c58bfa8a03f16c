"""Folders for what is written on the way: gone with who made them, and after a kill with the next that is made."""

import os
import re
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

_OURS = re.compile(r"shardlab-[a-z]+-(\d+)\b.*", re.ASCII)
"""Files and folders of ours in the temporary folder say whose they are."""


def temporary_folder() -> Path:
    """Where what is temporary goes; where nothing can be written now, as on a full disk, where it would go."""
    try:
        return Path(tempfile.gettempdir())
    except FileNotFoundError:
        return Path(os.environ.get("TMPDIR", "/tmp"))


def scratch(kind: str) -> "tempfile.TemporaryDirectory[str]":
    """A folder of this process's own, as a context. Raises OSError where nothing can be written."""
    folder, prefix = temporary_folder(), f"shardlab-{kind}-{os.getpid()}-"
    forget_the_dead(folder)
    return tempfile.TemporaryDirectory(prefix=prefix, dir=folder, ignore_cleanup_errors=True)


def forget_the_dead(folder: Path) -> None:
    """Take away what processes of this user left that were killed. Linux only."""
    for path in folder.glob("shardlab-*") if sys.platform == "linux" else ():
        named = _OURS.fullmatch(path.name)
        if named and not Path(f"/proc/{named[1]}").exists():
            with suppress(OSError):
                if path.lstat().st_uid == os.getuid():
                    shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink()
