"""What a rank computes on, and the manifest of a run: what it was made on, and how to make it again."""

import os
import platform
from datetime import UTC, datetime
from pathlib import Path

import torch

from core.errors import ShardlabError


def manifest(command: str, weights: str, seed: int, threads_per_rank: int) -> dict[str, object]:
    """How to make this run again, and where it was made; the load of the last minute tells of its neighbours."""
    gpus = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
    return {
        "command": command,
        "date": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "weights": weights,
        "seed": seed,
        "threads_per_rank": threads_per_rank,
        "priority": _priority(),
        "load_average": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
        "hardware": {"cpu": _cpu_name(), "cores": os.cpu_count(), "gpus": gpus},
        "versions": {"python": platform.python_version(), "torch": torch.__version__, "system": platform.system()},
    }


def free_bytes(device: torch.device) -> int:
    """Memory that a device has left; of a CPU, what needs no swapping, 0 where the system does not tell."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    file = Path("/proc/meminfo")
    lines = file.read_text().splitlines() if file.is_file() else []
    told = [1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")]
    return told[0] if told else 0


def device(kind: str) -> torch.device:
    """This rank's device: the CPU, or a GPU; where there are fewer GPUs than ranks, they share."""
    if kind == "cpu":
        return torch.device("cpu")
    number = int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count()
    torch.cuda.set_device(number)
    return torch.device("cuda", number)


def ranks_per_gpu(where: torch.device) -> int:
    """How many ranks of this host share a GPU: 1 where each has its own, 0 on a CPU."""
    if where.type == "cpu":
        return 0
    return -(-int(os.environ["LOCAL_WORLD_SIZE"]) // torch.cuda.device_count())


def require_device(kind: str, backend: str, ranks: int, gpus: int) -> None:
    """Raise ShardlabError where these ranks cannot use this device over this backend."""
    if kind == "cpu":
        if backend == "nccl":
            raise ShardlabError("device.no_nccl")
    elif gpus == 0:
        raise ShardlabError("device.no_gpu")
    elif backend == "shm":
        raise ShardlabError("device.no_shared_memory")
    elif backend == "nccl" and ranks > gpus:
        raise ShardlabError("device.few_gpus", ranks=ranks, wanted=ranks, gpus=gpus)


def _priority() -> str:
    """How this process stands to others on the machine: `normal`, or ahead of them."""
    if hasattr(os, "sched_getscheduler") and os.sched_getscheduler(0) in (os.SCHED_FIFO, os.SCHED_RR):
        return "real time"
    niceness = _niceness()
    return "normal" if niceness == 0 else f"nice {niceness}"


def _niceness(group: Path = Path("/proc/self/autogroup")) -> int:
    """The niceness that decides between this process and others: its session's where Linux groups by session.

    The file is empty for a process in no such group (sched(7), "The autogroup feature"); then its own counts.
    """
    told = group.read_text().split() if group.is_file() else []
    if told:
        return int(told[-1])
    return os.getpriority(os.PRIO_PROCESS, 0) if hasattr(os, "getpriority") else 0


def _cpu_name() -> str:
    file = Path("/proc/cpuinfo")
    lines = file.read_text().splitlines() if file.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
