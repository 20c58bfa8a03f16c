"""From a section to tables that can be trusted, each line that was dropped and each doubt in a sentence."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf

from core.nccl_tests.figures import (
    MILLISECONDS,
    SHARED,
    Convention,
    bus_factor,
    complaint,
    convention_of,
    halves_of,
    mean_busbw,
    ranks_span,
    share_of,
    whole_numbers,
)
from core.nccl_tests.records import Dropped, Half, PrintedRow, Row, Table
from core.nccl_tests.sections import Section, asked_rows

TOLD_BY_RATIO = 64
"""Ranks up to which busbw / algbw is believed against a device list; beyond, it is near its limit."""


@dataclass(frozen=True)
class _Reading:
    """A run of rows with what was concluded of it so far."""

    rows: tuple[PrintedRow, ...]
    convention: Convention
    op: str | None
    ranks: int | None
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
    """Rows in stretches whose sizes go one way: a size that turns back begins another run."""
    runs: list[list[PrintedRow]] = []
    direction = 0
    for row in rows:
        step = (
            (row.size_bytes > runs[-1][-1].size_bytes) - (row.size_bytes < runs[-1][-1].size_bytes) if runs else 0
        )
        if not runs or (step and direction and step != direction):
            runs.append([])
            direction = step = 0
        runs[-1].append(row)
        direction = direction or step
    return runs


def _by_ranks(run: list[PrintedRow], section: Section) -> list[list[PrintedRow]]:
    """A run cut where its rows tell of different numbers of ranks, unless one number is the rule."""
    divided = convention_of(run).divided_by > 1
    told = [_told_ranks(row, section.op, divided) for row in run]
    known = [ranks for ranks in told if ranks is not None]
    if len(set(known)) < 2 or max(known.count(ranks) for ranks in known) >= 0.7 * len(known):
        return [run]
    parts: list[list[PrintedRow]] = []
    current: int | None = None
    for row, ranks in zip(run, told, strict=True):
        if not parts or (ranks is not None and current is not None and ranks != current):
            parts.append([])
            current = None
        parts[-1].append(row)
        current = ranks if ranks is not None else current
    return parts


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
    rows, dropped = _checked(reading)
    warnings = [*reading.warnings, *_row_warnings(run, rows, dropped, reading)]
    if not alone:
        warnings.append("several runs stood in one table; each is read by itself")
    if last:
        dropped = sorted([*section.dropped, *dropped], key=lambda entry: entry.line)
        warnings += _section_warnings(section)
    return Table(
        op=reading.op,
        ranks=reading.ranks,
        rows=tuple(rows),
        dropped=tuple(dropped),
        warnings=tuple(warnings),
        trusted=reading.trusted and bool(rows),
        nodes=_nodes(section),
        gpu=next((device.name for device in section.devices if device.name), ""),
    )


def _empty(section: Section) -> Table:
    """The table of a run that printed no usable row."""
    warning = "no row could be read" if section.dropped else "the run stopped before its first row"
    return Table(
        op=section.op,
        ranks=_listed_ranks(section),
        rows=(),
        dropped=tuple(section.dropped),
        warnings=(f"{warning}: there is nothing to fit", *_section_warnings(section)),
        trusted=False,
        nodes=_nodes(section),
    )


def _read(section: Section, run: Sequence[PrintedRow]) -> _Reading:
    """Unit, test and ranks of a run, with the doubts met on the way."""
    sized = [row for row in run if row.size_bytes > 0]
    convention = convention_of(sized)
    op, doubts = _op(section, sized)
    ranks, more_doubts = _ranks(section, sized, op, convention)
    contradiction = _contradiction(sized, op, ranks, convention)
    if contradiction:
        ranks, more_doubts = _listed_ranks(section), []
    if convention.unit_us == MILLISECONDS:
        doubts.append("times are in milliseconds, as nccl-tests printed them in 2019; read as such")
    if convention.divided_by > 1:
        doubts.append("algbw is a rank's share, as before mid-2020: times are used, bandwidths are not to be mixed")
    if ranks == 1:
        doubts.append("one rank: nothing is sent and busbw is 0, so there is no link to fit")
    if contradiction:
        more_doubts.append(contradiction)
    return _Reading(
        rows=tuple(run),
        convention=convention,
        op=op,
        ranks=ranks,
        warnings=tuple(doubts + more_doubts),
        trusted=not contradiction and ranks != 1,
    )


def _op(section: Section, rows: Sequence[PrintedRow]) -> tuple[str | None, list[str]]:
    """The test: its name where the text has it, else what the columns can only be."""
    if section.op is not None:
        return section.op, []
    guess = _op_by_columns(section, rows)
    if guess is None:
        return section.weak_op, ["neither the text nor the columns say which collective this is"]
    if guess != "all_gather" or section.weak_op in (None, guess):
        return guess, []
    return section.weak_op, [f"the columns would fit all_gather as well; {section.weak_op} is named nearby"]


def _op_by_columns(section: Section, rows: Sequence[PrintedRow]) -> str | None:
    """The collective that count, redop and root belong to.

    A count of n/(N·bytes) is a rank's share: summed it is a reduce-scatter, not summed an all-gather, or an
    all-to-all where in-place is never checked. A root is a broadcast's or a reduce's.
    """
    shares = [share for row in rows if (share := share_of(row)) is not None]
    redops = {row.redop for row in rows}
    summed = bool(redops - {None, "none"})
    if sum(share > 1 for share in shares) > len(shares) / 2:
        unchecked = [row for row in rows if row.in_place and row.out_of_place and row.in_place.wrong == "N/A"]
        only_in_place = [row for row in unchecked if row.out_of_place and row.out_of_place.wrong != "N/A"]
        blank = redops == {None} and section.header is not None and "redop" in section.header
        if summed:
            return "reduce_scatter"
        return "alltoall" if blank or (only_in_place and len(only_in_place) == len(rows)) else "all_gather"
    rooted = any(row.root is not None and row.root >= 0 for row in rows)
    if summed:
        return "reduce" if rooted else "all_reduce"
    return "broadcast" if rooted else None


def _ranks(
    section: Section, rows: Sequence[PrintedRow], op: str | None, convention: Convention
) -> tuple[int | None, list[str]]:
    """The number of ranks: by a rank's share of the size, by busbw / algbw, else by the device list."""
    listed = _listed_ranks(section)
    shares = [share for row in rows if (share := share_of(row)) is not None and share > 1]
    if op in SHARED and shares:
        found: int | None = max(set(shares), key=shares.count)
    else:
        halves = [half for row in rows for half in halves_of(row)]
        if _silent(halves) and listed in (None, 1):
            return 1, []
        if op in ("broadcast", "reduce", "sendrecv", None):
            return listed, [] if listed else ["the number of ranks is not in the text, and busbw = algbw hides it"]
        span = ranks_span(halves, op, convention.divided_by > 1)
        numbers = whole_numbers(span)
        if listed is not None and span[0] <= listed <= span[1]:
            return listed, []
        found = numbers[0] if len(numbers) == 1 else _middle(span)
    if found is None:
        return listed, [] if listed else ["no row is large enough to tell the number of ranks from busbw / algbw"]
    if listed is not None and listed != found and min(listed, found) > TOLD_BY_RATIO:
        return listed, [
            f"the text lists {listed} ranks and busbw / algbw tells {found}, too many for it to be sure"
        ]
    if listed is not None and listed != found:
        return found, [
            f"the text lists {listed} ranks, but its figures are those of {found}: the figures are believed"
        ]
    return found, []


