"""Become another Python program that ends when its parent thread does, and whose processes take so much memory.

    python -m runtime.tether MEMORY_BYTES -m torch.distributed.run ...

On Linux the kernel is asked to kill this process with its parent, and remembers it through exec; the limit is each
process's own, and children inherit it. 0 bytes is no limit. Elsewhere the program is started all the same, and its
launcher ends it.
"""

import ctypes
import os
import signal
import sys

if sys.platform == "linux":
    import resource

PR_SET_PDEATHSIG = 1


def end_with_parent() -> None:
    """Ask Linux to kill this process when its parent ends. Exits at once if that has happened already."""
    if sys.platform != "linux":
        return
    parent = os.getppid()
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit("the parent ended before this process began")


def limit_memory(most_bytes: int) -> None:
    """Let this process and its children have so many bytes of their own each, beside what they map from files."""
    if sys.platform == "linux" and most_bytes:
        resource.setrlimit(resource.RLIMIT_DATA, (most_bytes, most_bytes))


if __name__ == "__main__":
    end_with_parent()
    limit_memory(int(sys.argv[1]))
    os.execv(sys.executable, [sys.executable, *sys.argv[2:]])
