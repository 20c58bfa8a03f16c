"""What a rank computes on: the CPU, a GPU of its own, or one that it shares and whose sums go through the host."""

import os

import torch


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


def why_not_on(kind: str, backend: str, ranks: int, gpus: int) -> str:
    """Why these ranks cannot use this device so, in a sentence; empty where they can."""
    if kind == "cpu":
        return "NCCL sends between GPUs: use --backend gloo on a CPU" if backend == "nccl" else ""
    if gpus == 0:
        return "there is no GPU here: use --backend gloo --device cpu"
    if backend == "shm":
        return "shared memory is the host's: on GPUs use --backend nccl or gloo"
    if backend == "nccl" and ranks > gpus:
        return f"{ranks} ranks want {ranks} GPUs over NCCL and there are {gpus}: --backend gloo lets them share"
    return ""
