"""Which test a table is of, and between how many ranks: what the text says, held against what the figures say."""

from collections.abc import Sequence
from math import inf

from core.errors import Remark, remark
from core.links.nccl_tests.figures import (
    SHARED,
    Convention,
    ranks_span,
    shares_of,
    whole_numbers,
)
from core.links.nccl_tests.records import Half, PrintedRow
from core.links.nccl_tests.streams import Section

TOLD_BY_RATIO = 64
"""Ranks up to which busbw / algbw is believed against a device list; beyond, it is near its limit."""


def op_of(section: Section, rows: Sequence[PrintedRow]) -> tuple[str | None, list[Remark]]:
    """The test: its name where the text has it, else what the columns can only be."""
    if section.op is not None:
        return section.op, []
    guess = _op_by_columns(section, rows)
    if guess is None:
        return section.weak_op, [remark("links.op_unknown")]
    if guess == "sendrecv":
        return guess, [remark("links.op_sendrecv")]
    if guess == "gather" and section.weak_op is None:
        return guess, [remark("links.op_gather")]
    if guess == "all_gather" and section.weak_op not in SHARED and not _is_surely_all_gather(section, rows):
        return guess, [remark("links.op_all_gather")]
    if guess != "all_gather" or section.weak_op == guess or section.weak_op not in SHARED:
        return guess, []
    return section.weak_op, [remark("links.op_nearby", op=section.weak_op)]


def _is_surely_all_gather(section: Section, rows: Sequence[PrintedRow]) -> bool:
    """Whether an all-to-all is ruled out: it has a redop column, and its in-place half is never checked."""
    checked = any(row.in_place is not None and row.in_place.wrong not in (None, "N/A") for row in rows)
    return checked or bool(section.header and "redop" not in section.columns)


def _op_by_columns(section: Section, rows: Sequence[PrintedRow]) -> str | None:
    """The collective that count, redop and root belong to.

    A count of n/(N·bytes) is a rank's share: summed it is a reduce-scatter, not summed an all-gather, or an
    all-to-all where in-place is never checked. A root is a broadcast's or a reduce's.
    """
    shares = shares_of(rows)
    redops = {row.redop for row in rows}
    summed = bool(redops - {None, "none"})
    # a heading of the old kind has a root column for a broadcast and a reduce alone
    roots = sum(row.root is not None and row.root >= 0 for row in rows)
    rooted = {"root", "error"} <= section.columns or 2 * roots > len(rows)
    if sum(share > 1 for share in shares) > len(shares) / 2:
        blank = redops == {None} and "redop" in section.columns
        if summed:
            return "reduce_scatter"
        if rooted:
            return "gather"
        return "alltoall" if blank or _checks_no_in_place(rows) else "all_gather"
    if summed and not rooted:
        return "sendrecv" if _is_sendrecv(section, rows) else "all_reduce"
    if summed:
        return "reduce"
    return "broadcast" if rooted else None


def _is_sendrecv(section: Section, rows: Sequence[PrintedRow]) -> bool:
    """Whether summed rows are a sendrecv's: busbw is algbw, which an all-reduce has at two ranks only.

    And more ranks are listed, or no in-place half was checked where each out-of-place half was.
    """
    halves = [half for row in rows for half in row.halves]
    if max((half.algbw for half in halves), default=0.0) < 1 or any(half.busbw != half.algbw for half in halves):
        return False
    return _checks_no_in_place(rows) or (listed_ranks(section) or 0) > 2


def _checks_no_in_place(rows: Sequence[PrintedRow]) -> bool:
    """Whether out-of-place results were checked and no in-place one was."""
    both = [(row.out_of_place.wrong, row.in_place.wrong) for row in rows if row.out_of_place and row.in_place]
    seconds = {second for _, second in both}
    return "N/A" in seconds <= {"N/A", None} and all(first != "N/A" for first, _ in both)


