"""Progress as JSON lines on stdout, one event a line: what the launcher reads and a capture keeps."""

import json
import statistics
from collections.abc import Sequence


def say(event: str, **fields: object) -> None:
    """Print one line, at once."""
    print(json.dumps({"event": event, **fields}), flush=True)


def us(duration_s: float) -> float:
    """Microseconds, to a tenth."""
    return round(duration_s * 1e6, 1)


def ms(duration_s: float) -> float:
    """Milliseconds, to a microsecond."""
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
