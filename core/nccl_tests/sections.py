"""From lines to sections: which rows, device list, heading and footer belong to one run.

A section ends at its footer, and where a heading, a device list or another test's name follows rows. What
different processes print is kept apart by its label, so that a message between the pieces of a row breaks nothing.
"""

import re
from dataclasses import dataclass, field
from math import floor, log

from core.nccl_tests.lines import (
    BOTH_HALVES,
    FIRST_HALF,
    HEAD,
    REDOP,
    TYPE_BYTES,
    VALUES,
    before_message,
    clean,
    halves,
    is_placeholder,
    numbers_alone,
)
from core.nccl_tests.records import Device, Dropped, PrintedRow

OPS = {
    "all_reduce": "all_reduce",
    "allreduce": "all_reduce",
    "all_gather": "all_gather",
    "allgather": "all_gather",
    "reduce_scatter": "reduce_scatter",
    "reducescatter": "reduce_scatter",
    "alltoall": "alltoall",
    "all_to_all": "alltoall",
    "broadcast": "broadcast",
    "reduce": "reduce",
    "sendrecv": "sendrecv",
    "gather": "gather",
    "scatter": "scatter",
    "hypercube": "hypercube",
}
"""The tests under the names people write, as nccl-tests names them."""

_NAMES = "|".join(sorted(OPS, key=len, reverse=True))
_TEST = re.compile(rf"(?<![a-z])({_NAMES})_perf", re.IGNORECASE)
_COMPOUND = "|".join(name for name in OPS if name not in ("reduce", "gather", "scatter", "hypercube"))
_WORD = re.compile(rf"(?<![a-z_])({_COMPOUND})(?![a-z_])", re.IGNORECASE)
_INTERESTING = re.compile(
    r"nThread|Rank +\d|busbw|Avg bus|Out of bounds|nranks|^\W*(?:\.\.+|…|<snip>)\W*$|Reducing maxBytes|samples|"
    r"failure|Segmentation|error|FATAL|ABORT|Abort|abort|Killed|out of memory|exited|all|All|reduce|_perf|cast"
)
_ASKED = re.compile(r"minBytes (\d+) maxBytes (\d+) step: ?(\d+) ?\((factor|bytes)\)")
_GPUS = re.compile(r"nThread (\d+) nGpus (\d+)")
_DEVICE = re.compile(r"Rank\s+(\d+)\s.*?(?:\bon\s+(\S+)\s+)?device\s+(\d+)\s+\[([^\]]*)\]\s*(.*)")
_REDUCED = re.compile(r"Reducing maxBytes to (\d+)")
_AVERAGE = re.compile(r"Avg bus bandwidth\s*:\s*(\S+)")
_BOUNDS = re.compile(r"Out of bounds values\s*:\s*(\d+)\s+(\w+)")
_NRANKS = re.compile(r"\bnranks (\d+)")
_ELISION = re.compile(r"^[\W]*(?:\.\.+|…|\[\.\.\.\]|<snip>)[\W]*$")
_FAILURE = re.compile(
    r"Test (?:NCCL|CUDA|HIP) failure|Test failure|Segmentation fault|\bFATAL\b|Abort(?:ed|ing)|Killed|"
    r"out of memory|srun: error|exited with (?:exit )?code [1-9]|MPI_ABORT|unhandled (?:cuda|system) error|"
    r"remote process exited"
)
_GLOO = re.compile(r"elements\s+min \(us\).*samples")


@dataclass
class Section:
    """What belongs to one run of a test: its heading, its rows, its footer."""

    op: str | None = None
    weak_op: str | None = None
    started: bool = False
    header: str | None = None
    asked: tuple[int, int, int, str] | None = None
    most_bytes: int | None = None
    process_gpus: int | None = None
    nranks: int | None = None
    devices: list[Device] = field(default_factory=list)
    rows: list[PrintedRow] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)
    elisions: list[int] = field(default_factory=list)
    failure: str | None = None
    wrong_values: bool = False
    average_busbw: float | None = None
    closed: bool = False

    @property
    def has_rows(self) -> bool:
        """Whether figures, or what should have been figures, were met."""
        return bool(self.rows or self.dropped)


@dataclass
class _Pending:
    """A row whose second half, or whose every figure, may yet come on a later line."""

    line: int
    head: tuple[int, int, int, str | None]
    text: str
    place: int | None


