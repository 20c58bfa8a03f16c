"""All-reduces with nothing else to do, by payload: what α and β are fitted to."""

import torch

from distributed.collectives import Group
from distributed.progress import summary

REPEATS = 60
SIZES = (2**13, 2**15, 2**17, 2**19, 2**20)


def sweep(group: Group, row_bytes: int, device: torch.device) -> dict[int, dict[str, float]]:
    """Durations by payload: a decode step's row first, then sizes up to a mebibyte. The first half is warm-up."""
    found = {}
    for payload_bytes in (row_bytes, *SIZES):
        group.forget()
        payload = torch.zeros(payload_bytes // torch.float32.itemsize, device=device)
        for _ in range(2 * REPEATS):
            group.all_reduce(payload)
        found[payload_bytes] = summary(group.decode_all_reduces_s[REPEATS:])
    return found
