"""Progress as JSON lines on stdout, one event a line: what the launcher reads and a capture keeps.

Between lines a process beats while it gets on, so that a busy machine is not taken for a hang.
"""

import json
import os
import statistics
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

BEATS = os.environ.get("SHARDLAB_BEATS", "")
BEAT_S = 0.5
_last_beat_s = [float("-inf")]


def say(event: str, **fields: object) -> None:
    """Print one line, at once."""
    print(json.dumps({"event": event, **fields}), flush=True)


def beat() -> None:
    """Tell the launcher that this process has got on: it made a step, or came out of a collective.

    A file of this process in the folder `SHARDLAB_BEATS` is touched, at most twice a second.
    """
    now_s = time.monotonic()
    if BEATS and now_s - _last_beat_s[0] >= BEAT_S:
        _last_beat_s[0] = now_s
        with suppress(OSError):  # a full disk shall not end a run
            Path(BEATS, f"beat.{os.getpid()}").touch()


def us(duration_s: float) -> float:
    return round(duration_s * 1e6, 1)


def ms(duration_s: float) -> float:
    return round(duration_s * 1e3, 3)


def summary(durations_s: Sequence[float]) -> dict[str, float]:
    """Least, mean, median and 95th percentile: a busy machine moves the last three."""
    ordered = sorted(durations_s)
    return {
        "min": ordered[0],
        "mean": statistics.fmean(ordered),
        "median": statistics.median(ordered),
        "p95": ordered[min(len(ordered) - 1, round(0.95 * len(ordered)))],
    }


def say_token(tp_size: int, per_token_s: dict[str, float], event: str = "token") -> None:
    """Print what one decode step took; as `token_graph` if it was replayed."""
    say(
        event, tp_size=tp_size, **{f"{name}_ms": ms(per_token_s[name]) for name in ("median", "p95", "min", "mean")}
    )