@dataclass
class _Stream:
    """What one process has printed."""

    sections: list[Section] = field(default_factory=lambda: [Section()])
    pending: _Pending | None = None
    weak_op: str | None = None

    @property
    def section(self) -> Section:
        return self.sections[-1]

    def fresh(self, again: bool = False) -> Section:
        """The section that a heading belongs to: a new one after rows, or where the same was said before."""
        self.settle()
        if again or self.section.has_rows or self.section.closed:
            self.sections.append(Section(weak_op=self.weak_op))
        return self.section

    def settle(self) -> None:
        """Give up waiting for the rest of a row."""
        if self.pending is not None and (reason := _why_cut(self.pending)):
            self.section.dropped.append(Dropped(self.pending.line, reason))
        self.pending = None


@dataclass(frozen=True)
class Sections:
    """Every section of a text, and whether it holds a table of gloo's own benchmark."""

    sections: tuple[Section, ...]
    gloo: bool


def sections_of(text: str) -> Sections:
    """The sections of a text, in the order in which each process printed them.

    A line without a label belongs to the process that printed the last heading or row.
    """
    streams: dict[str, _Stream] = {}
    gloo, current = False, ""
    for number, raw in enumerate(text.splitlines(), start=1):
        line, label = clean(raw)
        stream = streams.get(label or current)
        if stream is None:
            stream = streams.setdefault(label, _Stream())
        heads = list(HEAD.finditer(line))
        if heads or "busbw" in line:
            current = label or current
        if heads:
            _take_rows(stream, number, line, heads)
        elif stream.pending is not None and (figures := numbers_alone(line)) is not None:
            _continue_row(stream, figures)
        elif _INTERESTING.search(line):
            gloo = gloo or _GLOO.search(line) is not None
            if not raw.startswith("## "):
                _take_remark(stream, number, line)
    for stream in streams.values():
        stream.settle()
    return Sections(tuple(section for stream in streams.values() for section in stream.sections), gloo)


def _take_rows(stream: _Stream, number: int, line: str, heads: list[re.Match[str]]) -> None:
    """The rows of one line: one, or several where line breaks were lost."""
    if stream.section.closed:
        stream.fresh()
    for head, following in zip(heads, [*heads[1:], None], strict=True):
        stream.settle()
        rest = line[head.end() : following.start() if following else None]
        redop = REDOP.match(rest)
        if redop is not None:
            rest = rest[redop.end() :]
        size, count, type_name = head.groups()
        key = (int(size), int(count), TYPE_BYTES[type_name], redop.group(1) if redop else None)
        match = VALUES.match(rest)
        if match is not None and match.group(6) is not None:
            stream.section.rows.append(_row(number, key, match))
        else:
            _take_part(stream, number, key, rest)


def _take_part(stream: _Stream, number: int, key: tuple[int, int, int, str | None], rest: str) -> None:
    """A row without its second half: as it is, as far as a message broke in, or as far as it was cut."""
    if is_placeholder(rest):
        stream.section.dropped.append(Dropped(number, "a placeholder stands where its figures should"))
        return
    text, _ = before_message(rest)
    match = VALUES.match(text) or BOTH_HALVES.match(text) or FIRST_HALF.match(text)
    if match is not None:
        stream.section.rows.append(_row(number, key, match))
    if match is None or match.re is not BOTH_HALVES:
        place = len(stream.section.rows) - 1 if match is not None else None
        stream.pending = _Pending(number, key, text.rstrip(), place)


def _continue_row(stream: _Stream, figures: str) -> None:
    """Figures alone on a line: the rest of a row that a message had cut in two, or nobody's."""
    pending = stream.pending
    assert pending is not None
    text = f"{pending.text} {figures}"
    match = VALUES.match(text)
    if match is None:
        if pending.place is None and FIRST_HALF.match(text) is None and len(text.split()) < 10:
            pending.text = text
        return
    row = _row(pending.line, pending.head, match)
    if pending.place is None:
        pending.place = len(stream.section.rows)
        stream.section.rows.append(row)
    else:
        stream.section.rows[pending.place] = row
    pending.text = text
    if row.in_place is not None:
        stream.pending = None


def _row(number: int, key: tuple[int, int, int, str | None], match: re.Match[str]) -> PrintedRow:
    size, count, type_bytes, redop = key
    root, out_of_place, in_place = halves(match)
    return PrintedRow(number, size, count, type_bytes, redop, root, out_of_place, in_place)


