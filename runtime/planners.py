"""The comparison of planners that was kept: `python -m benchmarks.bench_planners` writes it."""

import json
from functools import lru_cache

from core.placement.beside import Compared, Planners
from runtime.measurements import DATA

KEPT = DATA / "planners.json"


@lru_cache(maxsize=1)
def planners() -> Planners:
    """Both planners' answers, with date and version."""
    said = json.loads(KEPT.read_text(encoding="utf-8"))
    rows = tuple(Compared(**row) for row in said["rows"])
    times = (said["seconds_shardlab"], said["seconds_aiconfigurator"])
    return Planners(said["date"], said["aiconfigurator"], *times, rows)
