"""What an operator reads of a server: one line of JSON for each refusal, fault and slow rerun, on standard error.

    {"at": "2026-11-22T14:00:03Z", "event": "work_ended", "task": "read_log", "why": "overran"}

Values are numbers and names of ours. Nothing that a visitor typed, pasted or has in the address is written, and no
address or session of theirs: a line tells that something happened, not to whom. Of one event at most `MOST` lines
come in a minute, and then how many more there were, so that nobody can fill a disk.
"""

import json
import logging
import sys
import threading
import time
from datetime import UTC, datetime

MOST, MINUTE_S = 30, 60.0

_log = logging.getLogger("shardlab")
_lock = threading.Lock()
_counts: dict[str, tuple[float, int]] = {}
"""By event: when its minute began, and how many came in it."""


def note(event: str, **values: float | str | None) -> None:
    """Write a line, or count it where its event has had its share of this minute."""
    now_s = time.monotonic()
    with _lock:
        began_s, count = _counts.get(event, (now_s, 0))
        left_out = max(0, count - MOST) if now_s - began_s >= MINUTE_S else 0
        if now_s - began_s >= MINUTE_S:
            began_s, count = now_s, 0
        _counts[event] = began_s, count + 1
    if left_out:
        _write("left_out", of=event, lines=left_out)
    if count < MOST:
        _write(event, **values)


def _write(event: str, **values: float | str | None) -> None:
    if not _log.handlers:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter("%(message)s"))
        _log.addHandler(handler)
        _log.propagate = False
        _log.setLevel(logging.INFO)
    at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    _log.info(json.dumps({"at": at, "event": event, **values}))
