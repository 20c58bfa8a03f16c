"""How far a sharded layer lands from its dense product: one random layer, cut both ways."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from core.sharding_math.group import Group
from core.sharding_math.layers import column_layer, row_layer
from core.sharding_math.numerics import LargestError, SumOrder, largest_error, precision, ulps_apart
from core.sharding_math.tensors import Array

TOKENS = 16
"""Rows of x that a trial multiplies."""


@dataclass(frozen=True)
class Trial:
    """A layer, how many ranks cut it, and how it is computed."""

    in_features: int
    out_features: int
    num_ranks: int
    dtype: str
    order: SumOrder


@dataclass(frozen=True)
class UlpsRow:
    """How many entries of y lie how many ulps from the dense product, for one way to cut."""

    cut: str
    ulps: int
    entries: int


@dataclass(frozen=True)
class TrialResult:
    """Both cuts of one layer against its dense product: counts by distance, and the row cut's largest error."""

    rows: tuple[UlpsRow, ...]
    row_error: LargestError


@lru_cache(maxsize=16)
def run_trial(trial: Trial) -> TrialResult:
    """One random layer of `TOKENS` tokens, cut both ways, in the format and order asked for.

    Raises IndivisibleError.
    """
    rng, fmt = np.random.default_rng(0), precision(trial.dtype)
    x, W = rng.normal(size=(TOKENS, trial.in_features)), rng.normal(size=(trial.out_features, trial.in_features))
    by_column, alone = (Group(n, fmt=fmt, order=trial.order) for n in (trial.num_ranks, 1))
    dense = column_layer(alone, alone.replicate("x", x), W).full()
    column = column_layer(by_column, by_column.replicate("x", x), W).full()
    by_row = Group(trial.num_ranks, fmt=fmt, order=trial.order)
    row = row_layer(by_row, by_row.shard("x", x, -1, "in_features"), W).full()
    rows = (*_counted("column", ulps_apart(column, dense, fmt)), *_counted("row", ulps_apart(row, dense, fmt)))
    return TrialResult(rows, largest_error(row, dense, fmt))


def _counted(cut: str, apart: Array) -> list[UlpsRow]:
    """Entries by distance; from nine ulps on they are counted together."""
    # an index of the platform's: in a browser's 32 bits int64 is refused
    counts = np.bincount(np.minimum(apart, 9).reshape(-1).astype(np.intp), minlength=10)
    return [UlpsRow(cut, ulps, int(entries)) for ulps, entries in enumerate(counts)]
