"""What one process has printed so far: its sections, and the row that is not complete yet.

A section ends at its footer, and where a heading, a device list or another test's name follows rows.
"""

from dataclasses import dataclass, field
from math import floor, log

from core.errors import Remark, remark
from core.links.nccl_tests.lines import first_half_in
from core.links.nccl_tests.records import Device, PrintedRow


@dataclass
class Section:
    """What belongs to one run of a test: its heading, its rows, its footer."""

    op: str | None = None
    weak_op: str | None = None
    started: bool = False
    header: str = ""
    asked: tuple[int, int, int, str] | None = None
    most_bytes: int | None = None
    process_gpus: int | None = None
    nranks: int | None = None
    devices: list[Device] = field(default_factory=list)
    rows: list[PrintedRow] = field(default_factory=list)
    dropped: list[Remark] = field(default_factory=list)
    elisions: list[int] = field(default_factory=list)
    half_names: set[str] = field(default_factory=set)
    cut_line: int | None = None
    failure: str | None = None
    wrong_values: bool = False
    average_busbw: float | None = None
    closed: bool = False

    @property
    def columns(self) -> set[str]:
        """The names in the heading."""
        return set(self.header.split())

    @property
    def has_errors(self) -> bool:
        """Whether the heading has an error column: a number in its place is then no time of the other half."""
        return not {"#wrong", "error"}.isdisjoint(self.columns)

    @property
    def has_rows(self) -> bool:
        """Whether figures, or what should have been figures, were met."""
        return bool(self.rows or self.dropped)

    @property
    def expects_rows(self) -> bool:
        """Whether a run or a heading began and no row came yet."""
        return bool(self.started or self.devices or self.header) and not self.has_rows

    @property
    def takes_rows(self) -> bool:
        """Whether the next line may well be a row: a heading or a row came, and no footer."""
        return bool(self.header or self.has_rows) and not self.closed

    @property
    def asked_rows(self) -> int | None:
        """How many sizes the run was asked for, memory allowing."""
        if self.asked is None:
            return None
        smallest, largest, step, kind = self.asked
        largest = min(largest, self.most_bytes or largest)
        if smallest < 1 or largest < smallest or step < (2 if kind == "factor" else 1):
            return None
        steps = log(largest / smallest) / log(step) if kind == "factor" else (largest - smallest) / step
        return floor(steps + 1e-9) + 1


@dataclass
class Pending:
    """A row whose second half, or whose every figure, may yet come on a later line.

    `at` is its index among the section's rows, if its first half is there; `before` is the shape of what stood
    before the row: a later line may begin with the like.
    """

    line: int
    head: tuple[int, int, int, str | None]
    text: str
    at: int | None
    before: str = ""

    @property
    def cut(self) -> Remark | None:
        """What is missing of a row that nothing completed; None, where it has one whole half and no more."""
        first = first_half_in(self.text)
        if self.at is not None:
            rest = " ".join(first.rest) if first is not None else ""
            unmeasured = set(rest.split()) <= {"N/A", "n/a", "-"}
            return None if unmeasured else remark("links.in_place_cut", self.line)
        if words := self.text.split():
            return remark("links.no_whole_half", self.line, end=repr(words[-1]))
        return remark("links.no_figures", self.line, size_bytes=self.head[0])


@dataclass
class Stream:
    """What one process has printed."""

    sections: list[Section] = field(default_factory=lambda: [Section()])
    pending: Pending | None = None
    weak_op: str | None = None

    @property
    def section(self) -> Section:
        """The one that is being printed."""
        return self.sections[-1]

    def fresh(self, again: bool = False) -> Section:
        """The section that a heading belongs to: a new one after rows, or where the same was said before."""
        self.settle(ends=True)
        if again or self.section.has_rows or self.section.closed:
            self.sections.append(Section(weak_op=self.weak_op))
        return self.section

    def settle(self, ends: bool = False) -> None:
        """Give up waiting for the rest of a row; a table that ends on one is cut."""
        if self.pending is not None and (cut := self.pending.cut):
            self.section.dropped.append(cut)
            self.section.cut_line = self.pending.line if ends else None
        self.pending = None
