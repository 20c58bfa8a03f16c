"""What the figures of a table say of themselves: the unit of time, whether a row adds up, and how many ranks.

a algbw, b busbw, n size, t time. nccl-tests prints a = n/t and b = a·k, where k is 2(N-1)/N for an all-reduce,
(N-1)/N for all-gather, reduce-scatter and all-to-all, 1 for broadcast and reduce. Before mid-2020 all-gather and
reduce-scatter printed a = n/(N·t) and b = a·(N-1); in 2019 times were milliseconds under a header without units.
A hypercube, and RCCL's all-gather of 2020, print what leaves a rank, a = b = n(N-1)/(N·t).
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from statistics import median

from core.errors import Remark, remark
from core.links.nccl_tests.records import Half, PrintedRow
from core.units import GB

SHARED = frozenset({"all_gather", "reduce_scatter", "alltoall", "alltoallv", "gather", "scatter", "hypercube"})
"""Tests whose `count` is one rank's share of the size, and whose busbw is (N-1)/N of algbw."""

MILLISECONDS = 1000


def bus_factor(op: str | None, ranks: int) -> float:
    """busbw / algbw of a test between `ranks` ranks."""
    if op == "all_reduce":
        return 2 * (ranks - 1) / ranks
    return (ranks - 1) / ranks if op in SHARED else 1.0


@dataclass(frozen=True)
class Convention:
    """How a table prints: microseconds in one unit of its time column, and what n/t was divided by."""

    unit_us: float = 1.0
    divided_by: float = 1


def common_share(rows: Sequence[PrintedRow]) -> int | None:
    """The share that nearly every row has; None where there is no such rule."""
    counts = Counter(shares_of(rows)).most_common(1)
    return counts[0][0] if counts and counts[0][1] >= 0.7 * len(rows) else None


def shares_of(rows: Iterable[PrintedRow]) -> list[int]:
    """The shares of the rows that have one."""
    return [row.share for row in rows if row.share is not None]


