"""Rows to tables: a dataclass is a row, a field is a column; and tables worded once for whoever asks.

pandas and pyarrow are imported once a table is made: charts have no need of them, and a browser's tab fetches them
then.
"""

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from io import StringIO
from typing import TYPE_CHECKING, Any, TypeAlias

from core import units
from runtime.content import language, load, slug
from runtime.kept import Itself, Known
from runtime.one_process import bring_tables
from runtime.quantities import grouped, local, style

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

Row: TypeAlias = Any
"""A dataclass whose fields are columns, a `runtime.rows.Row`, or a mapping of columns."""

_KEPT = 256
"""Figures and tables kept ready, for all visitors together."""

_LONGEST_CODE = 24


def columns_of(row: Row) -> Mapping[str, Any]:
    """A row's columns by name, of a dataclass or a mapping: to be read, for they are the row's own."""
    return row if type(row) is dict or isinstance(row, Mapping) else vars(row)


def as_row(row: Row) -> dict[str, Any]:
    """The same, to be changed."""
    return dict(columns_of(row))


def rows_of(table: Iterable[Row]) -> list[dict[str, Any]]:
    """Rows as columns by name, of dataclasses or of mappings."""
    return [as_row(row) for row in table]


@dataclass(frozen=True)
class Frozen:
    """What a frame holds, as a key: two of the same content are one."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    @classmethod
    def of(cls, rows: Iterable[Row]) -> "tuple[Frozen, tuple[str, ...]]":
        """What a frame of these rows would hold, and its types. Raises TypeError where one is needed to tell."""
        columns_of = [as_row(row) for row in rows]
        names = tuple(columns_of[0]) if columns_of else ()
        if not names or any(row.keys() != columns_of[0].keys() for row in columns_of):
            raise TypeError("a frame of nothing, or of rows of several kinds")
        columns, types = zip(*(_column([row[name] for row in columns_of]) for name in names), strict=True)
        return cls(names, Known(zip(*columns, strict=True))), types


def _column(values: list[Any]) -> tuple[list[Any], str]:
    """A column as a frame gives it back, numbers of one kind, what is not known None; and its type."""
    plain = [value.item() if hasattr(value, "item") else value for value in values]
    known = [None if value is None or value != value else value for value in plain]
    kinds = set(map(type, plain)) - {type(None)}
    if not any(kinds <= told for told in ({int, float}, {str}, {bool})):
        raise TypeError("a column of several kinds")
    if float in kinds or (kinds == {int} and None in known):
        return [None if value is None else float(value) for value in known], "float64"
    return known, "int64" if kinds == {int} else "object"


@dataclass(frozen=True, eq=False)
class Sheet:
    """A table as it is shown, in the words and marks of a language, and as it is taken away."""

    sent: "pa.Table"
    csv: bytes

    @property
    def shown(self) -> Any:
        """What Streamlit takes. It sorts by the numbers themselves, whatever their marks."""
        if style().decimal == ".":
            return self.sent
        table = self.sent.to_pandas()
        numbers = table.select_dtypes("number").columns
        if not len(numbers):
            return self.sent
        return table.style.set_uuid("").format(_number, subset=list(numbers), na_rep="")


def sheet(table: Sequence[Row]) -> Sheet:
    """A figure's rows as a table, made ready once for the same content and language."""
    if isinstance(table, Known):
        return _known_sheet(language(), Itself(table))
    try:
        content, types = Frozen.of(table)
        return _sheet(language(), types, content)
    except TypeError:  # rows or cells of several kinds, or one that has no key
        return _worded_frame(table)


@lru_cache(maxsize=_KEPT)
def _known_sheet(language: str, table: Itself) -> Sheet:
    return sheet(list(table.value))


def head(column: str) -> str:
    """What a column is called: the block `head.<column>` of tables.md."""
    return load("tables").get(f"head.{column}", column)


def cell(value: Any) -> Any:
    """A code by its words: the block `cell.<code>` of tables.md, or an option of every page; else as it is."""
    if not isinstance(value, str) or len(value) > _LONGEST_CODE:
        return value
    code = slug(value)
    return load("tables").get(f"cell.{code}") or load("shell").get(f"option.{code}", value)


def worded(table: "pd.DataFrame") -> "pd.DataFrame":
    """A table with its columns and its codes by their words."""
    table = table.rename(columns=head)
    texts = [name for name in table.columns if table[name].map(type).eq(str).any()]
    return table.assign(**{name: table[name].map(cell) for name in texts})


def _number(value: float) -> str:
    return grouped(int(value)) if value == int(value) else local(units.significant(value, 4))


@lru_cache(maxsize=_KEPT)
def _sheet(language: str, types: tuple[str, ...], content: Frozen) -> Sheet:
    bring_tables()
    import pyarrow as pa

    arrow = {"int64": pa.int64(), "float64": pa.float64()}
    columns = list(zip(*content.rows, strict=True)) or [()] * len(content.columns)
    shown = [list(map(cell, column)) if str in set(map(type, column)) else column for column in columns]
    arrays = [pa.array(column, arrow.get(kind)) for column, kind in zip(shown, types, strict=True)]
    written = StringIO()
    csv.writer(written, lineterminator="\n").writerows([content.columns, *content.rows])
    return Sheet(pa.Table.from_arrays(arrays, list(map(head, content.columns))), written.getvalue().encode())


def _worded_frame(rows: Sequence[Row]) -> Sheet:
    bring_tables()
    import pandas as pd
    import pyarrow as pa

    table = pd.DataFrame(map(as_row, rows))
    return Sheet(pa.Table.from_pandas(worded(table), preserve_index=False), table.to_csv(index=False).encode())
