"""The measured points shipped with the project, read from data/."""

import csv
from functools import lru_cache

from core.comm_cost.measured import MeasuredPoint, series_of
from core.links.nccl_tests.figures import printed_table
from runtime.files import DATA
from runtime.kept import Known


@lru_cache(maxsize=1)
def measured_all_reduces() -> tuple[MeasuredPoint, ...]:
    """Every timed all-reduce of data/measured_all_reduce.csv, in the file's order."""
    with (DATA / "measured_all_reduce.csv").open(encoding="utf-8", newline="") as file:
        return Known(
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


def example_paste(series: str = "h100-nccl", ranks: int = 8) -> str:
    """Measured all-reduces of one machine, printed as nccl-tests prints them: something to paste.

    A table without a device list or small print; the times are the measured ones, both halves alike.
    """
    points = series_of(measured_all_reduces(), series, ranks)
    return printed_table("all_reduce", ranks, [(point.payload_bytes, 1e6 * point.time_s) for point in points])
