"""Bounds on the memory and the processes of a whole tree of processes, where the system has control groups for us.

Three ways, the first that works: a group of cgroup v2 below our own, groups of v1 (`memory` and `pids`), and a
scope of the user's own systemd. Where there is none, each process has limits of its own and may start no other.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import count
from pathlib import Path

_JOIN = 'for group in "$1" "$2"; do [ -z "$group" ] || echo $$ >"$group/cgroup.procs"; done; shift 2; exec "$@"'
_NAMES = count()
GONE_WITHIN_S = 5.0
_OURS = re.compile(r"shardlab-(\d+)-\d+", re.ASCII)


class Tree:
    """Groups for one tree: `joined` is a command that enters them, `close` ends all that is in them."""

    def __init__(self, memory_bytes: int, processes: int) -> None:
        self._memory_bytes, self._processes = memory_bytes, processes
        self._memory: Path | None = None
        self._pids: Path | None = None
        name = f"shardlab-{os.getpid()}-{next(_NAMES)}"
        memory, pids = parents()
        with suppress(OSError):
            if memory is not None:
                self._memory = _made(memory / name)
                _set(self._memory, ("memory.max", "memory.limit_in_bytes"), memory_bytes)
                _set(self._memory, ("memory.swap.max",), 0)
            if pids is not None:
                self._pids = self._memory if pids == memory and self._memory else _made(pids / name)
                _set(self._pids, ("pids.max",), processes)

    @property
    def bounded(self) -> bool:
        """Whether the tree's memory and processes are counted together."""
        return (self._memory is not None and self._pids is not None) or _scopes()

    def joined(self, command: Sequence[str]) -> list[str]:
        """The command, within the bounds."""
        groups = [str(group or "") for group in dict.fromkeys((self._memory, self._pids))]
        if any(groups):
            return ["sh", "-c", _JOIN, "sh", *[*groups, ""][:2], *command]
        if _scopes():
            bounds = {"MemoryMax": self._memory_bytes, "MemorySwapMax": 0, "TasksMax": self._processes}
            told = [part for name, value in bounds.items() for part in ("-p", f"{name}={value}")]
            return [*_SCOPE, *told, "--", *command]
        return list(command)

    def exceeded(self) -> bool:
        """Whether the kernel has ended one of the tree for the memory of all."""
        told = ("memory.events", "memory.oom_control")
        for file in [self._memory / name for name in told] if self._memory else []:
            if file.exists():
                return any(re.fullmatch("oom_kill [1-9].*", line) for line in file.read_text().splitlines())
        return False

    def close(self) -> None:
        """End what is left in the groups, and take them away; one that is not empty yet goes with the next."""
        for group in filter(None, {self._memory, self._pids}):
            with suppress(OSError):
                _emptied(group)


def _made(group: Path) -> Path:
    forget_the_dead(group.parent)
    group.mkdir()
    return group


def forget_the_dead(parent: Path) -> None:
    """Take away the groups of graders that were killed."""
    for group in parent.glob("shardlab-*-*"):
        named = _OURS.fullmatch(group.name)
        if named and not Path(f"/proc/{named[1]}").exists():
            with suppress(OSError):
                _emptied(group)


def _emptied(group: Path) -> None:
    kill = group / "cgroup.kill"
    until_s = time.monotonic() + GONE_WITHIN_S
    while pids := (group / "cgroup.procs").read_text().split():
        if kill.exists():
            kill.write_text("1")
        for pid in pids if not kill.exists() else ():
            with suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        if time.monotonic() > until_s:
            return
        time.sleep(0.01)
    group.rmdir()


def _set(group: Path, names: Sequence[str], value: int) -> None:
    """Write a limit to the first of these files that there is; a group that has none is of no use."""
    for name in names:
        if (group / name).exists():
            (group / name).write_text(str(value))
            return
    if "swap" not in names[0]:
        raise OSError(f"{group} has no {names[0]}")


@lru_cache(maxsize=1)
def parents() -> tuple[Path | None, Path | None]:
    """The groups, of memory and of processes, below which we may make our own; None where there is none."""
    if sys.platform != "linux":
        return None, None
    try:
        ours = dict(_controllers(line) for line in Path("/proc/self/cgroup").read_text().splitlines())
    except (OSError, ValueError):
        return None, None
    if "" in ours and Path("/sys/fs/cgroup/cgroup.controllers").exists():
        group = Path("/sys/fs/cgroup") / ours[""].lstrip("/")
        return (group, group) if _can_make(group, "memory.max", "pids.max") else (None, None)
    memory = _v1("memory", ours, "memory.limit_in_bytes")
    return memory, _v1("pids", ours, "pids.max")


def _controllers(line: str) -> tuple[str, str]:
    _, names, path = line.split(":", 2)
    return names, path


def _v1(controller: str, ours: dict[str, str], file: str) -> Path | None:
    named = next((path for names, path in ours.items() if controller in names.split(",")), None)
    group = Path("/sys/fs/cgroup") / controller / (named or "").lstrip("/")
    return group if named is not None and _can_make(group, file) else None


def _can_make(group: Path, *files: str) -> bool:
    """Whether a group can be made there that has these files, and a process of ours may enter it."""
    tried = group / f"shardlab-{os.getpid()}-try"
    try:
        tried.mkdir()
    except OSError:
        return False
    try:
        enter = ["sh", "-c", _JOIN, "sh", str(tried), "", "true"]
        if not all((tried / file).exists() for file in files):
            return False
        return subprocess.run(enter, capture_output=True, timeout=10, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False
    finally:
        with suppress(OSError):
            tried.rmdir()


_SCOPE = ("systemd-run", "--user", "--scope", "--quiet", "--collect")


@lru_cache(maxsize=1)
def _scopes() -> bool:
    """Whether the user's own systemd bounds a command for us."""
    if shutil.which("systemd-run") is None or any(parents()):
        return False
    try:
        tried = subprocess.run(
            [*_SCOPE, "-p", "TasksMax=8", "--", "true"], capture_output=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return tried.returncode == 0
