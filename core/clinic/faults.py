"""Eight faults that stop a few ranks of PyTorch. Each was put into a real run, whose lines are kept."""

from dataclasses import dataclass

from core.two_way_tp.result import Manifest

FAULTS = (
    "rank_killed",
    "rank_hung",
    "rank_outside",
    "world_too_large",
    "other_shape",
    "other_order",
    "port_taken",
    "checkpoint_missing",
)


@dataclass(frozen=True)
class Fault:
    """A run with a fault put into it: which, the lines that its ranks printed, and its manifest."""

    key: str
    lines: tuple[str, ...]
    lasted_s: float
    manifest: Manifest
