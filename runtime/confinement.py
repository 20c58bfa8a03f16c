"""A process that runs somebody else's code: what it may see, write and use, and what is left of it afterwards.

Three ways, the best that the machine allows:

namespaces    Linux: no other process is seen, no network, all is read-only but for one folder, and some
              folders and files look empty; when the first process ends, the kernel ends all that it started
another user  as root in a container without namespaces: the code runs as nobody, who may start no process
limits        processor time, memory and file sizes alone, which hold for the other two as well
"""

import ctypes
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from runtime.scratch import scratch

Way = Literal["namespaces", "another user", "limits"]
NOBODY = 65534
_NEW = ("--mount", "--pid", "--net", "--ipc", "--fork", "--kill-child", "--mount-proc")
_NO_RIGHTS = ("setpriv", "--no-new-privs", "--bounding-set=-all", "--inh-caps=-all")
_BEGIN = (
    "import fcntl, select, socket, struct, sys;"
    " fcntl.ioctl(socket.socket(), 0x8914, struct.pack('16sh', b'lo', 0x41));"  # SIOCSIFFLAGS, up and running
    " asked = select.poll(); asked.register(0, 0); sys.exit(any(how & 16 for _, how in asked.poll(0)))"  # POLLHUP
)
"""Raises the loopback; ends where whoever asks has: `unshare` may be killed before its child is tied to it."""
_MOUNTS = r"""
set -e
"$1" -c "$2"; shift 2
folder=$1; shift
mount --make-rprivate /
mount --bind "$folder" "$folder"
if [ -d /dev/shm ]; then mount -t tmpfs -o size=64m none /dev/shm; fi
while [ "$1" != -- ]; do
  if [ -d "$1" ]; then mount -t tmpfs -o ro,size=4k none "$1"; else mount --bind /dev/null "$1"; fi
  shift
done
shift
mounts=$(while read -r _ _ _ _ point options _; do
  case $options in rw*) echo "$point" ;; esac
done </proc/self/mountinfo)
printf '%s\n' "$mounts" | while read -r point; do
  point=$(printf %b "$point")
  case $point in "$folder" | /dev/shm) continue ;; esac
  mount -o remount,bind,ro "$point" 2>/dev/null || mount -t tmpfs -o ro,size=4k none "$point" 2>/dev/null || :
done
cd "$folder"
exec "$@"
"""
"""All mounts but the folder and a /dev/shm of its own become read-only. A read-only `/` alone would leave as
they were a volume, a /home, and /proc/sys, which takes what uid 0 writes whatever else uid 0 may not. What can
neither be made so nor be covered is not reached by a path.
"""
_PR_SET_DUMPABLE = 4
_TIED = (sys.executable, "-P", str(Path(__file__).with_name("processes.py")), "0")
"""In front of what is to end with us, whatever ends us."""


@lru_cache(maxsize=1)
def way() -> Way:
    """The best way this machine allows: a container may have the right to one step of it and not to the next."""
    if shutil.which("unshare") and shutil.which("setpriv"):
        with scratch("confinement") as folder:
            command = _namespaced(["true"], Path(folder), [Path(__file__).parent])
            if subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False).returncode == 0:
                return "namespaces"
    return "another user" if hasattr(os, "geteuid") and os.geteuid() == 0 else "limits"


def confined(command: Sequence[str], folder: Path, hidden: Sequence[Path]) -> list[str]:
    """The command with what confines it in front. `folder` stays writable; all `hidden` looks empty."""
    return _namespaced(command, folder, hidden) if way() == "namespaces" else list(command)


def _namespaced(command: Sequence[str], folder: Path, hidden: Sequence[Path]) -> list[str]:
    needed = (folder, Path(sys.prefix), Path(sys.base_prefix), Path(sys.executable))
    unseen = [str(path) for path in hidden if path.exists() and not any(one.is_relative_to(path) for one in needed)]
    inside = ("sh", "-c", _MOUNTS, "sh", sys.executable, _BEGIN, str(folder), *unseen, "--", *_NO_RIGHTS)
    return [*_TIED, *_unshare(), *inside, *command]


def user() -> dict[str, Any]:
    """Whom `Popen` runs the command as: nobody, where nothing better is to be had and we may choose."""
    return {"user": NOBODY, "group": NOBODY, "extra_groups": []} if way() == "another user" else {}


def keep_secrets() -> None:
    """Let no other process of this user read our memory or environment. Linux only; elsewhere nothing happens."""
    try:
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    except (OSError, AttributeError, TypeError):
        return


def end_group(leader: int) -> None:
    """End a process and whatever it started and left in its group; namespaces end the rest of themselves."""
    if os.name == "posix":
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(leader, signal.SIGKILL)


def _unshare() -> list[str]:
    as_root = [] if os.geteuid() == 0 else ["--map-root-user"]
    return ["unshare", *as_root, *_NEW]
