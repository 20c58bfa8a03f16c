"""The one entry: a paste in, its tables out, or one sentence on why there are none."""

from core.errors import UnreadableTextError
from core.links.nccl_tests.records import Table
from core.links.nccl_tests.sections import sections_of
from core.links.nccl_tests.streams import Section
from core.links.nccl_tests.structured import as_printed
from core.links.nccl_tests.tables import tables_of


def read_tables(text: str) -> tuple[Table, ...]:
    """The tables in a text that nccl-tests or rccl-tests printed, however it was pasted.

    A run that began and printed no row is a table without rows. Raises UnreadableTextError where the text holds
    no row of figures and no begun run.
    """
    read = sections_of(as_printed(text))
    sections = [section for section in read.sections if section.has_rows or section.started]
    tables = tuple(table for section in sections for table in tables_of(section))
    if not any(table.rows for table in tables) and (refusal := _refusal(sections, tables, read.gloo)):
        raise UnreadableTextError(refusal)
    return tables


def _refusal(sections: list[Section], tables: tuple[Table, ...], gloo: bool) -> str | None:
    """Why no table can be had; None where a run at least began, which its own warnings describe."""
    reasons = [entry for table in tables for entry in table.dropped]
    if gloo:
        return "this is the output of gloo's own benchmark, not of nccl-tests: its columns mean other things"
    if reasons:
        return f"no row can be trusted: in line {reasons[0].line}, {reasons[0].reason}"
    return None if sections else "no row of an nccl-tests or rccl-tests table was found"
