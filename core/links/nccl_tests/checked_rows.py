"""The rows of a run that agree with themselves and with their table, and why each of the others does not.

A row whose own check found wrong values is left out whole: its other half went over the same wires.
"""

from dataclasses import dataclass

from core.errors import Remark, remark
from core.links.nccl_tests.figures import Convention, bus_factor, complaint
from core.links.nccl_tests.records import Half, PrintedRow, Row
from core.links.nccl_tests.streams import Section
from core.text.numbers import figure

WRONG = "links.wrong_result"


@dataclass(frozen=True)
class Reading:
    """A run of rows with what was concluded of it so far."""

    section: Section
    rows: tuple[PrintedRow, ...]
    convention: Convention
    op: str | None
    ranks: int | None
    share: int | None
    warnings: tuple[Remark, ...]
    trusted: bool


def checked(reading: Reading) -> tuple[list[Row], list[Remark]]:
    """The rows that agree with themselves and with the table, and why each of the others does not."""
    rows: list[Row] = []
    dropped: list[Remark] = []
    for row in reading.rows:
        if row.size_bytes == 0:
            continue
        halves = (row.out_of_place, row.in_place)
        first, second = reasons = [_reason(half, row, reading) for half in halves]
        times = [
            half.time * reading.convention.unit_us if half is not None and reason is None else None
            for half, reason in zip(halves, reasons, strict=True)
        ]
        corrupt = next((reason for reason in reasons if reason is not None and reason.code == WRONG), None)
        if corrupt is not None:  # the other half went over the same wires
            dropped.append(corrupt)
            continue
        if first is not None and first == second:
            dropped.append(first)
        else:
            named = (("links.out_of_place_half", first), ("links.in_place_half", second))
            dropped += [remark(code, row.line, reason=reason) for code, reason in named if reason is not None]
        if times != [None, None]:
            rows.append(Row(row.line, row.size_bytes, *times))
    return rows, dropped


def _reason(half: Half | None, row: PrintedRow, reading: Reading) -> Remark | None:
    """Why one half of a row is not taken."""
    if half is None:
        return None
    header = reading.section.header
    if "cputime" in header:
        return remark("links.cpu_time", row.line)
    if reading.share is not None and row.share != reading.share:
        return remark("links.size_is_not_count", row.line, size_bytes=row.size_bytes, elements=row.elements)
    if half.wrong not in (None, "0", "N/A") and _is_wrong(half.wrong, "#wrong" in header):
        return remark(WRONG, row.line, wrong=half.wrong)
    reason = complaint(half, row, reading.convention)
    if reason is not None or reading.ranks is None or not reading.trusted or reading.convention.divided_by > 1:
        return reason
    factor = bus_factor(reading.op, reading.ranks)
    apart = abs(half.algbw * factor - half.busbw) - 0.01 * half.busbw
    if reading.op is not None and apart > 0.01 and apart > half.rounding(1) * factor + half.rounding(2):
        return remark("links.not_the_factor", row.line, busbw=half.busbw, algbw=half.algbw, ranks=reading.ranks)
    return None


def _is_wrong(text: str, counts: bool) -> bool:
    """Whether an error column reports a failed check: a count above 0, or an asterisk. 1e-07 is rounding.

    A large count is written 2.62144e+07. So is the error of old versions, but in one figure, and for in-place
    halves that nothing is known to be wrong with: without a decimal point it counts where the heading says #wrong.
    """
    if text.endswith("*") or "nan" in text or "inf" in text:
        return True
    if "e" in text:
        return figure(text) >= 1 and (counts or "." in text)
    return text.isdecimal() and text.strip("0") != ""
