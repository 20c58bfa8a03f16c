"""The schedule player: ranks down, ticks across, played in the browser. Playing sends nothing to the server.

A grid's cells are little-endian int16, row by row, as core.pipeline_bubble.schedules.grid writes them. They travel
as raw bytes behind a short JSON head, so that 64 ranks by 1024 microbatches are 140 kB, sent once.
"""

import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from ui.players import kit

SCRIPTS = ("cells.js", "layout.js", "figure.js", "schedule.js")
HERE = Path(__file__).parent

_player = kit.component("schedule_player", HERE, SCRIPTS)


@dataclass(frozen=True)
class Mark:
    """Something said on a grid: `wrong` outlines a cell, `note` puts a label with its centre there.

    A `sentence` is a note as tall as its row; a phone has it under the figure.
    """

    kind: Literal["wrong", "note", "sentence"]
    rank: float
    tick: float
    text: str = ""


@dataclass(frozen=True)
class Stop:
    """A stretch of a path through the grid: on one rank, from a tick to a tick."""

    rank: int
    start: int
    end: int


@dataclass(frozen=True)
class Level:
    """A height from a tick on, until the next: what a rank holds."""

    tick: int
    value: float


@dataclass(frozen=True)
class Grid:
    """One schedule to be played. `labels` name the rows; the title stands over them when two are compared.

    `path` is drawn as a line through its stops. `held` has the levels of each rank, drawn as a strip under its row.
    """

    cells: bytes
    ranks: int
    ticks: int
    labels: tuple[str, ...]
    title: str = ""
    marks: tuple[Mark, ...] = ()
    path: tuple[Stop, ...] = ()
    held: tuple[tuple[Level, ...], ...] = ()

    def __post_init__(self) -> None:
        if len(self.cells) != 2 * self.ranks * self.ticks or len(self.labels) != self.ranks:
            raise ValueError(
                f"{len(self.cells)} bytes, {len(self.labels)} labels: {self.ranks} x {self.ticks} cells"
            )

    @cached_property
    def head(self) -> str:
        """The grid without its cells, as JSON; levels and wrong cells as bare pairs, for there may be thousands."""
        head = asdict(replace(self, held=(), marks=tuple(mark for mark in self.marks if mark.kind != "wrong")))
        del head["cells"]
        head["wrong"] = [(mark.rank, mark.tick) for mark in self.marks if mark.kind == "wrong"]
        head["held"] = [[(level.tick, level.value) for level in levels] for levels in self.held]
        return json.dumps(head, ensure_ascii=False)


def schedule_player(
    *grids: Grid,
    key: str,
    alt: str,
    present: bool = False,
    start: Literal["start", "end"] = "start",
    follow: int | None = None,
    controls: bool = True,
    ticks_per_unit: int = 1,
    span: int = 0,
    turns: Mapping[str, tuple[int, int]] = MappingProxyType({}),
    beside: int = 1,
) -> None:
    """Show one or more grids under one playhead, at rest at the `start` or the `end`.

    `follow` rings one microbatch along its path from the first; a click on a cell changes it. `present`
    draws for a projector. The axis is as long as `span` ticks where the grids are shorter.

    With `turns` so many of the grids are seen as stand `beside` each other, and the others are what controls of the
    page may turn to before the server answers, the last control fastest: by each control's key, which of how many
    options is open.
    """
    head = {
        "alt": alt,
        "present": present,
        "start": start,
        "follow": follow,
        "controls": controls,
        "ticksPerUnit": ticks_per_unit,
        "span": span,
        "turns": dict(turns),
        "beside": beside,
        "name": key,
    }
    _player(key=key, data=payload(grids, head))


def payload(grids: Sequence[Grid], head: dict[str, object]) -> bytes:
    """Length of the head (uint32), the head as JSON padded to whole words, the cells of each grid in turn."""
    words = kit.words("schedule")
    text = json.dumps({**head, "words": words}, ensure_ascii=False)
    packed = f'{text[:-1]}, "grids": [{", ".join(grid.head for grid in grids)}]}}'.encode()
    packed += b" " * (-len(packed) % 4)
    return struct.pack("<I", len(packed)) + packed + b"".join(grid.cells for grid in grids)