def _why_cut(pending: _Pending) -> str:
    """What is missing of a row that nothing completed; nothing, where it has one whole half and no more."""
    first = FIRST_HALF.match(pending.text)
    if pending.place is not None:
        whole = VALUES.match(pending.text) or (first and first.end() == len(pending.text))
        return "" if whole else "its in-place half is cut or not in figures; the out-of-place half is kept"
    if pending.text.strip():
        return f"the row is cut after {pending.text.split()[-1]!r}: no complete half is left"
    return f"the row of {pending.head[0]} bytes is cut before its figures"


def _take_remark(stream: _Stream, number: int, line: str) -> None:
    """A line that is no row: a heading, a device, a footer, a failure, or a word on which test it was."""
    for take in (_footer, _device, _heading, _asked, _test_name, _elision, _failed, _hint):
        if take(stream, number, line):
            return


def _footer(stream: _Stream, number: int, line: str) -> bool:
    bounds, average = _BOUNDS.search(line), _AVERAGE.search(line)
    if bounds is None and average is None:
        return False
    stream.settle()
    if bounds is not None:
        stream.section.wrong_values = bounds.group(2) != "OK" or bounds.group(1) != "0"
    if average is not None:
        stream.section.closed = True
        try:
            stream.section.average_busbw = float(average.group(1))
        except ValueError:
            stream.section.average_busbw = None
    return True


def _device(stream: _Stream, number: int, line: str) -> bool:
    match = _DEVICE.search(line)
    if match is None:
        return False
    rank, host, device, bus, name = match.groups()
    section = stream.fresh(again=any(device.rank == int(rank) for device in stream.section.devices))
    section.started = True
    section.devices.append(Device(int(rank), host or "", f"{host} {device} {bus}", name.strip()))
    return True


def _heading(stream: _Stream, number: int, line: str) -> bool:
    words = line.split()
    if "busbw" not in words or not {"size", "bytes"} & set(words):
        return False
    stream.fresh().header = line
    return True


def _asked(stream: _Stream, number: int, line: str) -> bool:
    reduced, gpus, asked = _REDUCED.search(line), _GPUS.search(line), _ASKED.search(line)
    if reduced is not None:
        stream.section.most_bytes = int(reduced.group(1))
    if gpus is None:
        return reduced is not None
    section = stream.fresh(again=stream.section.process_gpus is not None)
    section.started = True
    section.process_gpus = int(gpus.group(1)) * int(gpus.group(2))
    if asked is not None:
        smallest, largest, step, kind = asked.groups()
        section.asked = (int(smallest), int(largest), int(step), kind)
    return True


def asked_rows(section: Section) -> int | None:
    """How many sizes a run was asked for, memory allowing."""
    if section.asked is None:
        return None
    smallest, largest, step, kind = section.asked
    largest = min(largest, section.most_bytes or largest)
    if smallest < 1 or largest < smallest or step < (2 if kind == "factor" else 1):
        return None
    steps = log(largest / smallest) / log(step) if kind == "factor" else (largest - smallest) / step
    return floor(steps + 1e-9) + 1


def _test_name(stream: _Stream, number: int, line: str) -> bool:
    names = {OPS[name.lower()] for name in _TEST.findall(line)}
    if not names:
        return False
    if "concluded" not in line and len(names) == 1:
        starting = "starting" in line
        section = stream.fresh(again=starting and stream.section.process_gpus is not None)
        section.op = names.pop()
        section.started = section.started or starting
    return True


def _elision(stream: _Stream, number: int, line: str) -> bool:
    if _ELISION.match(line) is None:
        return False
    if stream.section.header is not None or stream.section.rows:
        stream.section.elisions.append(number)
    return True


def _failed(stream: _Stream, number: int, line: str) -> bool:
    if "NCCL INFO" in line or _FAILURE.search(line) is None:
        return False
    stream.section.failure = " ".join(line.split())[:120]
    return True


def _hint(stream: _Stream, number: int, line: str) -> bool:
    nranks = _NRANKS.search(line)
    if nranks is not None:
        section = stream.fresh() if stream.section.closed and "Destroy" not in line else stream.section
        section.nranks = int(nranks.group(1))
    elif "NCCL " not in line and (names := {OPS[name.lower()] for name in _WORD.findall(line)}):
        stream.weak_op = names.pop() if len(names) == 1 else None
        if not stream.section.has_rows:
            stream.section.weak_op = stream.weak_op
    return True
