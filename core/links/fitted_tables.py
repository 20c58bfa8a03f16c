"""A learner's paste, read and fitted: what every table in it is good for, and every doubt about it."""

from dataclasses import dataclass

from core.errors import Remark, UnreadableTextError
from core.links.fit import LinkFit, doubts, fit_links, why_not_fitted
from core.links.nccl_tests import Table, read_tables

MOST_TABLES, MOST_ROWS = 500, 2_000
"""More than any paste holds, and than a table has; a figure of more points is nobody's to read."""


@dataclass(frozen=True)
class FittedTable:
    """One table of a paste with its two fits, None where it cannot be fitted."""

    table: Table
    fit: LinkFit | None
    handover: LinkFit | None

    @property
    def warnings(self) -> tuple[Remark, ...]:
        """What is to be known of the table, then why it is not fitted or what its fit must not be taken for."""
        refusal = why_not_fitted(self.table)
        of_fit = doubts(self.table, self.fit) if self.fit is not None else ()
        return (*self.table.warnings, *((refusal,) if refusal else ()), *of_fit)


def fitted_tables(text: str) -> tuple[FittedTable, ...]:
    """Every table in a text, fitted by two numbers and with the hand-over term.

    Raises UnreadableTextError where the text holds none, or more than a page shows.
    """
    tables = read_tables(text)
    rows = max(len(table.rows) for table in tables)
    if len(tables) > MOST_TABLES:
        raise UnreadableTextError("many_tables", tables=len(tables), most=MOST_TABLES)
    if rows > MOST_ROWS:
        raise UnreadableTextError("many_rows", rows=rows, most=MOST_ROWS)
    fits = zip(tables, fit_links(tables), fit_links(tables, handover=True), strict=True)
    return tuple(FittedTable(*fitted) for fitted in fits)
