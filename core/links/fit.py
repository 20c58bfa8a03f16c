"""A link's numbers out of a measured table: robust in relative error, honest about what a table cannot tell.

t time of one row, n its bytes, k busbw / algbw of the test, N ranks, β bandwidth. The model is the ring's,

    t̂ = fixed + k·n/β,   fixed = base + steps·α,

and with a hand-over term t̂ = fixed + c·√n + k·n/β: between latency and bandwidth, libraries change protocol and
pipeline chunks, and there the two numbers are too optimistic, from 16 KiB to 64 MiB. Least squares in µs would
follow the largest rows and be over 100 % off at 8 KiB; here every row counts by its relative error.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations, pairwise
from math import exp, log, sqrt
from statistics import median

import numpy as np
from numpy.typing import NDArray

from core.catalog.measured_link import measured_link
from core.errors import Remark, remark
from core.links.nccl_tests import Table
from core.links.nccl_tests.figures import bus_factor
from core.specs import LinkSpec

Floats = NDArray[np.float64]

FEWEST_SIZES = 3
"""Two sizes fix two numbers and leave nothing to check them by."""

SPIKE = 0.5
"""What neighbours say over what was measured, below which a row is a spike."""

CORNERS_OF = 40
"""Rows whose lines are tried. Above, the lines through this many of them are tried, and judged by all rows."""


@dataclass(frozen=True)
class LinkFit:
    """What a table says of its link. `bandwidth_bytes_per_s` is one direction, busbw-like: k is taken out of it.

    None stands for what the table cannot tell: α without ranks, β where no row is large enough, base where the
    machine was measured at one number of ranks only.
    """

    op: str | None
    ranks: int | None
    fixed_us: float
    us_per_byte: float
    us_per_sqrt_byte: float
    median_relative_error: float
    base_us: float | None = None
    alpha_of_line_us: float | None = None

    @property
    def steps(self) -> int | None:
        """Hops of the ring: 2(N-1) for an all-reduce, N-1 for the others."""
        return None if self.ranks is None or self.ranks < 2 else ring_steps(self.op, self.ranks)

    @property
    def alpha_us(self) -> float | None:
        """fixed / steps; with a base, the slope of fixed over the steps of several tables."""
        if self.alpha_of_line_us is not None:
            return self.alpha_of_line_us
        return None if self.steps is None else self.fixed_us / self.steps

    @property
    def bandwidth_bytes_per_s(self) -> float | None:
        """Slope of the fit as β: the bus factor k over seconds a byte; None where it does not rise."""
        if self.ranks is None or self.us_per_byte <= 0:
            return None
        return bus_factor(self.op, self.ranks) / self.us_per_byte * 1e6

    def time_us(self, size_bytes: float) -> float:
        """The model's time at a size."""
        return self.fixed_us + self.us_per_sqrt_byte * sqrt(size_bytes) + self.us_per_byte * size_bytes


@dataclass(frozen=True)
class SizeError:
    """A model beside one measured row: a `ratio` below 1 is a model too optimistic."""

    size_bytes: int
    measured_us: float
    modelled_us: float

    @property
    def ratio(self) -> float:
        """Modelled over measured time; below 1 the fit is too fast."""
        return self.modelled_us / self.measured_us


def ring_steps(op: str | None, ranks: int) -> int:
    """Messages one after another on a ring: 2(N-1) for an all-reduce, N-1 for the others."""
    return (2 if op == "all_reduce" else 1) * (ranks - 1)


def why_not_fitted(table: Table) -> Remark | None:
    """Why no link can be read from a table; None where one can."""
    if not table.trusted:
        return remark("links.not_fitted")
    sizes = len({row.size_bytes for row in table.rows})
    return remark("links.too_few_sizes", sizes=sizes) if sizes < FEWEST_SIZES else None


def fit_link(table: Table, handover: bool = False) -> LinkFit | None:
    """The numbers, none below 0, that minimise Σ|t̂/t - 1| over a table's rows; None where `why_not_fitted`.

    The minimum of a sum of absolute values lies where as many rows are met exactly as there are numbers above 0,
    so it is found among those corners, not by steps.
    """
    if why_not_fitted(table) is not None:
        return None
    sizes = np.array([row.size_bytes for row in table.rows], dtype=float)
    times = np.array([row.time_us for row in table.rows])
    terms = [np.ones_like(sizes), sizes] + ([np.sqrt(sizes)] if handover else [])
    weights = least_relative_error(np.stack(terms, axis=1), times)
    fit = LinkFit(
        op=table.op,
        ranks=table.ranks,
        fixed_us=float(weights[0]),
        us_per_byte=float(weights[1]),
        us_per_sqrt_byte=float(weights[2]) if handover else 0.0,
        median_relative_error=0.0,
    )
    return replace(fit, median_relative_error=median(abs(error.ratio - 1) for error in size_errors(table, fit)))