def convention_of(rows: Sequence[PrintedRow], header: str | None = None, op: str | None = None) -> Convention:
    """The unit of time and the divisor of algbw that make size / time agree with what is printed.

    Judged by the larger bandwidths: below 0.05 GB/s two decimals say nothing, and the names of the columns decide.
    """
    share = common_share(rows)
    if op == "hypercube" and share is not None and share > 1:
        return Convention(divided_by=share / (share - 1))
    ratios = [
        row.size_bytes / (half.time * 1e3 * half.algbw)
        for row in rows
        for half in row.halves
        if isfinite(half.algbw) and half.algbw >= 0.05 and half.time > 0
    ]
    if not ratios:
        return Convention(MILLISECONDS) if {"bytes", "res"} <= set((header or "").split()) else Convention()
    ratio = median(sorted(ratios)[len(ratios) // 4 :])
    if 0.93 < ratio < 1.07:
        return Convention()
    shares = set(shares_of(rows))
    for unit_us in (1.0, MILLISECONDS):
        for divided_by in (1, *sorted(shares - {1}), *(n / (n - 1) for n in sorted(shares - {1}))):
            if 0.93 < ratio / (unit_us * divided_by) < 1.07:
                return Convention(unit_us, divided_by)
    return Convention()


def complaint(half: Half, row: PrintedRow, convention: Convention) -> Remark | None:
    """Why a half does not agree with itself, to the decimals printed; None where it does."""
    if not (isfinite(half.algbw) and isfinite(half.busbw)):
        return remark("links.no_bandwidth", row.line, algbw=half.algbw)
    if half.time <= 0:
        return remark("links.no_time", row.line, zero=0)
    time_us = half.time * convention.unit_us
    expected = row.size_bytes / (time_us * 1e3 * convention.divided_by)
    if abs(expected - half.algbw) <= 0.003 * expected + 0.005:
        return None
    slack = 0.6 * half.rounding(0) / half.time + 0.003
    if abs(expected - half.algbw) <= expected * slack + 0.6 * half.rounding(1):
        return None
    return remark(
        "links.contradicts_itself",
        row.line,
        algbw=half.algbw,
        size_bytes=row.size_bytes,
        time_us=time_us,
        expected=expected,
    )


def ranks_span(halves: Iterable[Half], op: str | None, divided: bool) -> tuple[float, float]:
    """The least and the most ranks that busbw / algbw allows, over these halves together.

    N = 2/(2-r) for an all-reduce, 1/(1-r) for the others, r + 1 where algbw was divided by N. Good to about 64
    ranks at 5 GB/s: beyond, r is within its rounding of the limit.
    """
    chosen = _agreeing(sorted((half for half in halves if 0 < half.algbw < inf), key=lambda half: -half.algbw)[:12])
    algbw, busbw = sum(half.algbw for half in chosen), sum(half.busbw for half in chosen)
    if not chosen:
        return 1.0, inf
    roundings = sum(half.rounding(1) * busbw / algbw + half.rounding(2) for half in chosen)
    blur = 0.9 * roundings / len(chosen) ** 0.5 / algbw
    low, high = busbw / algbw - blur, busbw / algbw + blur
    if divided:
        return low + 1, high + 1
    limit = 2.0 if op == "all_reduce" else 1.0
    return _ranks(low, limit), _ranks(high, limit)


def _agreeing(halves: Sequence[Half]) -> list[Half]:
    """Without those whose busbw / algbw is not the rule's: one mistyped figure must not move the rest."""
    if not halves:
        return []
    ratio = median(half.busbw / half.algbw for half in halves)
    return [
        half
        for half in halves
        if abs(half.busbw - ratio * half.algbw) <= 0.01 * half.busbw + half.rounding(1) * (1 + ratio)
    ]


def _ranks(ratio: float, limit: float) -> float:
    return limit / (limit - ratio) if ratio < limit else inf


def whole_numbers(span: tuple[float, float], most: int = 4) -> list[int]:
    """The whole numbers of ranks in a span, if they are few."""
    low, high = span
    if high == inf or high - low > most:
        return []
    return [n for n in range(max(1, int(low)), int(high) + 1) if low <= n <= high]


def mean_busbw(rows: Iterable[PrintedRow]) -> float | None:
    """The plain mean of every busbw printed, as the footer gives it."""
    printed = [half.busbw for row in rows for half in row.halves if isfinite(half.busbw)]
    return sum(printed) / len(printed) if printed else None


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
    """The way back: a run of `op_perf` over `ranks` ranks, (bytes, µs) for each row, both halves alike."""
    share = ranks if op in SHARED else 1
    root = 0 if op in ("broadcast", "reduce") else -1
    rows = []
    for size_bytes, time_us in times:
        half = _printed_half(size_bytes, time_us, bus_factor(op, ranks))
        count = size_bytes // _FLOAT_BYTES // share
        rows.append(f"{size_bytes:12d}{count:14d}{'float':>10}{_REDOPS.get(op, 'none'):>8}{root:8d}{half}{half}")
    mean = sum(round(size * bus_factor(op, ranks) / us * 1e6 / GB, 2) for size, us in times) / max(1, len(times))
    footer = ("# Out of bounds values : 0 OK", f"# Avg bus bandwidth    : {mean:g}", "#")
    return "\n".join((f"# Collective test starting: {op}_perf", "#", *_HEADING, *rows, *footer)) + "\n"


def _printed_half(size_bytes: int, time_us: float, factor: float) -> str:
    """time, algbw, busbw, #wrong: five figures of time, two decimals of bandwidth."""
    decimals = 2 if time_us < 100 else 1 if time_us < 10_000 else 0
    algbw = size_bytes / time_us * 1e6 / GB
    return f"{time_us:9.{decimals}f}{algbw:8.2f}{algbw * factor:8.2f}{0:7d}"
