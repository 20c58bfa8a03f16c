"""From a section to tables that can be trusted, each line that was dropped and each doubt in a sentence."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.links.nccl_tests.doubts import section_warnings
from core.links.nccl_tests.figures import (
    MILLISECONDS,
    Convention,
    bus_factor,
    common_share,
    complaint,
    convention_of,
    halves_of,
    ranks_span,
    share_of,
    shares_of,
    whole_numbers,
)
from core.links.nccl_tests.identity import contradiction_of, listed_ranks, nodes_of, op_of, ranks_of
from core.links.nccl_tests.records import Dropped, Half, PrintedRow, Row, Table
from core.links.nccl_tests.streams import Section


@dataclass(frozen=True)
class _Reading:
    """A run of rows with what was concluded of it so far."""

    rows: tuple[PrintedRow, ...]
    convention: Convention
    op: str | None
    ranks: int | None
    share: int | None
    counts_wrong: bool
    of_the_cpu: bool
    warnings: tuple[str, ...]
    trusted: bool


def tables_of(section: Section) -> tuple[Table, ...]:
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
    known = [ranks for ranks in told if ranks is not None]
    if len(set(known)) < 2 or max(known.count(ranks) for ranks in known) >= 0.7 * len(known):
        return [run]
    parts: dict[int, list[PrintedRow]] = {}
    current = known[0]
    for row, ranks in zip(run, told, strict=True):
        current = current if ranks is None else ranks
        parts.setdefault(current, []).append(row)
    return list(parts.values())


def _tells_one(run: Sequence[PrintedRow]) -> bool:
    """Whether the rows plainly agree: one share, and one ratio wherever bandwidths are large enough to show it."""
    if len(set(shares_of(run)) - {0}) > 1:
        return False
    large = [half for row in run for half in halves_of(row) if half.algbw >= 10]
    ratios = [half.busbw / half.algbw for half in large]
    return not ratios or max(ratios) - min(ratios) < 0.004


def _told_ranks(row: PrintedRow, op: str | None, divided: bool) -> int | None:
    """The ranks that one row tells of by itself, if it tells of one number only."""
    share = share_of(row)
    if share is not None and share > 1:
        return share
    if op not in (None, "all_reduce"):
        return None
    numbers = whole_numbers(ranks_span(halves_of(row), "all_reduce", divided))
    return numbers[0] if len(numbers) == 1 and numbers[0] > 1 else None


def _table(section: Section, run: Sequence[PrintedRow], last: bool, alone: bool) -> Table:
    reading = _read(section, run)
    rows, refused = _checked(reading)
    dropped = refused + [Dropped(row.line, "zero bytes: nothing was sent") for row in run if row.size_bytes == 0]
    warnings = [*reading.warnings, *_row_warnings(rows, refused)]
    sized = sum(row.size_bytes > 0 for row in run)
    if 2 * len(rows) < sized:
        warnings.append(f"only {len(rows)} of {sized} rows hold: the table as a whole is not to be trusted")
    if not alone:
        warnings.append("several runs stood in one table; each is read by itself")
    if last:
        dropped += section.dropped
        warnings += section_warnings(section)
    dropped.sort(key=lambda entry: entry.line)
    return Table(
        op=reading.op,
        ranks=reading.ranks,
        rows=tuple(rows),
        dropped=tuple(dropped),
        warnings=tuple(warnings),
        trusted=reading.trusted and bool(rows) and 2 * len(rows) >= sized,
        nodes=nodes_of(section),
        gpu=next((device.name for device in section.devices if device.name), ""),
    )


def _empty(section: Section) -> Table:
    """The table of a run that printed no usable row."""
    warning = "no row could be read" if section.dropped else "the run stopped before its first row"
    return Table(
        op=section.op,
        ranks=listed_ranks(section),
        rows=(),
        dropped=tuple(section.dropped),
        warnings=(f"{warning}: there is nothing to fit", *section_warnings(section)),
        trusted=False,
        nodes=nodes_of(section),
    )


def _read(section: Section, run: Sequence[PrintedRow]) -> _Reading:
    """Unit, test and ranks of a run, with the doubts met on the way."""
    sized = [row for row in run if row.size_bytes > 0]
    op, doubts = op_of(section, sized)
    convention = convention_of(sized, section.header, op)
    ranks, more_doubts = ranks_of(section, sized, op, convention)
    contradiction = contradiction_of(sized, op, ranks, convention)
    if contradiction:
        ranks, more_doubts = listed_ranks(section), []
    if convention.unit_us == MILLISECONDS:
        doubts.append("times are in milliseconds, as nccl-tests printed them in 2019; read as such")
    if convention.divided_by > 1 and op != "hypercube":
        doubts.append("algbw is a rank's share, as before mid-2020: times are used, bandwidths are not to be mixed")
    if ranks == 1:
        doubts.append("one rank: nothing is sent to another, so there is no link to fit")
    if contradiction:
        more_doubts.append(contradiction)
    return _Reading(
        rows=tuple(run),
        convention=convention,
        op=op,
        ranks=ranks,
        share=common_share(sized),
        counts_wrong="#wrong" in (section.header or ""),
        of_the_cpu="cputime" in (section.header or ""),
        warnings=tuple(doubts + more_doubts),
        trusted=not contradiction and ranks != 1,
    )


def _checked(reading: _Reading) -> tuple[list[Row], list[Dropped]]:
    """The rows that agree with themselves and with the table, and why each of the others does not."""
    rows: list[Row] = []
    dropped: list[Dropped] = []
    for row in reading.rows:
        if row.size_bytes == 0:
            continue
        reasons = [_reason(half, row, reading) for half in (row.out_of_place, row.in_place)]
        times = [
            half.time * reading.convention.unit_us if half is not None and reason is None else None
            for half, reason in zip((row.out_of_place, row.in_place), reasons, strict=True)
        ]
        dropped += _said(row, reasons)
        if times != [None, None]:
            rows.append(Row(row.line, row.size_bytes, times[0], times[1]))
    return rows, dropped


def _said(row: PrintedRow, reasons: Sequence[str | None]) -> list[Dropped]:
    """The reasons of a row's halves, one line each, one for both where they are the same."""
    names = ("out-of-place", "in-place")
    if reasons[0] is not None and reasons[0] == reasons[1]:
        return [Dropped(row.line, reasons[0])]
    return [
        Dropped(row.line, f"{name} half: {reason}") for name, reason in zip(names, reasons, strict=True) if reason
    ]


