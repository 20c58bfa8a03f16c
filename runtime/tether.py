"""Become another Python program that ends when its parent thread does.

    python -m runtime.tether -m torch.distributed.run ...

On Linux the kernel is asked to kill this process with its parent, and remembers it through exec. Elsewhere the
program is started all the same, and its launcher ends it.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def end_with_parent() -> None:
    """Ask Linux to kill this process when its parent ends. Exits at once if that has happened already."""
    if sys.platform != "linux":
        return
    parent = os.getppid()
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit("the parent ended before this process began")


if __name__ == "__main__":
    end_with_parent()
    os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