def _silent(halves: Sequence[Half]) -> bool:
    """Whether busbw stays 0 though algbw does not: one rank talks to nobody."""
    return max((half.algbw for half in halves), default=0.0) >= 0.1 and all(half.busbw == 0 for half in halves)


def _middle(span: tuple[float, float]) -> int | None:
    """The nearest whole number of a span of ranks narrow enough to name one, to a tenth."""
    low, high = span
    return round((low + high) / 2) if low > 1.5 and high < inf and high - low < 0.1 * low else None


def _listed_ranks(section: Section) -> int | None:
    """Ranks by the device list, the library's own line, or the GPUs of a single process."""
    if section.devices:
        return max(device.rank for device in section.devices) + 1
    if section.nranks is not None:
        return section.nranks
    return section.process_gpus if section.process_gpus and section.process_gpus > 1 else None


def _nodes(section: Section) -> int | None:
    """Hosts of the device list; unknown where it names none, or is too short to tell one from several."""
    hosts = {device.host for device in section.devices}
    whole = len(section.devices) == _listed_ranks(section)
    return len(hosts) if hosts and "" not in hosts and (whole or len(hosts) > 1) else None


def _contradiction(
    rows: Sequence[PrintedRow], op: str | None, ranks: int | None, convention: Convention
) -> str | None:
    """Why the figures cannot be of this test at all."""
    strong = [half for row in rows for half in halves_of(row) if half.algbw >= 1]
    if not strong or ranks == 1 or op is None:
        return None
    if op == "all_reduce" and any(half.busbw < 0.998 * half.algbw - 0.02 for half in strong):
        return (
            "busbw is below algbw, which no all-reduce prints: the table is mislabelled or edited, and not fitted"
        )
    if (
        op in SHARED
        and convention.divided_by == 1
        and any(half.busbw > 1.002 * half.algbw + 0.02 for half in strong)
    ):
        return f"busbw is above algbw, which no {op} prints: the table is mislabelled or edited, and not fitted"
    whole = [row for row in rows if share_of(row) == 1]
    if op in SHARED and len(whole) > len(rows) / 2:
        return f"every count is the whole size, which no {op} prints: the table is mislabelled, and not fitted"
    shared = [row for row in rows if (share_of(row) or 0) > 1]
    if op == "all_reduce" and len(shared) > len(rows) / 2:
        return "every count is a rank's share, which no all-reduce prints: the table is mislabelled, and not fitted"
    return None


