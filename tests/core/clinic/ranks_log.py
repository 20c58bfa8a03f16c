"""A second way to tell which fault stopped a few ranks: what their log says, and the faults that fit all of it.

Read from text: torchrun's exit codes, the store's and Gloo's complaints, and what `distributed.faulty` prints.
Source of the lines: pytorch at v2.13.0, torch/csrc/distributed/c10d/, and recorded runs.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from core.text.numbers import whole

_STARTED = re.compile(r"rank (\d{1,4}): started, world size (\d{1,4})")
_JOINED = re.compile(r"rank (\d{1,4}): joined")
_EXIT = re.compile(r"exitcode: (-?\d{1,3})\) local_rank: (\d{1,4})")
_LATE = re.compile(r"Ranks? (\d{1,4}) failed to pass monitoredBarrier")
_CLIENTS = re.compile(r"(\d{1,4})/(\d{1,4}) clients joined")
_DIFFERS = re.compile(r"Collectives differ in the following aspects:(.*)")


@dataclass(frozen=True)
class RanksLog:
    """The findings. `late` did not come to a collective in time; `killed` ended by a signal."""

    world_size: int = 0
    started: frozenset[int] = frozenset()
    joined: frozenset[int] = frozenset()
    killed: frozenset[int] = frozenset()
    late: frozenset[int] = frozenset()
    clients: tuple[int, int] | None = None
    differs: str = ""
    port_taken: bool = False
    no_checkpoint: bool = False


def findings(lines: Iterable[str]) -> RanksLog:
    """The findings of a log, whatever the order in which its processes wrote it."""
    text = "\n".join(lines)
    started = [(whole(rank), whole(size)) for rank, size in _STARTED.findall(text)]
    met = _CLIENTS.search(text)
    differs = _DIFFERS.search(text)
    return RanksLog(
        world_size=max((size for _, size in started), default=0),
        started=frozenset(rank for rank, _ in started),
        joined=frozenset(map(whole, _JOINED.findall(text))),
        killed=frozenset(whole(rank) for code, rank in _EXIT.findall(text) if whole(code) < 0),
        late=frozenset(map(whole, _LATE.findall(text))),
        clients=(whole(met[1]), whole(met[2])) if met else None,
        differs=differs[1] if differs else "",
        port_taken="EADDRINUSE" in text,
        no_checkpoint="CheckpointError" in text,
    )


FITS: Mapping[str, Callable[[RanksLog], bool]] = MappingProxyType(
    {
        "rank_killed": lambda log: bool(log.killed),
        "rank_hung": lambda log: bool(log.late & log.joined) and not log.killed,
        "rank_outside": lambda log: (
            len(log.started) == log.world_size > 0 and not log.joined and not log.no_checkpoint and not log.clients
        ),
        "world_too_large": lambda log: log.clients is not None and len(log.started) < log.world_size,
        "other_shape": lambda log: "Tensor" in log.differs,
        "other_order": lambda log: "Op type" in log.differs,
        "port_taken": lambda log: log.port_taken,
        "checkpoint_missing": lambda log: log.no_checkpoint,
    }
)
"""Each fault and what its log must say; one that was really injected leaves exactly itself."""


def faults_left(log: RanksLog) -> tuple[str, ...]:
    """Keys of `FITS` whose sign stands in the log, in their order."""
    return tuple(fault for fault, fits in FITS.items() if fits(log))
