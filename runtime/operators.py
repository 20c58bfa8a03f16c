"""What an operator reads of a server: a line of JSON for each refusal, fault and slow rerun, and one a minute.

    {"at": "2026-11-22T14:00:03Z", "event": "work_ended", "task": "read_log", "why": "overran"}
    {"at": "2026-11-22T14:01:00Z", "event": "minute", "rss_mb": 212.4, "reruns": 61, "p95_ms": 88, "faults": 0}

Lines go to standard error. Values are numbers and names of ours. Nothing that a visitor typed, pasted or has in the
address is written, and no address or session of theirs: a line tells that something happened, not to whom. Of one
event at most `MOST` lines come in a minute, and then how many more there were, so that nobody can fill a disk;
what libraries log is held to the same (`bound_other_logs`).

The last minute also stands in a file of a folder that is the server's own user's alone; no request reaches it.

    python -m runtime.operators          each server of this machine, and whether it is well: 0 where all are
"""

import atexit
import json
import logging
import os
import stat
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import quantiles
from typing import Any

from runtime.one_process import ALONE, spent_s
from runtime.scratch import forget_the_dead, temporary_folder

MOST, MINUTE_S = 30, 60.0
LONGEST = 400
"""Characters of what a library of ours logs."""
SLOW_S = 2.0
STALE_S = 150.0
"""A server whose last minute is older is stuck: no thread of its interpreter has its turn."""
WELL_P95_MS = 2_000
_FILES = "shardlab-status-"
LONGEST_STATUS, MOST_SERVERS = 4_096, 256
"""What is read of them at most: bytes of a file, and files."""

_log = logging.getLogger("shardlab")
_lock = threading.Lock()
_counts: dict[str, tuple[float, int]] = {}
"""By event: when its minute began, and how many came in it."""


def note(event: str, **values: float | str | None) -> None:
    """Write a line, or count it where its event has had its share of this minute."""
    with _lock:
        _minute.events[event] += 1
    if _has_a_share(event):
        _write(event, **values)


def _has_a_share(event: str) -> bool:
    """Whether one more line of an event may come in this minute; how many more the last one had is written."""
    now_s = time.monotonic()
    with _lock:
        left_out = _left_out(now_s)
        began_s, count = _counts.get(event, (now_s, 0))
        _counts[event] = began_s, count + 1
    for one, lines in left_out.items():
        _write("left_out", of=one, lines=lines)
    return count < MOST


def _left_out(now_s: float) -> dict[str, int]:
    """Forget the minutes that are over; by event how many lines were too many in them. Under the lock."""
    over = [event for event, (began_s, _) in _counts.items() if now_s - began_s >= MINUTE_S]
    counts = {event: _counts.pop(event)[1] for event in over}
    return {event: count - MOST for event, count in counts.items() if count > MOST}


def bound_other_logs() -> None:
    """Let what others log keep to the same shares, by the place in their code that it comes from.

    Streamlit and the server beneath it write a line for each bad request, with its headers. What they say is cut,
    and shown without what a terminal would obey.
    """
    made = logging.getLogRecordFactory()
    if isinstance(made, _Shares):
        return
    logging.setLogRecordFactory(_Shares(made))


@dataclass(frozen=True)
class _Shares:
    """What makes the records of a process, as `logging` lets anybody say."""

    made: Callable[..., logging.LogRecord]

    def __call__(self, *given: Any, **named: Any) -> logging.LogRecord:
        record = self.made(*given, **named)
        if record.name == _log.name:
            return record
        if not _has_a_share(f"{record.name}:{record.lineno}"):
            record.levelno = -1  # below what any handler takes
            return record
        with suppress(TypeError, ValueError):  # what does not fit its own format is the handler's to say
            message = record.getMessage()[:LONGEST]
            record.msg = "".join(one if one.isprintable() or one == "\n" else "?" for one in message)
            record.args = ()
        return record


@contextmanager
def rerun(page: str) -> Iterator[None]:
    """A page's run: its time, and a line where it was slow or met a fault of ours. A fault goes on."""
    began_s, spent_before_s = time.monotonic(), spent_s()
    try:
        yield
    except Exception as error:
        note("fault", page=page, kind=type(error).__name__)
        raise
    finally:
        took_s = time.monotonic() - began_s
        with _lock:
            _minute.reruns_s.append(took_s)
        if took_s > SLOW_S:
            cpu_ms = round(1e3 * (spent_s() - spent_before_s))
            note("slow_rerun", page=page, ms=round(1e3 * took_s), cpu_ms=cpu_ms)


