"""The measured points shipped with the project, read from data/."""

import csv
from functools import lru_cache
from pathlib import Path

from core.comm_measured import MeasuredPoint

DATA = Path(__file__).resolve().parent.parent / "data"


@lru_cache(maxsize=1)
def measured_all_reduces() -> tuple[MeasuredPoint, ...]:
    """Every timed all-reduce of data/measured_all_reduce.csv, in the file's order."""
    with (DATA / "measured_all_reduce.csv").open(encoding="utf-8", newline="") as file:
        return tuple(
            MeasuredPoint(
                series=row["series"],
                machine=row["machine"],
                link=row["link"],
                software=row["software"],
                ranks=int(row["ranks"]),
                payload_bytes=int(row["payload_bytes"]),
                time_s=float(row["time_us"]) * 1e-6,
                source=row["source"],
            )
            for row in csv.DictReader(file)
        )
