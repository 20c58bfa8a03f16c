"""Say whether this Python is alone: one process, no threads, as in a browser's tab. All else asks here.

A tab can start no process and no thread, lock no file against another process, and has no clock of a thread.
"""

import sys
import time

ALONE = sys.platform == "emscripten"
"""Constant for a process: a tab's Python is built for Emscripten, and no other is."""


def spent_s() -> float:
    """Return the processor time of this thread; of the process, where it has no other thread."""
    return time.process_time() if ALONE else time.thread_time()
