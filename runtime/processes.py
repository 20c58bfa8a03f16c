"""Processes that are started and ended: tied to their parent, limited in memory, found again by a tag.

    python -m runtime.processes MEMORY_BYTES -m torch.distributed.run ...
    python -m runtime.processes MEMORY_BYTES haproxy ...

becomes another program, Python's own where an option comes first, that ends when its parent thread does, and whose
processes take so much memory each.
On Linux the kernel is asked to kill this process with its parent, and remembers it through exec; children inherit
the limit, and 0 bytes is none. Elsewhere the program is started all the same, and its launcher ends it.
"""

import ctypes
import os
import signal
import sys
import time
from pathlib import Path

if sys.platform == "linux":
    import resource

PROC = Path("/proc")
GONE_WITHIN_S = 2.0
PR_SET_PDEATHSIG = 1
PARENT = "SHARDLAB_PARENT"
"""Names the process whose child this one is to be, for one that may have died before its child could look."""


def end_with_parent() -> None:
    """Ask Linux to kill this process when its parent ends. Exits at once if that has happened already.

    The parent is the one that the environment names, else the one there is now; to its own children this
    process is then the one named, also if it becomes another program.
    """
    if sys.platform != "linux":
        return
    parent = int(os.environ.get(PARENT) or os.getppid())
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit("the parent ended before this process began")
    os.environ[PARENT] = str(os.getpid())


def limit_memory(most_bytes: int) -> None:
    """Let this process and its children have so many bytes of their own each, beside what they map from files."""
    if sys.platform == "linux" and most_bytes:
        resource.setrlimit(resource.RLIMIT_DATA, (most_bytes, most_bytes))


def tagged(name: str, value: str) -> list[int]:
    """Processes of ours whose environment holds `name=value`. Linux only; elsewhere none are found."""
    needle = f"{name}={value}".encode()
    pids = []
    for folder in PROC.glob("[0-9]*"):
        try:
            if needle in (folder / "environ").read_bytes().split(b"\0"):
                pids.append(int(folder.name))
        except OSError:
            continue
    return pids


def processor_s(pid: int) -> float:
    """The processor time that a process has been given; 0 where the system does not tell. Source: proc(5)."""
    fields = _stat(pid)
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") if fields else 0.0


def is_stopped(pid: int) -> bool:
    """Whether a process was stopped by a signal or a debugger, and goes on for nobody else. Source: proc(5)."""
    return _stat(pid)[:1] in (["T"], ["t"])


def _stat(pid: int) -> list[str]:
    """What the system tells of a process, from its state on; nothing where it tells none."""
    try:
        return (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def kill_tagged(name: str, value: str) -> None:
    """Kill every process that carries the tag, until none is left or two seconds are over."""
    deadline_s = time.monotonic() + GONE_WITHIN_S
    while (pids := tagged(name, value)) and time.monotonic() < deadline_s:
        for pid in pids:
            _kill(pid)
        time.sleep(0.02)


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


if __name__ == "__main__":
    end_with_parent()
    limit_memory(int(sys.argv[1]))
    program = [sys.executable, *sys.argv[2:]] if sys.argv[2].startswith("-") else sys.argv[2:]
    os.execvp(program[0], program)