def _checked(reading: _Reading) -> tuple[list[Row], list[Dropped]]:
    """The rows that agree with themselves and with the table, and why each of the others does not."""
    rows: list[Row] = []
    dropped: list[Dropped] = []
    for row in reading.rows:
        reasons = [_reason(half, row, reading) for half in (row.out_of_place, row.in_place)]
        if row.size_bytes == 0:
            dropped.append(Dropped(row.line, "zero bytes: nothing was sent"))
            continue
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
    return [
        Dropped(row.line, f"{name} half: {reason}") for name, reason in zip(names, reasons, strict=True) if reason
    ]


def _reason(half: Half | None, row: PrintedRow, reading: _Reading) -> str | None:
    """Why one half of a row is not taken."""
    if half is None or row.size_bytes == 0:
        return None
    if half.wrong is not None and _is_wrong(half.wrong):
        return f"its result was wrong ({half.wrong})"
    said = complaint(half, row.size_bytes, reading.convention)
    if said is not None or reading.ranks is None or not reading.trusted or reading.convention.divided_by > 1:
        return said
    factor = bus_factor(reading.op, reading.ranks)
    blur = 10.0**-half.algbw_decimals * factor + 10.0**-half.busbw_decimals
    if reading.op is not None and abs(half.algbw * factor - half.busbw) > blur + 0.01 * half.busbw:
        return (
            f"busbw {half.busbw:g} GB/s over algbw {half.algbw:g} GB/s is not the factor of {reading.ranks} ranks"
        )
    return None


def _is_wrong(text: str) -> bool:
    """Whether an error column reports a failed check: a count above 0, or an asterisk. 1e-07 is rounding."""
    return text.endswith("*") or (text.isdigit() and int(text) > 0)


def _row_warnings(
    run: Sequence[PrintedRow], rows: Sequence[Row], dropped: Sequence[Dropped], reading: _Reading
) -> list[str]:
    """What the rows as a whole leave to be said."""
    sized = sum(row.size_bytes > 0 for row in run)
    refused = [entry for entry in dropped if "zero bytes" not in entry.reason]
    warnings = []
    if refused:
        lines = ", ".join(str(line) for line in sorted({entry.line for entry in refused})[:6])
        warnings.append(f"{len(refused)} halves of {sized} rows do not hold (lines {lines}); they are left out")
    if rows and all(row.out_of_place_us is None for row in rows):
        warnings.append("out-of-place times are missing: in-place times are used")
    return warnings


def _section_warnings(section: Section) -> list[str]:
    """Rows missing, a run that failed, ranks that share a GPU."""
    checks: tuple[Callable[[Section], str | None], ...] = (_failure, _cut, _elided, _missing, _average, _shared_gpu)
    return [said for check in checks if (said := check(section)) is not None]


def _failure(section: Section) -> str | None:
    if section.wrong_values:
        return "the run's own check failed: values out of bounds, so its times are of a wrong result"
    return f"the run failed: {section.failure}" if section.failure else None


def _cut(section: Section) -> str | None:
    cut = [entry.line for entry in section.dropped if "cut" in entry.reason]
    return f"the table is cut in the middle of a row (line {cut[-1]})" if cut else None


def _elided(section: Section) -> str | None:
    if not section.elisions:
        return None
    return f"rows were left out by whoever pasted this ('...' in line {section.elisions[0]})"


def _missing(section: Section) -> str | None:
    """Rows that the run was asked for and that are not here."""
    asked, found = asked_rows(section), len(section.rows) + len(section.dropped)
    if asked is None or not section.rows or found >= asked or section.elisions:
        return None
    return f"rows are missing: the run was asked for {asked} sizes, {found} are here"


def _average(section: Section) -> str | None:
    """Whether the footer's average is the mean of what is here, to its digits; rougher where a half is missing."""
    mean, printed = mean_busbw(section.rows), section.average_busbw
    if mean is None or printed is None or section.elisions:
        return None
    halved = any(row.in_place is None or row.out_of_place is None for row in section.rows)
    if abs(mean - printed) <= (0.05 if halved else 0.002) * printed + 0.006:
        return None
    return f"rows are missing or edited: the footer's average is {printed:g} GB/s, that of the rows here {mean:.4g}"


def _shared_gpu(section: Section) -> str | None:
    places = [device.place for device in section.devices if device.host]
    if len(set(places)) == len(places):
        return None
    return "two ranks share one GPU and take turns: what is measured is their turns, no link"
