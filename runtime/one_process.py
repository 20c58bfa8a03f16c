"""Say whether this Python is alone: one process, no threads, as in a browser's tab. All else asks here.

A tab can start no process and no thread, lock no file against another process, and has no clock of a thread. Nor
has it pandas and pyarrow, before a table is made: they are more than all else together.
"""

import sys
import time
from collections.abc import Callable

ALONE = sys.platform == "emscripten"
"""Constant for a process: a tab's Python is built for Emscripten, and no other is."""


_tables: list[Callable[[], None]] = []


def bring_later(call: Callable[[], None]) -> None:
    """Have what tables are of put in place by `call`, once the first is made."""
    _tables.append(call)


def bring_tables() -> None:
    """Put in place what tables are of, pandas and pyarrow, where it was left for later."""
    while _tables:
        _tables.pop()()


def spent_s() -> float:
    """Return the processor time of this thread; of the process, where it has no other thread."""
    return time.process_time() if ALONE else time.thread_time()
