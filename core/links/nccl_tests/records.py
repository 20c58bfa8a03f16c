"""The rows of a pasted table, as they came and as they are trusted."""

from dataclasses import dataclass
from typing import NamedTuple

from core.errors import Remark
from core.text.numbers import whole


class Half(NamedTuple):
    """One half of a row, out-of-place or in-place: its figures, its error column, and the figures as printed."""

    time: float
    algbw: float
    busbw: float
    wrong: str | None
    printed: tuple[str, str, str]

    def rounding(self, figure: int) -> float:
        """One in the last digit printed of time (0), algbw (1) or busbw (2)."""
        text, _, power = self.printed[figure].partition("e")
        decimals = len(text) - text.find(".") - 1 if "." in text else 0
        return 10.0 ** (whole(power or "0") - decimals)


class PrintedRow(NamedTuple):
    """A row of figures as it stood in the text. `redop` and `root` are None where nothing was printed."""

    line: int
    size_bytes: int
    elements: int
    type_bytes: int
    redop: str | None
    root: int | None
    out_of_place: Half | None
    in_place: Half | None

    @property
    def halves(self) -> tuple[Half, ...]:
        """The halves that are there."""
        return tuple(half for half in (self.out_of_place, self.in_place) if half is not None)

    @property
    def share(self) -> int | None:
        """n / (count · bytes): 1 where every rank holds the whole, N where its share; None if it is neither."""
        held = self.elements * self.type_bytes
        return self.size_bytes // held if held and self.size_bytes and self.size_bytes % held == 0 else None


@dataclass(frozen=True)
class Device:
    """One line of the device list. `place` is the host, device number and bus; two ranks there share a GPU."""

    rank: int
    host: str
    place: str
    name: str


@dataclass(frozen=True)
class Row:
    """One message size and its times, checked. A time is None where its half is missing or wrong."""

    line: int
    size_bytes: int
    out_of_place_us: float | None
    in_place_us: float | None

    @property
    def time_us(self) -> float:
        """Out-of-place, or in-place where that half is missing."""
        time_us = self.in_place_us if self.out_of_place_us is None else self.out_of_place_us
        assert time_us is not None
        return time_us


@dataclass(frozen=True)
class Table:
    """One collective between one number of ranks: what is trusted, what is not, and what to know of both.

    `op` and `ranks` are None where neither the text nor the figures say. `dropped` has a reason for each line that
    was not taken, or not whole. `trusted` is False where no model may be fitted to the rows; a warning then says
    why. `nodes` counts the hosts of the device list, None without one. `wrong_sums` counts the rows whose own check
    found wrong values; `corrupts` where any was found, or the run says so without saying where.
    """

    op: str | None
    ranks: int | None
    rows: tuple[Row, ...]
    dropped: tuple[Remark, ...] = ()
    warnings: tuple[Remark, ...] = ()
    trusted: bool = True
    nodes: int | None = None
    gpu: str = ""
    wrong_sums: int = 0
    corrupts: bool = False