def ranks_of(
    section: Section, rows: Sequence[PrintedRow], op: str | None, convention: Convention
) -> tuple[int | None, list[Remark]]:
    """The number of ranks: by a rank's share of the size, by busbw / algbw, else by the device list."""
    listed = listed_ranks(section)
    shares = [share for share in shares_of(rows) if share > 1]
    if op in SHARED and shares:
        return _held_against(max(set(shares), key=shares.count), listed)
    halves = [half for row in rows for half in row.halves]
    if _silent(halves) and listed in (None, 1):
        return 1, []
    if op in ("broadcast", "reduce", "sendrecv", None):
        return listed, [] if listed else [remark("links.ranks_hidden")]
    return _by_ratio(ranks_span(halves, op, convention.divided_by > 1), listed)


def _by_ratio(span: tuple[float, float], listed: int | None) -> tuple[int | None, list[Remark]]:
    """The ranks that busbw / algbw allows: the listed one if it is among them, the only one if there is one."""
    numbers, middle = whole_numbers(span), _middle(span)
    if listed is not None and (
        span[0] <= listed <= span[1] or (middle is None and min(listed, span[0]) > TOLD_BY_RATIO)
    ):
        return listed, []
    if len(numbers) == 1:
        return _held_against(numbers[0], listed)
    if listed is not None and middle is not None:
        return _held_against(middle, listed)
    if middle is not None:
        return middle, [remark("links.ranks_about", ranks=middle)]
    if listed is not None:
        return None, [remark("links.ranks_ruled_out", listed=listed)]
    return None, [remark("links.ranks_untold")]


def _held_against(told: int, listed: int | None) -> tuple[int, list[Remark]]:
    """What the figures tell beside what the text lists: the figures are believed, as far as they can be exact."""
    if listed is None or listed == told:
        return told, []
    if min(listed, told) > TOLD_BY_RATIO:
        return listed, [remark("links.ranks_too_many", listed=listed, told=told)]
    return told, [remark("links.ranks_believed", listed=listed, told=told)]


def _silent(halves: Sequence[Half]) -> bool:
    """Whether busbw stays 0 though algbw does not: one rank talks to nobody."""
    return max((half.algbw for half in halves), default=0.0) >= 0.1 and all(half.busbw == 0 for half in halves)


def _middle(span: tuple[float, float]) -> int | None:
    """The nearest whole number of a span of ranks narrow enough to name one, to a tenth."""
    low, high = span
    return round((low + high) / 2) if low > 1.5 and high < inf and high - low < 0.1 * low else None


def listed_ranks(section: Section) -> int | None:
    """Ranks by the device list, the library's own line, or the GPUs of a single process, whichever lists most."""
    by_devices = max((device.rank + 1 for device in section.devices), default=0)
    by_process = section.process_gpus if section.process_gpus and section.process_gpus > 1 else 0
    if by_devices or section.nranks is None:
        return max(by_devices, by_process) or None
    return section.nranks


def nodes_of(section: Section) -> int | None:
    """Hosts of the device list; unknown where it names none, or is too short to tell one from several."""
    hosts = {device.host for device in section.devices}
    whole = len(section.devices) == listed_ranks(section)
    return len(hosts) if hosts and "" not in hosts and (whole or len(hosts) > 1) else None


def contradiction_of(
    rows: Sequence[PrintedRow], op: str | None, ranks: int | None, convention: Convention
) -> Remark | None:
    """Why the figures cannot be of this test at all."""
    strong = [half for row in rows for half in row.halves if half.algbw >= 1]
    if not strong or ranks == 1 or op is None:
        return None
    below = sum(half.busbw < 0.998 * half.algbw - 0.02 for half in strong)
    above = sum(half.busbw > 1.002 * half.algbw + 0.02 for half in strong)
    if op == "all_reduce" and 2 * below > len(strong):
        return remark("links.busbw_below")
    if op in SHARED and convention.divided_by == 1 and 2 * above > len(strong):
        return remark("links.busbw_above", op=op)
    whole = [row for row in rows if row.share == 1]
    if op in SHARED and len(whole) > len(rows) / 2:
        return remark("links.counts_whole", op=op)
    return None
