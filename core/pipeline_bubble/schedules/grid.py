"""A timeline on squared paper: a row a rank, a column a tick, a number in each cell.

    cell = -1 (idle), or 4096·chunk + 1024·kind + microbatch, with kind F, B, I, W = 0, 1, 2, 3

so that a forward pass with one chunk a rank is simply its microbatch numbers. An action that lasts several
ticks fills as many cells with the same number. int16 holds 8 chunks and 1024 microbatches.
"""

from collections.abc import Iterable
from fractions import Fraction
from math import lcm

import numpy as np
import numpy.typing as npt

from core.errors import OutOfRangeError
from core.pipeline_bubble.schedules.actions import Kind, Span, Time

IDLE = -1
MAX_CHUNKS, MAX_MICROBATCHES, MAX_CELLS = 8, 1024, 2**20
KIND_CODES: dict[Kind, int] = {"F": 0, "B": 1, "I": 2, "W": 3}

Grid = npt.NDArray[np.int16]


def tick_grid(spans: Iterable[Span], ranks: int, *, ticks_per_unit: int = 1, ticks: int = 0) -> Grid:
    """The cells of `spans`, (ranks, ticks): as many ticks as the last end needs, or `ticks` if that is more.

    Where two spans overlap the later in the list is seen.
    Raises OutOfRangeError for a time between two ticks, and for more than int16 or a page can hold.
    """
    placed = list(spans)
    last = max((_tick(span.end, ticks_per_unit) for span in placed), default=0)
    width = max(last, ticks)
    if ranks * width > MAX_CELLS:
        raise OutOfRangeError("cells", ranks * width, "at_most_drawn", most=MAX_CELLS)
    grid = np.full((ranks, width), IDLE, dtype=np.int16)  # (ranks, ticks)
    for span in placed:
        start, end = _tick(span.start, ticks_per_unit), _tick(span.end, ticks_per_unit)
        grid[span.rank, start:end] = cell_code(span, ranks)
    return grid


def cell_code(span: Span, ranks: int) -> int:
    """The number that stands in the cells of `span`."""
    chunk, microbatch = span.action.stage // ranks, span.action.microbatch
    if chunk >= MAX_CHUNKS:
        raise OutOfRangeError("chunks", chunk + 1, "at_most_drawn", most=MAX_CHUNKS)
    if microbatch >= MAX_MICROBATCHES:
        raise OutOfRangeError("microbatches", microbatch + 1, "at_most_drawn", most=MAX_MICROBATCHES)
    return 4096 * chunk + 1024 * KIND_CODES[span.action.kind] + microbatch


def common_ticks(spans: Iterable[Span]) -> int:
    """The fewest ticks a unit of time that put every start and end on a line."""
    return lcm(*{Fraction(time).denominator for span in spans for time in (span.start, span.end)})


def _tick(time: Time, ticks_per_unit: int) -> int:
    if isinstance(time, int):
        return time * ticks_per_unit
    tick = time * ticks_per_unit
    if tick.denominator != 1:
        raise OutOfRangeError("time", time, "ticks", ticks=ticks_per_unit)
    return tick.numerator