@dataclass
class _Minute:
    """What happened since the last line."""

    reruns_s: list[float] = field(default_factory=list)
    events: Counter[str] = field(default_factory=Counter)

    def told(self) -> dict[str, float]:
        """One line of the operators' log: MB, counts and milliseconds."""
        times = sorted(self.reruns_s)
        p95_s = quantiles(times, n=20)[-1] if len(times) > 1 else max(times, default=0.0)
        counted = {name: self.events[event] for name, event in _COUNTED.items()}
        median_ms = round(1e3 * times[len(times) // 2]) if times else 0
        figures = {"reruns": len(times), "median_ms": median_ms, "p95_ms": round(1e3 * p95_s)}
        return {"rss_mb": round(resident_bytes() / 1e6, 1), **figures, **counted}


_COUNTED = {
    "refusals": "refusal",
    "faults": "fault",
    "slow": "slow_rerun",
    "work_ended": "work_ended",
    "busy": "busy",
    "full": "full",
}
_minute = _Minute()
_watched: list[str] = []


def resident_bytes() -> int:
    """The memory this process holds, 0 where the system does not tell. Source: proc(5)."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def watch(folder: Path | None = None, minute_s: float = MINUTE_S) -> None:
    """Write the minute's line, and its file, from now on; once is enough for a process.

    Nobody watches a tab, and it has no thread to write from.
    """
    if ALONE:
        return
    with _lock:
        if _watched:
            return
        _watched.append(threading.current_thread().name)
    folder = folder or own_folder()
    with suppress(OSError):
        folder.mkdir(mode=0o700)
    if not is_own(folder):
        return
    forget_the_dead(folder)
    path = folder / f"{_FILES}{os.getpid()}.json"
    atexit.register(path.unlink, missing_ok=True)
    threading.Thread(target=_go_on, args=(path, minute_s, _minute), name="operators", daemon=True).start()


def own_folder() -> Path:
    """Where the minutes of this user's servers stand."""
    return temporary_folder() / f"{_FILES}of-{os.getuid() if hasattr(os, 'getuid') else 'all'}"


def is_own(folder: Path) -> bool:
    """Whether a folder is this user's, and nobody else can write, read or rename what is in it."""
    try:
        found = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and (
        os.name != "posix" or (found.st_uid, found.st_mode & 0o077) == (os.getuid(), 0)
    )


def _go_on(path: Path, minute_s: float, minute: _Minute) -> None:
    _keep(path, minute.told())
    while True:
        time.sleep(minute_s)
        with _lock:
            told = minute.told()
            minute.reruns_s.clear()
            minute.events.clear()
            left_out = _left_out(time.monotonic())
        for event, lines in left_out.items():
            _write("left_out", of=event, lines=lines)
        _write("minute", **told)
        _keep(path, told)


def _keep(path: Path, told: dict[str, float]) -> None:
    """Put the minute into the file, for its owner alone. A disk that is full takes nothing away but the file."""
    part = path.with_suffix(".part")
    try:
        part.unlink(missing_ok=True)
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump({"pid": os.getpid(), "at_s": round(time.time()), "up_s": time.monotonic(), **told}, file)
        part.replace(path)
    except OSError:
        return


def ailments(status: dict[str, float], now_s: float) -> list[str]:
    """What a server suffers from, by its last minute; empty where it is well.

    Times are of the machine's one clock that nobody sets.
    """
    faults = []
    if not 0 <= now_s - status["up_s"] <= STALE_S:
        faults.append(f"stuck: its last minute is {now_s - status['up_s']:.0f} s old")
    if status["p95_ms"] > WELL_P95_MS:
        faults.append(f"slow: {status['p95_ms']} ms for the slowest twentieth of its reruns")
    faults += [f"{status[name]:.0f} {name}" for name in ("faults", "busy", "full") if status[name]]
    return faults


def _write(event: str, **values: float | str | None) -> None:
    if not _log.handlers:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter("%(message)s"))
        _log.addHandler(handler)
        _log.propagate = False
        _log.setLevel(logging.INFO)
    at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    _log.info(json.dumps({"at": at, "event": event, **values}))


def _read(path: Path) -> dict[str, float] | None:
    """A minute as `_keep` has written it; None for anything else, of any length or kind."""
    try:
        with os.fdopen(
            os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        ) as file:
            told = json.loads(file.read(LONGEST_STATUS))
    except (OSError, ValueError, RecursionError):
        return None
    named = isinstance(told, dict) and {"pid", "up_s", "p95_ms", "faults", "busy", "full"} <= told.keys()
    return told if named and all(type(value) in (int, float) for value in told.values()) else None


def main(folder: Path) -> int:
    """A line for each server that is going; 1 where one of them is not well, or there is none."""
    faults = []
    paths = sorted(folder.glob(f"{_FILES}*.json")) if is_own(folder) else []
    for status in filter(None, map(_read, paths[:MOST_SERVERS])):
        if Path(f"/proc/{status['pid']:.0f}").exists():
            faults.append(ill := ailments(status, time.monotonic()))
            print(json.dumps({**status, "well": not ill, "ailments": ill}))
    if not faults:
        print("no server of this machine has had a visit", file=sys.stderr)
    return int(not faults or any(faults))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else own_folder()))
