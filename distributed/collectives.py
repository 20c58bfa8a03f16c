"""One rank's view of its tensor-parallel group, and the two collectives the layers need.

A layer is handed a `Group` and asks it for sums. The group writes every call to core's ledger and keeps its
wall time, so that what the run counted and what labs 01 and 03 predict can be laid side by side.
Letters: N ranks, T tokens, D hidden.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

import torch
import torch.distributed as dist
from torch import Tensor

from core.ledger import Collective, Ledger

MEETING_S = 900.0
"""How long ranks wait for the first one, which decodes alone before it meets them."""

Gathered = Literal["all_reduce", "all_gather"]


@dataclass(frozen=True)
class Call:
    """One collective as a rank lived it, by the host's monotonic clock: from asking until it held the result."""

    op: Gathered
    payload_bytes: int
    start_s: float
    end_s: float


class Group:
    """A tensor-parallel group of one: nothing to sum, nothing to send."""

    rank = 0
    size = 1
    backend = "none"

    peers: dist.ProcessGroup | None = None

    def __init__(self) -> None:
        self.ledger = Ledger()
        self.calls: list[Call] = []

    def all_reduce(self, x: Tensor, layer: str = "", why: str = "") -> Tensor:
        """The sum of every rank's `x`, on every rank.

        X[T, D]{U_N} → X[T, D]. Reduces in place where there is more than one rank.
        """
        return x

    def all_gather(self, x: Tensor, layer: str = "", why: str = "") -> Tensor:
        """Every rank's `x` side by side along the last dim, on every rank.

        X[T, V_N] → X[T, V]
        """
        return x

    def forget(self) -> None:
        """Empty the ledger and the stopwatch: what was counted so far was warm-up."""
        self.ledger = Ledger()
        self.calls = []

    @property
    def decode_all_reduces_s(self) -> list[float]:
        """How long each all-reduce of a decode step took: those that carry one row, the least payload there is."""
        return self._least("all_reduce")

    @property
    def decode_all_gathers_s(self) -> list[float]:
        """How long each all-gather of one row of logits took."""
        return self._least("all_gather")

    def _least(self, op: Gathered) -> list[float]:
        calls = [call for call in self.calls if call.op == op]
        row_bytes = min((call.payload_bytes for call in calls), default=0)
        return [call.end_s - call.start_s for call in calls if call.payload_bytes == row_bytes]


class TorchGroup(Group):
    """A group over torch.distributed: Gloo between CPU processes, NCCL between GPUs.

    A peer that stays away from a collective past `timeout_s` is an error.
    """

    def __init__(self, timeout_s: float) -> None:
        super().__init__()
        self.peers = dist.new_group(timeout=timedelta(seconds=timeout_s))
        self.rank = dist.get_rank()
        self.size = dist.get_world_size()
        self.backend = dist.get_backend()

    def all_reduce(self, x: Tensor, layer: str = "", why: str = "") -> Tensor:
        with self._recorded("all_reduce", x.nbytes, x.device, layer, why):
            sent = self._reachable(x)
            dist.all_reduce(sent, group=self.peers)
            return x if sent is x else x.copy_(sent)

    def all_gather(self, x: Tensor, layer: str = "", why: str = "") -> Tensor:
        with self._recorded("all_gather", x.nbytes * self.size, x.device, layer, why):
            sent = self._reachable(x.contiguous())
            shards = [torch.empty_like(sent) for _ in range(self.size)]
            dist.all_gather(shards, sent, group=self.peers)
        return torch.cat(shards, dim=-1).to(x.device)

    def _reachable(self, x: Tensor) -> Tensor:
        """`x` where the backend can send it from: a GPU's own memory for NCCL, the host's for all others."""
        return x if self.backend == "nccl" else x.cpu()

    @contextmanager
    def _recorded(
        self, op: Gathered, payload_bytes: int, device: torch.device, layer: str, why: str
    ) -> Iterator[None]:
        self.ledger.record(Collective(op, payload_bytes, self.size, layer, why))
        if is_captured(device):
            yield
            return
        synchronize(device)
        start_s = time.perf_counter()
        yield
        synchronize(device)
        self.calls.append(Call(op, payload_bytes, start_s, time.perf_counter()))


def synchronize(device: torch.device) -> None:
    """Wait until a GPU has done what was asked of it, so that the clock reads work and not its launch."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def is_captured(device: torch.device) -> bool:
    """Whether what is asked of a GPU now goes into a graph: nothing runs yet, so there is nothing to time."""
    return device.type == "cuda" and torch.cuda.is_current_stream_capturing()


def join(
    backend: str, timeout_s: float, init_method: str = "env://", rank: int = -1, world_size: int = -1
) -> TorchGroup:
    """Meet the other ranks and return this rank's group.

    One may come late to the rendezvous, having measured alone; to a collective none may by more than `timeout_s`.
    """
    patience = timedelta(seconds=MEETING_S)
    dist.init_process_group(backend, init_method, patience, world_size, rank)
    return TorchGroup(timeout_s)


def leave() -> None:
    dist.destroy_process_group()
