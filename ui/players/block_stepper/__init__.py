"""The block stepper: matrices as blocks, cut over ranks, moved between a few still steps in the browser.

It draws a board, one sharded computation as `ui.sharding_math.boards` words it, and says beside it what the page
gives it to say. It computes no number: texts, rings and sums all come in the payload.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ui.players import kit

SCRIPTS = ("layout.js", "draw.js", "notes.js", "stepper.js")
HERE = Path(__file__).parent

_stepper = kit.component("block_stepper", HERE, SCRIPTS)


@dataclass(frozen=True)
class Note:
    """Something said in the margin at some steps. A `followed` note is the pointed-at sum, written out."""

    title: str
    headline: str = ""
    text: str = ""
    steps: tuple[int, ...] = ()
    kind: Literal["plain", "followed"] = "plain"


@dataclass(frozen=True)
class View:
    """One board and its words: a caption a step, the notes, and the reading under the figure."""

    board: Mapping[str, Any]
    captions: tuple[str, ...]
    notes: tuple[Note, ...]
    reading: str


def block_stepper(
    *views: View,
    key: str,
    name: str = "",
    present: bool = False,
    start: int = 0,
    controls: bool = True,
    param: str = "",
    unnamed: bool = False,
) -> None:
    """Show a board, at rest at step `start`; a negative one counts from the end.

    Of several `views` of one computation, widest first, the first that fits its place is drawn. Without
    `controls` it is a still picture. `present` draws for a projector. The step is kept in the address under
    `param`, by its key; nothing is sent for it. `name` is its file's, where that is not its key. `unnamed` leaves
    out the rows' names on a wall too narrow for them, where another board beside it has them.
    """
    data = {
        "views": [{**vars(view), "notes": list(map(vars, view.notes))} for view in views],
        "name": name or key,
        "present": present,
        "start": start,
        "controls": controls,
        "words": kit.words("stepper"),
        "param": param,
        "unnamed": unnamed,
    }
    _stepper(key=key, data=data)
