"""The arguments of bubblewrap for a process that runs somebody else's code, and whether it can be had here.

Inside there are Python, numpy and one lab, all read-only; a /tmp and a /dev/shm of bounded size, empty but for a
Python that stands there; processes, network and users of its own. What it starts ends with it, and it ends with us.
Nobody's rights are all it has: as root it becomes another user first, behind the mounts that root alone may make.
"""

import ctypes
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from core.errors import Remark, remark

PACKAGE = "bubblewrap"
NOBODY = 65534
GIVEN = "/given"
"""Where the folder that is given stands inside."""
TMP_BYTES = 64 * 2**20
"""Of /tmp and of /dev/shm each: both are memory."""

_APPARMOR = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
_PR_SET_DUMPABLE = 4
_TIED = (sys.executable, "-P", str(Path(__file__).with_name("processes.py")), "0")
"""In front of what is to end with us, whatever ends us: bwrap asks for that too late to see one that has ended."""
_NEW = ("--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")
_OWN_USER = ("--unshare-user", "--disable-userns")
_AS_NOBODY = (
    *("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"),
    *("--inh-caps=-all", "--bounding-set=-all", "--no-new-privs"),
    *(
        "bwrap",
        *_OWN_USER,
        "--bind",
        "/",
        "/",
        "--dev-bind",
        "/dev",
        "/dev",
        "--proc",
        "/proc",
        "--remount-ro",
        "/",
    ),
)
"""As root: root's own user makes the mounts, nobody the user namespace, in which no other can be made."""


@lru_cache(maxsize=1)
def missing() -> Remark | None:
    """Why nothing can be confined here, which names what is missing; None where it can."""
    if sys.platform != "linux":
        return remark("errors.sandbox.linux", package=PACKAGE)
    if shutil.which("bwrap") is None:
        return remark("errors.sandbox.no_bwrap", package=PACKAGE, same=PACKAGE)
    if is_root() and shutil.which("setpriv") is None:
        return remark("errors.sandbox.no_setpriv")
    command = confined([sys.executable, "-I", "-c", ""], Path(__file__).parent, {})
    try:
        tried = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return remark("errors.sandbox.bwrap_fails", error=str(error))
    if tried.returncode == 0:
        return None
    said = tried.stderr.decode(errors="replace").strip().splitlines()
    told = said[-1] if said else remark("errors.sandbox.says_nothing")
    if _APPARMOR.exists() and not is_root():
        return remark("errors.sandbox.bwrap_apparmor", package=PACKAGE, error=told)
    return remark("errors.sandbox.bwrap_cannot", package=PACKAGE, error=told)


def confined(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> list[str]:
    """A command with bubblewrap in front, run in /tmp; all that is in `folder` is read as `GIVEN`."""
    own = () if is_root() else _OWN_USER
    libraries = {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ}
    told = {"PATH": "/usr/bin:/bin", "HOME": "/tmp", "TMPDIR": "/tmp", **libraries, **environment}
    mounts = (*_system(), *_scratch(), *_python(), "--ro-bind", str(folder), GIVEN, "--remount-ro", "/")
    variables = [part for name, value in told.items() for part in ("--setenv", name, value)]
    outer = ("bwrap", "--die-with-parent", "--new-session", *own, *_NEW, "--clearenv", *variables, *mounts)
    inner = _AS_NOBODY if is_root() else ()
    return [*_TIED, *outer, "--chdir", "/tmp", "--", *inner, *command]


def _system() -> Iterator[str]:
    """The programs and libraries of the system, which hold nothing of anybody's."""
    yield from ("--ro-bind", "/usr", "/usr")
    for name in ("lib", "lib32", "lib64", "libx32", "bin", "sbin"):
        path = Path("/") / name
        if path.is_symlink():
            yield from ("--symlink", os.readlink(path), str(path))
        elif path.is_dir():
            yield from ("--ro-bind", str(path), str(path))
    for name in ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime"):
        yield from ("--ro-bind-try", name, name)


def _python() -> Iterator[str]:
    """Python where it stands, and where numpy and torch do, with folders above them that anybody may enter."""
    named = {Path(sys.prefix), Path(sys.base_prefix), Path(sys.executable).resolve().parent.parent}
    named |= set(packages_elsewhere())
    wanted = sorted({path for one in named for path in (one, one.resolve())} - {Path("/")})
    outside = [path for path in wanted if not path.is_relative_to("/usr")]
    kept = [path for path in outside if not any(path != one and path.is_relative_to(one) for one in outside)]
    for folder in dict.fromkeys(above for path in kept for above in reversed(path.parents[:-1])):
        yield from ("--perms", "0755", "--dir", str(folder))
    for path in kept:
        yield from ("--ro-bind", str(path), str(path))


@lru_cache(maxsize=1)
def packages_elsewhere() -> tuple[Path, ...]:
    """Folders with numpy and torch that Python does not look into by itself, as a user's own packages."""
    origins = [found.origin for name in ("numpy", "torch") if (found := find_spec(name)) and found.origin]
    folders = dict.fromkeys(Path(origin).parent.parent for origin in origins)
    return tuple(
        one for one in folders if not any(one.is_relative_to(own) for own in (sys.prefix, sys.base_prefix))
    )


def _scratch() -> Iterator[str]:
    yield from ("--proc", "/proc", "--dev", "/dev")
    for folder in ("/tmp", "/dev/shm"):
        yield from ("--perms", "1777", "--size", str(TMP_BYTES), "--tmpfs", folder)
    yield from ("--remount-ro", "/dev")


def is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


@lru_cache(maxsize=1)
def other_user() -> Mapping[str, Any]:
    """Whom `Popen` runs an unconfined command as: nobody, where we may choose and nobody can run our Python."""
    if not is_root():
        return {}
    nobody: dict[str, Any] = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    try:
        command = [sys.executable, "-I", "-c", "import numpy"]
        tried = subprocess.run(command, capture_output=True, timeout=60, check=False, **nobody)
    except (OSError, subprocess.TimeoutExpired):
        return {}
    return nobody if tried.returncode == 0 else {}


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
