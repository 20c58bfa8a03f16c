"""How fast weights stream from memory, as a decode step reads them: a matrix larger than any cache, times a row."""

import statistics
import time

import torch
import torch.nn.functional as F

from distributed.collectives import synchronize

ROWS, COLUMNS = 16_384, 4_096
REPEATS = 9


@torch.inference_mode()
def memory_bytes_per_s(device: str | torch.device = "cpu") -> float:
    """Weight bytes over the median time of y[ROWS] = W[ROWS, COLUMNS] · x: 256 MiB a time, in fp32."""
    where = torch.device(device)
    weight, x = torch.ones(ROWS, COLUMNS, device=where), torch.ones(1, COLUMNS, device=where)
    took_s = []
    for _ in range(REPEATS + 1):
        synchronize(where)
        start_s = time.perf_counter()
        F.linear(x, weight)
        synchronize(where)
        took_s.append(time.perf_counter() - start_s)
    return weight.nbytes / statistics.median(took_s[1:])