def least_relative_error(terms: Floats, values: Floats) -> Floats:
    """Weights w ≥ 0 that minimise Σ|terms·w / values - 1|; terms: (rows, numbers), values: (rows,), all above 0."""
    scaled = terms / values[:, None]
    scale: Floats = scaled.max(axis=0)
    scaled = scaled / scale
    best, best_cost = np.zeros(terms.shape[1]), float(len(values))
    numbers = range(terms.shape[1])
    # which of the numbers are above 0, fewest first
    for kept in (list(some) for size in numbers for some in combinations(numbers, size + 1)):
        corners = _corners(scaled[:, kept])
        if not len(corners):
            continue
        costs = _costs(scaled[:, kept], corners)
        at = int(costs.argmin())
        if costs[at] < best_cost - 1e-12:
            best_cost = float(costs[at])
            best = np.zeros(terms.shape[1])
            best[kept] = corners[at]
    return best / scale


def _costs(scaled: Floats, corners: Floats) -> Floats:
    """Σ|scaled·w - 1| of each corner, some at a time so that a long table does not fill the memory."""
    some = max(1, 2_000_000 // len(scaled))
    parts = [corners[start : start + some] for start in range(0, len(corners), some)]
    return np.concatenate([np.abs(scaled @ part.T - 1.0).sum(axis=0) for part in parts])


def _corners(scaled: Floats) -> Floats:
    """Weights above 0 that meet as many rows exactly as there are weights.  (rows, p) -> (corners, p)"""
    rows, numbers = scaled.shape
    chosen = _chosen(rows, numbers)
    if not len(chosen):
        return np.empty((0, numbers))
    systems = scaled[chosen]  # (corners, p, p)
    solvable = np.abs(np.linalg.det(systems)) > 1e-14
    solved = np.linalg.solve(systems[solvable], np.ones((int(solvable.sum()), numbers, 1)))[..., 0]
    return np.asarray(solved[(solved > 0).all(axis=1)])


@lru_cache(maxsize=64)
def _chosen(rows: int, numbers: int) -> NDArray[np.int64]:
    """Which rows meet in each corner.  -> (corners, p)"""
    tried = range(rows) if rows <= CORNERS_OF else np.linspace(0, rows - 1, CORNERS_OF).astype(int)
    return np.array(list(combinations(tried, numbers)))


def fit_links(tables: Sequence[Table], handover: bool = False) -> tuple[LinkFit | None, ...]:
    """Each table's fit, its base told where the tables allow it.

    They do where one test was measured on GPUs of one name, inside one node, at two or more numbers of ranks, with
    messages small enough for `fixed` to be seen: across nodes another link would be taken for more of the same.
    """
    fits: list[LinkFit | None] = [fit_link(table, handover) for table in tables]
    groups: dict[tuple[str | None, str], list[int]] = {}
    for index, (table, fit) in enumerate(zip(tables, fits, strict=True)):
        if fit is not None and fit.steps and table.nodes in (None, 1) and not _latency_is_extrapolated(table, fit):
            groups.setdefault((table.op, table.gpu), []).append(index)
    for indices in groups.values():
        grouped = with_base([fit for index in indices if (fit := fits[index]) is not None])
        for index, fit in zip(indices, grouped, strict=True):
            fits[index] = fit
    return tuple(fits)


def with_base(fits: Sequence[LinkFit]) -> tuple[LinkFit, ...]:
    """The same fits with a launch cost told from the hops: fixed = base + steps·α, at two or more numbers of ranks.

    α is the line's for all of them; `fixed_us` stays each table's own. Fits at one number of ranks come back as
    they are.
    """
    steps = [fit.steps for fit in fits if fit.steps is not None]
    if len(set(steps)) < 2 or len(steps) < len(fits) or any(fit.fixed_us <= 0 for fit in fits):
        return tuple(fits)
    terms = np.array([[1.0, count] for count in steps])
    base_us, slope_us = least_relative_error(terms, np.array([fit.fixed_us for fit in fits]))
    return tuple(replace(fit, base_us=float(base_us), alpha_of_line_us=float(slope_us)) for fit in fits)


def size_errors(table: Table, fit: LinkFit) -> tuple[SizeError, ...]:
    """The model beside every row."""
    return tuple(SizeError(row.size_bytes, row.time_us, fit.time_us(row.size_bytes)) for row in table.rows)


def interpolated_us(table: Table, size_bytes: float) -> float | None:
    """The measured time at a size: a straight line in log time over log bytes between two rows.

    Rows of one size count by their median. None outside of what was measured.
    """
    return _between(_points(table), size_bytes)


def spikes(table: Table) -> tuple[SizeError, ...]:
    """Sizes that took over twice what their neighbours say."""
    return tuple(error for error in held_out_errors(table) if error.ratio < SPIKE)


def predicted_us(table: Table, size_bytes: float) -> float | None:
    """The time to expect at a size: `interpolated_us`, from the rows that are no spike."""
    flagged = {error.size_bytes for error in spikes(table)}
    return _between([point for point in _points(table) if point[0] not in flagged], size_bytes)


def held_out_errors(table: Table) -> tuple[SizeError, ...]:
    """Each size but the first and the last, told by interpolation from the others."""
    points = _points(table)
    errors = []
    for before, (size_bytes, time_us), after in zip(points, points[1:], points[2:], strict=False):
        told = _between([before, after], size_bytes)
        if told is not None:
            errors.append(SizeError(int(size_bytes), time_us, told))
    return tuple(errors)


def _points(table: Table) -> list[tuple[float, float]]:
    """(size, time) by size, one for each."""
    times: dict[int, list[float]] = {}
    for row in table.rows:
        times.setdefault(row.size_bytes, []).append(row.time_us)
    return [(size, median(times[size])) for size in sorted(times)]


def _between(points: Sequence[tuple[float, float]], size_bytes: float) -> float | None:
    if not points or not points[0][0] <= size_bytes <= points[-1][0]:
        return None
    for (low, low_us), (high, high_us) in pairwise(points):
        if low <= size_bytes <= high:
            along = log(size_bytes / low) / log(high / low)
            return exp((1 - along) * log(low_us) + along * log(high_us))
    return points[0][1]


def doubts(table: Table, fit: LinkFit) -> tuple[Remark, ...]:
    """What a fit must not be taken for."""
    sizes = sorted({row.size_bytes for row in table.rows})
    two_links = table.nodes is not None and table.ranks is not None and 1 < table.nodes < table.ranks
    flagged = tuple(
        remark("links.spike", size_bytes=one.size_bytes, time_us=one.measured_us) for one in spikes(table)
    )
    checks = (
        (_latency_is_extrapolated(table, fit), remark("links.latency_untold", size_bytes=sizes[0])),
        (fit.us_per_byte * sizes[-1] < fit.fixed_us, remark("links.bandwidth_untold", size_bytes=sizes[-1])),
        (len(sizes) <= FEWEST_SIZES, remark("links.few_sizes", sizes=len(sizes))),
        (two_links, remark("links.two_links", ranks=table.ranks, nodes=table.nodes)),
        (fit.base_us is not None and table.nodes is None, remark("links.one_machine_assumed")),
        (fit.median_relative_error > 0.25, remark("links.fit_misses", percent=100 * fit.median_relative_error)),
        (bool(flagged), remark("links.spikes", rows=flagged[:4])),
    )
    return tuple(doubt for applies, doubt in checks if applies)


def _latency_is_extrapolated(table: Table, fit: LinkFit) -> bool:
    """Whether every row is mostly bytes."""
    return fit.us_per_byte * min(row.size_bytes for row in table.rows) > fit.fixed_us


def link_of(fit: LinkFit, backend: str = "") -> LinkSpec | None:
    """The fit as a link that every lab can price on; None where the table cannot tell α or β.

    `backend` names the link of lab 02 that was swept.
    """
    if fit.alpha_us is None or fit.bandwidth_bytes_per_s is None or fit.ranks is None:
        return None
    base_s = (fit.base_us or 0.0) * 1e-6
    return measured_link(fit.alpha_us * 1e-6, fit.bandwidth_bytes_per_s, base_s, fit.ranks, backend)
