"""From a text to tables that can be trusted, with every line that was dropped and every doubt."""

from collections import Counter
from collections.abc import Sequence

from core.errors import Remark, UnreadableTextError, remark
from core.links.nccl_tests.checked_rows import WRONG, Reading, checked
from core.links.nccl_tests.figures import (
    MILLISECONDS,
    common_share,
    convention_of,
    mean_busbw,
    ranks_span,
    shares_of,
    whole_numbers,
)
from core.links.nccl_tests.identity import contradiction_of, listed_ranks, nodes_of, op_of, ranks_of
from core.links.nccl_tests.records import PrintedRow, Row, Table
from core.links.nccl_tests.saved import as_printed
from core.links.nccl_tests.sections import sections_of
from core.links.nccl_tests.streams import Section


def read_tables(text: str) -> tuple[Table, ...]:
    """The tables in a text that nccl-tests or rccl-tests printed, however it was pasted.

    A run that began and printed no row is a table without rows. Raises UnreadableTextError where the text holds
    no row of figures and no begun run.
    """
    sections, gloo = sections_of(as_printed(text))
    begun = [section for section in sections if section.has_rows or section.started]
    tables = tuple(table for section in begun for table in _tables_of(section))
    if any(table.rows or table.corrupts for table in tables):
        return tables
    if gloo:
        raise UnreadableTextError("other_benchmark")
    if reasons := [entry for table in tables for entry in table.dropped]:
        raise UnreadableTextError("no_row_trusted", reasons[0], line=reasons[0].line)
    if not begun:
        raise UnreadableTextError("no_table_row")
    return tables


def _tables_of(section: Section) -> tuple[Table, ...]:
    """The tables of one section: one, or several where sizes begin anew or rank counts are mixed.

    What concerns the section as a whole (a cut, a footer that disagrees, a failure) is said of its last table.
    """
    runs = [part for run in _runs(section.rows) for part in _by_ranks(run, section)]
    tables = [_table(section, run, last=run is runs[-1], alone=len(runs) == 1) for run in runs]
    return tuple(tables) if tables else (_empty(section),)


def _runs(rows: Sequence[PrintedRow]) -> list[list[PrintedRow]]:
    """Rows in runs of sizes: a size that was met before, and not just now, begins another run."""
    runs: list[list[PrintedRow]] = []
    met: set[int] = set()
    for row in rows:
        if not runs or (row.size_bytes in met and row.size_bytes != runs[-1][-1].size_bytes):
            runs.append([])
            met = set()
        runs[-1].append(row)
        met.add(row.size_bytes)
    return runs


def _by_ranks(run: list[PrintedRow], section: Section) -> list[list[PrintedRow]]:
    """A run parted by the ranks its rows tell of, unless one number is the rule; silent rows stay with the last."""
    if _tells_one(run):
        return [run]
    divided = convention_of(run).divided_by > 1
    told = [_told_ranks(row, section.op, divided) for row in run]
    known = Counter(ranks for ranks in told if ranks is not None)
    if len(known) < 2 or max(known.values()) >= 0.7 * known.total():
        return [run]
    parts: dict[int, list[PrintedRow]] = {}
    current = next(ranks for ranks in told if ranks is not None)
    for row, ranks in zip(run, told, strict=True):
        current = current if ranks is None else ranks
        parts.setdefault(current, []).append(row)
    return list(parts.values())


def _tells_one(run: Sequence[PrintedRow]) -> bool:
    """Whether the rows plainly agree: one share, and one ratio wherever bandwidths are large enough to show it."""
    if len(set(shares_of(run)) - {0}) > 1:
        return False
    ratios = [half.busbw / half.algbw for row in run for half in row.halves if half.algbw >= 10]
    return not ratios or max(ratios) - min(ratios) < 0.004


def _told_ranks(row: PrintedRow, op: str | None, divided: bool) -> int | None:
    """The ranks that one row tells of by itself, if it tells of one number only."""
    if row.share is not None and row.share > 1:
        return row.share
    if op not in (None, "all_reduce"):
        return None
    numbers = whole_numbers(ranks_span(row.halves, "all_reduce", divided))
    return numbers[0] if len(numbers) == 1 and numbers[0] > 1 else None


def _table(section: Section, run: Sequence[PrintedRow], last: bool, alone: bool) -> Table:
    reading = _read(section, run)
    rows, refused = checked(reading)
    dropped = refused + [remark("links.zero_bytes", row.line) for row in run if row.size_bytes == 0]
    wrong = [entry for entry in refused if entry.code == WRONG]
    failed = last and section.wrong_values
    warnings = [*_corruption(len(wrong), failed), *reading.warnings, *_row_warnings(rows, refused)]
    sized = sum(row.size_bytes > 0 for row in run)
    if 2 * len(rows) < sized:
        warnings.append(remark("links.few_rows_hold", rows=len(rows), of=sized))
    if not alone:
        warnings.append(remark("links.several_runs"))
    if last:
        dropped += section.dropped
        warnings += _section_warnings(section)
    return Table(
        op=reading.op,
        ranks=reading.ranks,
        rows=tuple(rows),
        dropped=tuple(sorted(dropped, key=lambda entry: entry.line)),
        warnings=tuple(warnings),
        trusted=reading.trusted and bool(rows) and 2 * len(rows) >= sized,
        nodes=nodes_of(section),
        gpu=next((device.name for device in section.devices if device.name), ""),
        wrong_sums=len(wrong),
        corrupts=bool(wrong) or failed,
    )


