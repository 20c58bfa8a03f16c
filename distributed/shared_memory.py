"""One-shot collectives over shared memory: every rank writes its part, waits for the others', and reads them all.

Two sets of slots are used in turn. A rank writes to a set again two calls later; by then it has seen every peer
begin the call between, and so end the one before it: nobody reads a slot that is being written. A rank's counter
is written after its data and read before others', and x86-64 keeps that order; other processors need not.
Where ranks cannot have memory in common they meet over Gloo.
Source: the one-shot all-reduce of vLLM's csrc/custom_all_reduce.cuh, with processes for GPUs.
"""

import mmap
import os
import platform
import sys
import time

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor

from distributed import collectives
from distributed.collectives import Group, TorchGroup
from distributed.progress import say

SLOT_BYTES = 2**20
FLAG_BYTES = 64
"""A cache line for each rank's counter, so that ranks do not share one."""

SPINS_BEFORE_YIELD = 2_000


class SharedMemoryError(OSError):
    """Ranks of one host that cannot have memory in common: every one of them raises it."""


def join(backend: str, timeout_s: float) -> Group:
    """This rank's group. Shared memory gives way to Gloo where it cannot be used; rank 0 says so."""
    why_not = why_not_shared() if backend == "shm" else ""
    group = collectives.join("nccl" if backend == "nccl" else "gloo", timeout_s)
    if backend == "shm" and not why_not:
        try:
            return SharedMemoryGroup(timeout_s)
        except SharedMemoryError as error:
            why_not = f"the ranks cannot have memory in common: {error}"
    if why_not and os.environ["RANK"] == "0":
        say("fallback", backend="gloo", why=why_not)
    return group


def why_not_shared() -> str:
    """Why these ranks cannot use shared memory, in a sentence; empty where they can."""
    if several_hosts():
        return "the ranks are started on several hosts, which share no memory"
    return why_not_here()


def several_hosts() -> bool:
    """Whether torchrun was told of more than one node."""
    return os.environ.get("LOCAL_WORLD_SIZE") != os.environ.get("WORLD_SIZE")


def why_not_here() -> str:
    """Why this machine cannot use shared memory so, in a sentence; empty where it can."""
    if sys.platform != "linux" or platform.machine() not in ("x86_64", "AMD64"):
        return (
            f"{platform.system()} on {platform.machine()} does not promise the order of writes that this relies on"
        )
    return ""


class SharedMemoryGroup(TorchGroup):
    """A group of ranks on one host. Payloads above SLOT_BYTES, and the rendezvous itself, go through Gloo."""

    def __init__(self, timeout_s: float) -> None:
        super().__init__(timeout_s)
        self.backend = "shm"
        self.timeout_s = timeout_s
        memory = self._map()
        flags = self.size * FLAG_BYTES
        self._counters = np.frombuffer(memory, np.int64, flags // 8)[:: FLAG_BYTES // 8]
        self._slots = torch.frombuffer(memory, dtype=torch.uint8, offset=flags).view(2, self.size, SLOT_BYTES)
        self._views: dict[tuple[torch.Size, torch.dtype], tuple[list[Tensor], list[Tensor]]] = {}
        self._peers = [rank for rank in range(self.size) if rank != self.rank]
        self._calls = 0

    def all_reduce(self, x: Tensor, layer: str = "", why: str = "") -> Tensor:
        if x.nbytes > SLOT_BYTES:
            return super().all_reduce(x, layer, why)
        with self._recorded("all_reduce", x.nbytes, x.device, layer, why):
            first, second, *others = self._exchange(x)
            torch.add(first, second, out=x)
            for part in others:
                x += part
        return x

    def all_gather(self, x: Tensor, layer: str = "", why: str = "") -> Tensor:
        if x.nbytes > SLOT_BYTES:
            return super().all_gather(x, layer, why)
        with self._recorded("all_gather", x.nbytes * self.size, x.device, layer, why):
            return torch.cat(self._exchange(x), dim=-1)

    def _exchange(self, x: Tensor) -> list[Tensor]:
        """Every rank's `x`, in the order of ranks: all ranks add in one order, and get the same bits."""
        parts = self._views_like(x)[self._calls % 2]
        parts[self.rank].copy_(x)
        self._calls += 1
        self._counters[self.rank] = self._calls
        self._wait_for_peers()
        return parts

    def _wait_for_peers(self) -> None:
        """Spin, then let others run, until every peer has made as many calls; after `timeout_s`, TimeoutError."""
        counters, calls, spins, deadline_s = self._counters, self._calls, 0, 0.0
        for peer in self._peers:
            while counters[peer] < calls:
                spins += 1
                if spins > SPINS_BEFORE_YIELD:
                    os.sched_yield()
                    now_s = time.monotonic()
                    deadline_s = deadline_s or now_s + self.timeout_s
                    if now_s > deadline_s:
                        raise TimeoutError(f"rank {peer} did not come to a sum within {self.timeout_s:g} s")

    def _views_like(self, x: Tensor) -> tuple[list[Tensor], list[Tensor]]:
        """Each set's slots as tensors like `x`, made once a shape: making them costs more than the exchange."""
        key = (x.shape, x.dtype)
        if key not in self._views:
            even, odd = ([slot[: x.nbytes].view(x.dtype).view(x.shape) for slot in slots] for slots in self._slots)
            self._views[key] = even, odd
        return self._views[key]

    def _map(self) -> mmap.mmap:
        """Memory that all ranks see, or SharedMemoryError on every one of them.

        It never has a name: rank 0 makes it out of nothing, and its peers open it by rank 0's own handle. So it
        needs no room in /dev/shm, and whatever kills the ranks leaves nothing there.
        """
        size = self.size * FLAG_BYTES + 2 * self.size * SLOT_BYTES
        handle, told = -1, ["", ""]
        if self.rank == 0:
            try:
                handle = os.memfd_create("shardlab")
                os.ftruncate(handle, size)
                told = [f"/proc/{os.getpid()}/fd/{handle}", ""]
            except OSError as error:
                told = ["", os.strerror(error.errno or 0)]
        dist.broadcast_object_list(told)
        memory, why_not = (None, told[1]) if told[1] else _opened(told[0], size)
        reasons: list[str] = [""] * self.size
        dist.all_gather_object(reasons, why_not)
        if handle >= 0:
            os.close(handle)
        if memory is None or any(reasons):
            raise SharedMemoryError(next(filter(None, reasons)))
        return memory


def _opened(path: str, size: int) -> tuple[mmap.mmap | None, str]:
    """Rank 0's memory in this process, or why it cannot be had."""
    try:
        file = os.open(path, os.O_RDWR)
        try:
            return mmap.mmap(file, size), ""
        finally:
            os.close(file)
    except OSError as error:
        return None, os.strerror(error.errno or 0)
