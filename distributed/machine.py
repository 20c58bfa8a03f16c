"""What a run was made on, for its manifest; and how a rank comes to end with its parent."""

import ctypes
import os
import platform
import signal
import sys
from datetime import UTC, datetime
from pathlib import Path

import torch

PR_SET_PDEATHSIG = 1


def end_with_parent() -> None:
    """Ask Linux to end this process with its parent: torchrun's ranks are sessions of their own, and outlive it.

    Elsewhere nothing is asked: the launcher looks for survivors instead.
    """
    if sys.platform != "linux":
        return
    parent = os.getppid()
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit("the launcher ended before this rank began")


def manifest(command: str, checkpoint_sha256: str, threads_per_rank: int) -> dict[str, object]:
    """How to make this run again, and where it was made."""
    return {
        "command": command,
        "date": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "checkpoint_sha256": checkpoint_sha256,
        "threads_per_rank": threads_per_rank,
        "hardware": {"cpu": _cpu_name(), "cores": os.cpu_count(), "gpus": _gpu_names()},
        "versions": {"python": platform.python_version(), "torch": torch.__version__, "system": platform.system()},
    }


def _cpu_name() -> str:
    facts = Path("/proc/cpuinfo")
    lines = facts.read_text().splitlines() if facts.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _gpu_names() -> list[str]:
    return [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