def _corruption(wrong: int, failed: bool) -> list[Remark]:
    """The headline of a table whose own check found wrong sums: no link is to be read before that is mended."""
    if wrong:
        return [remark("links.corrupts", rows=wrong)]
    return [remark("links.corrupts_somewhere")] if failed else []


def _empty(section: Section) -> Table:
    """The table of a run that printed no usable row."""
    return Table(
        op=section.op,
        ranks=listed_ranks(section),
        rows=(),
        dropped=tuple(section.dropped),
        warnings=(remark("links.unread" if section.dropped else "links.stopped"), *_section_warnings(section)),
        trusted=False,
        nodes=nodes_of(section),
    )


def _read(section: Section, run: Sequence[PrintedRow]) -> Reading:
    """Unit, test and ranks of a run, with the doubts met on the way."""
    sized = [row for row in run if row.size_bytes > 0]
    op, doubts = op_of(section, sized)
    convention = convention_of(sized, section.header, op)
    ranks, more_doubts = ranks_of(section, sized, op, convention)
    contradiction = contradiction_of(sized, op, ranks, convention)
    if contradiction:
        ranks, more_doubts = listed_ranks(section), [contradiction]
    if convention.unit_us == MILLISECONDS:
        doubts.append(remark("links.milliseconds", year=2019))
    if convention.divided_by > 1 and op != "hypercube":
        doubts.append(remark("links.share_of_algbw", year=2020))
    if ranks == 1:
        doubts.append(remark("links.one_rank"))
    return Reading(
        section=section,
        rows=tuple(run),
        convention=convention,
        op=op,
        ranks=ranks,
        share=common_share(sized),
        warnings=(*doubts, *more_doubts),
        trusted=not contradiction and ranks != 1,
    )


def _row_warnings(rows: Sequence[Row], refused: Sequence[Remark]) -> list[Remark]:
    """What the rows as a whole leave to be said."""
    warnings = []
    lone = [row.line for row in rows if row.in_place_us is None]
    if rows and rows[-1].line in lone and len(lone) == 1 < len(rows) and not refused:
        warnings.append(remark("links.last_row_cut", lone[0], number=lone[0]))
    elif 2 * len(lone) < len(rows) and (first := next(iter(lone), None)) and not refused:
        warnings.append(remark("links.halves_missing", first, rows=len(lone), number=first))
    if refused:
        lines = sorted({entry.line for entry in refused})[:6]
        code = "links.left_out_lines" if len(lines) > 1 else "links.left_out_line"
        warnings.append(remark(code, lines=", ".join(map(str, lines))))
    if rows and all(row.out_of_place_us is None for row in rows):
        warnings.append(remark("links.in_place_used"))
    return warnings


def _without_last_figure(section: Section) -> PrintedRow | None:
    """The last row, where it alone ends before its in-place half's error column."""
    open_ended = [row for row in section.rows if row.in_place is not None and row.in_place.wrong is None]
    alone = section.has_errors and len(open_ended) == 1 < len(section.rows)
    return open_ended[0] if alone and open_ended[0] is section.rows[-1] else None


def _section_warnings(section: Section) -> list[Remark]:
    """What is to be said of a section as a whole: a run that failed, rows missing, ranks that share a GPU."""
    warnings = []
    if section.wrong_values:
        warnings.append(remark("links.check_failed"))
    elif section.failure:
        warnings.append(remark("links.run_failed", failure=section.failure))
    if section.cut_line is not None:
        warnings.append(remark("links.table_cut", section.cut_line, number=section.cut_line))
    elif (row := _without_last_figure(section)) is not None:
        warnings.append(remark("links.last_figure_cut", row.line, number=row.line))
    asked, here = section.asked_rows, len(section.rows) + len(section.dropped)
    if section.elisions:
        warnings.append(remark("links.elided", section.elisions[0], number=section.elisions[0]))
    elif asked is not None and section.rows and here < asked:
        warnings.append(remark("links.rows_missing", asked=asked, here=here))
    mean, printed = mean_busbw(section.rows), section.average_busbw
    halved = any(len(row.halves) < 2 for row in section.rows)
    slack = 0.05 if halved else 0.002
    if (
        mean is not None
        and printed is not None
        and not section.elisions
        and abs(mean - printed) > slack * printed + 0.006
    ):
        warnings.append(remark("links.average_differs", printed=printed, mean=mean))
    # a bus without its domain, as older versions print it, may stand for several GPUs
    ranks = Counter(device.place for device in section.devices if device.host)
    if twice := [rank for rank, count in ranks.items() if count > 1]:
        domains = any(":" in rank.split()[-1] for rank in twice)
        warnings.append(remark("links.shared_gpu" if domains else "links.shared_bus"))
    return warnings
