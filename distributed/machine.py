"""What a run was made on, and how to make it again: its manifest."""

import os
import platform
from datetime import UTC, datetime
from pathlib import Path

import torch


def manifest(command: str, weights: str, seed: int, threads_per_rank: int) -> dict[str, object]:
    """How to make this run again, and where it was made; the load of the last minute tells of its neighbours."""
    return {
        "command": command,
        "date": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "weights": weights,
        "seed": seed,
        "threads_per_rank": threads_per_rank,
        "priority": _priority(),
        "load_average": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
        "hardware": {"cpu": _cpu_name(), "cores": os.cpu_count(), "gpus": _gpu_names()},
        "versions": {"python": platform.python_version(), "torch": torch.__version__, "system": platform.system()},
    }


def free_bytes(device: torch.device) -> int:
    """Memory that a device has left; of a CPU, what needs no swapping, 0 where the system does not tell."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    facts = Path("/proc/meminfo")
    lines = facts.read_text().splitlines() if facts.is_file() else []
    told = [1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")]
    return told[0] if told else 0


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
    facts = Path("/proc/cpuinfo")
    lines = facts.read_text().splitlines() if facts.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _gpu_names() -> list[str]:
    return [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
