"""The comparison of planners that was kept: `python -m benchmarks.bench_planners` writes it."""

import json
from functools import lru_cache

from core.placement.beside import Compared, Planners
from runtime.measurements import DATA

KEPT = DATA / "planners.json"


@lru_cache(maxsize=1)
def planners() -> Planners:
    """Both planners' answers, with date and version."""
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    rows = tuple(Compared(**row) for row in kept["rows"])
    times = (kept["seconds_shardlab"], kept["seconds_aiconfigurator"])
    return Planners(kept["date"], kept["aiconfigurator"], *times, rows)