def _reason(half: Half | None, row: PrintedRow, reading: _Reading) -> str | None:
    """Why one half of a row is not taken."""
    if half is None:
        return None
    if reading.of_the_cpu:
        return "its time is that of the CPU's call (cputime), not of what was sent"
    if reading.share is not None and share_of(row) != reading.share:
        return f"{row.size_bytes} B is not {row.elements} elements as in the other rows: the row contradicts itself"
    if half.wrong not in (None, "0", "N/A") and _is_wrong(half.wrong, reading.counts_wrong):
        return f"its result was wrong ({half.wrong})"
    said = complaint(half, row.size_bytes, reading.convention)
    if said is not None or reading.ranks is None or not reading.trusted or reading.convention.divided_by > 1:
        return said
    factor = bus_factor(reading.op, reading.ranks)
    apart = abs(half.algbw * factor - half.busbw) - 0.01 * half.busbw
    if reading.op is not None and apart > 0.01 and apart > half.rounding(1) * factor + half.rounding(2):
        return (
            f"busbw {half.busbw:g} GB/s over algbw {half.algbw:g} GB/s is not the factor of {reading.ranks} ranks"
        )
    return None


def _is_wrong(text: str, counts: bool) -> bool:
    """Whether an error column reports a failed check: a count above 0, or an asterisk. 1e-07 is rounding.

    A large count is written 2.62144e+07. So is the error of old versions, but in one figure, and for in-place
    halves that nothing is known to be wrong with: without a decimal point it counts where the heading says #wrong.
    """
    if text.endswith("*"):
        return True
    if "e" in text:
        return float(text) >= 1 and (counts or "." in text)
    return text.isdigit() and int(text) > 0


def _row_warnings(rows: Sequence[Row], refused: Sequence[Dropped]) -> list[str]:
    """What the rows as a whole leave to be said."""
    warnings = []
    lone = [row.line for row in rows if row.in_place_us is None]
    if rows and rows[-1].line in lone and len(lone) == 1 < len(rows) and not refused:
        warnings.append(f"the last row (line {lone[0]}) has no in-place half: the table seems to be cut there")
    if refused:
        lines = ", ".join(str(line) for line in sorted({entry.line for entry in refused})[:6])
        warnings.append(f"figures that do not hold are left out, in line{'s' if ',' in lines else ''} {lines}")
    if rows and all(row.out_of_place_us is None for row in rows):
        warnings.append("out-of-place times are missing: in-place times are used")
    return warnings
