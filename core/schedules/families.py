"""The schedules by name: how each is built, how its stages lie on the ranks, and how many chunks it takes."""

from dataclasses import dataclass
from typing import Literal

from core.errors import UnknownNameError
from core.schedules.actions import Action, Placement
from core.schedules.orders import (
    Schedule,
    fill_drain,
    gpipe,
    interleaved_1f1b,
    interleaved_zero_bubble,
    looped_bfs,
    one_f_one_b,
    zb_h1,
)
from core.schedules.v_orders import dualpipe_v, zbv


@dataclass(frozen=True)
class Family:
    """One schedule: its key, its name in print, its function, and the shape its stages are laid in."""

    key: str
    name: str
    build: Schedule
    shape: Literal["loop", "v"] = "loop"
    trains: bool = True
    least_chunks: int = 1

    def placement(self, stages: int, chunks: int = 1) -> Placement:
        """Where its stages lie on `stages` ranks. A V has two chunks, asked for or not."""
        return Placement(stages, 2 if self.shape == "v" else chunks, self.shape)

    def actions(self, stages: int, microbatches: int, chunks: int = 1) -> list[Action]:
        """Its order for these sizes."""
        return self.build(stages, microbatches, chunks)


_FAMILIES = (
    Family("fill_drain", "fill and drain", fill_drain, trains=False),
    Family("gpipe", "GPipe", gpipe),
    Family("1f1b", "1F1B", one_f_one_b),
    Family("interleaved_1f1b", "interleaved 1F1B", interleaved_1f1b),
    Family("looped_bfs", "looped BFS", looped_bfs),
    Family("zb_h1", "ZB-H1", zb_h1),
    Family("interleaved_zero_bubble", "interleaved zero bubble", interleaved_zero_bubble, least_chunks=2),
    Family("zbv", "ZBV", zbv, shape="v", least_chunks=2),
    Family("dualpipe_v", "DualPipeV", dualpipe_v, shape="v", least_chunks=2),
)

FAMILIES = {family.key: family for family in _FAMILIES}


def family(key: str) -> Family:
    """The schedule of that name. Raises UnknownNameError, which lists them, for any other."""
    if key not in FAMILIES:
        raise UnknownNameError("schedule", key, FAMILIES)
    return FAMILIES[key]
