"""Lab 03's residuals: what the napkin model misses, by machine, by payload and by the way a kernel is launched."""

from collections.abc import Sequence
from math import log

from core.catalog import link
from core.comm_cost.measured import MeasuredPoint, residuals, series_of
from core.steps.view import View, ring_series
from core.units import KIB, MIB
from runtime.kept import kept
from runtime.prose import named
from runtime.rows import Row, table

NAMES = {
    "a100-nccl": "A100, NCCL",
    "h100-nccl": "H100, NCCL",
    "h100-vllm-graph": "H100, one-shot kernel in a CUDA graph",
    "h100-vllm-eager": "H100, one-shot kernel launched eagerly",
    "l40s-nccl": "L40S over PCIe, NCCL",
    "a10g-tcp": "A10G over TCP",
}
SHORT = {
    "A100 NCCL": "a100-nccl",
    "H100 NCCL": "h100-nccl",
    "H100 graph": "h100-vllm-graph",
    "H100 eager": "h100-vllm-eager",
    "L40S PCIe": "l40s-nccl",
    "A10G TCP": "a10g-tcp",
}
"""The machines under names short enough for a row of buttons."""

SMALL_BYTES = 8 * KIB
REGIONS = ((512, 8 * KIB, "launch"), (16 * KIB, 16 * MIB, "protocol"), (16 * MIB, 64 * MIB, "switch, wire"))
"""Where along the payload each residual has its place: low, high, its name."""


def regions() -> tuple[tuple[int, int, str], ...]:
    """`REGIONS` by their names in the language being spoken."""
    return tuple((low, high, named("comm_cost", name)) for low, high, name in REGIONS)


def misses(points: Sequence[MeasuredPoint], series: str, ranks: int) -> list[Row]:
    """The napkin model, or its link's row where the labs have none, against one machine at some ranks."""
    chosen = [point for point in series_of(points, series, ranks) if 512 <= point.payload_bytes <= 64 * MIB]
    if not chosen:
        return []
    measured = link(chosen[0].link)
    napkin = link(measured.napkin_key or measured.key)
    return [
        Row(
            series=series,
            name=named("comm_cost", NAMES[series]),
            ranks=ranks,
            payload_bytes=residual.payload_bytes,
            measured_us=1e6 * residual.measured_s,
            modelled_us=1e6 * residual.modelled_s,
            ratio=residual.ratio,
        )
        for residual in residuals(chosen, napkin)
    ]


def by_ranks(points: Sequence[MeasuredPoint]) -> list[Row]:
    """Every machine at 8 KiB, at 2, 4 and 8 ranks."""
    return [
        miss
        for series in NAMES
        for ranks in (2, 4, 8)
        for miss in misses(points, series, ranks)
        if miss.payload_bytes == SMALL_BYTES
    ]


_STRETCHES = (
    (512, 8 * KIB, "launch", "fewer hops than a ring"),
    (16 * KIB, 4 * MIB, "protocol", ""),
    (16 * MIB, 64 * MIB, "wire", "a faster wire"),
)
"""Where a residual is looked for, and its name where the measured point lies above the model and below it."""


@kept
def named_residuals(view: View, points: Sequence[MeasuredPoint]) -> list[Row]:
    """For each measured link of a scenario the widest residual of each stretch; a seventh off is none."""
    found = []
    for link_row in view.links:
        timed, chosen = view.timed(link_row), series_of(points, ring_series(view, link_row), view.scenario.tp)
        for low, high, above, below in _STRETCHES:
            within = residuals([point for point in chosen if low <= point.payload_bytes <= high], timed)
            widest = max(within, key=lambda residual: abs(log(residual.ratio)), default=None)
            if widest is None or abs(log(widest.ratio)) <= 0.15:
                continue
            is_above = widest.ratio < 1
            if name := above if is_above else below:
                time_us = 1e6 * widest.measured_s
                found.append((widest.payload_bytes, time_us, named("comm_cost", name), is_above))
    return table("payload_bytes time_us name above", found)


def small(misses: Sequence[Row], series: str, ranks: int) -> Row:
    return next(miss for miss in misses if (miss.series, miss.ranks) == (series, ranks))
