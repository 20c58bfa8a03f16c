"""The way back: times printed as nccl-tests prints them, so that a table can be shown, pasted and read again."""

from collections.abc import Sequence

from core.links.nccl_tests.figures import SHARED, bus_factor
from core.units import GB

_HALF_NAMES = f"{'time':>9}{'algbw':>8}{'busbw':>8}{'#wrong':>7}"
_HALF_UNITS = f"{'(us)':>9}{'(GB/s)':>8}{'(GB/s)':>8}{'':7}"
_HEADING = (
    f"#{'out-of-place':>74}{'in-place':>32}",
    f"#{'size':>11}{'count':>14}{'type':>10}{'redop':>8}{'root':>8}" + 2 * _HALF_NAMES,
    f"#{'(B)':>11}{'(elements)':>14}{'':26}" + 2 * _HALF_UNITS,
)
_REDOPS = {"all_reduce": "sum", "reduce_scatter": "sum", "reduce": "sum"}
_FLOAT_BYTES = 4


def printed_table(op: str, ranks: int, times: Sequence[tuple[int, float]]) -> str:
    """A run of `op_perf` over `ranks` ranks: (bytes, µs) for each row, both halves alike."""
    share = ranks if op in SHARED else 1
    root = 0 if op in ("broadcast", "reduce") else -1
    rows = []
    for size_bytes, time_us in times:
        half = _half(size_bytes, time_us, bus_factor(op, ranks))
        count = size_bytes // _FLOAT_BYTES // share
        rows.append(f"{size_bytes:12d}{count:14d}{'float':>10}{_REDOPS.get(op, 'none'):>8}{root:8d}{half}{half}")
    mean = sum(round(size * bus_factor(op, ranks) / us * 1e6 / GB, 2) for size, us in times) / max(1, len(times))
    footer = ("# Out of bounds values : 0 OK", f"# Avg bus bandwidth    : {mean:g}", "#")
    return "\n".join((f"# Collective test starting: {op}_perf", "#", *_HEADING, *rows, *footer)) + "\n"


def _half(size_bytes: int, time_us: float, factor: float) -> str:
    """time, algbw, busbw, #wrong: five figures of time, two decimals of bandwidth."""
    decimals = 2 if time_us < 100 else 1 if time_us < 10_000 else 0
    algbw = size_bytes / time_us * 1e6 / GB
    return f"{time_us:9.{decimals}f}{algbw:8.2f}{algbw * factor:8.2f}{0:7d}"
