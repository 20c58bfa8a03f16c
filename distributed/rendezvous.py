"""How ranks meet: the backend that was asked for, or the nearest one that works between these ranks, and why."""

import os

from distributed import collectives
from distributed.collectives import Group
from distributed.progress import say
from distributed.shared_memory import SharedMemoryError, SharedMemoryGroup, why_not_here


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
