"""Rows to tables: a dataclass is a row, a field is a column."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

import pandas as pd


def frame(rows: Iterable[Any], **columns: Any) -> pd.DataFrame:
    """A tidy frame of dataclass rows; `columns` adds constants."""
    return pd.DataFrame([asdict(row) for row in rows]).assign(**columns)
