"""Rows to tables: a dataclass is a row, a field is a column."""

from collections.abc import Iterable
from dataclasses import asdict, fields
from typing import Any

import pandas as pd


def frame(rows: Iterable[Any], row_type: type | None = None) -> pd.DataFrame:
    """A tidy frame of dataclass rows. With `row_type` the columns stand even where there is no row."""
    columns = [field.name for field in fields(row_type)] if row_type else None
    return pd.DataFrame([asdict(row) for row in rows], columns=columns)
