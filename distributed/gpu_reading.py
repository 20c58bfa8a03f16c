"""How fast one token's reading goes: a matrix by a vector, a copy, a cache, and a sum that is all launch."""

import torch
import torch.nn.functional as F

from core.evidence.own_gpu import CACHES, GEMV_SHAPES, SMALL_SUM_BYTES
from distributed.gpu_clock import Part

APART_BYTES = 2**29
"""Matrices are read in turn until so much is read: one alone might stay in the GPU's cache."""
KV_HEADS, HEADS, HEAD_DIM = 8, 32, 128
SUMS = 20


def measure(part: Part) -> None:
    part.look()
    _vectors(part)
    part.look()
    _copy(part)
    _attention(part)
    _small_sum(part)


@torch.inference_mode()
def _vectors(part: Part) -> None:
    for outputs, inputs in GEMV_SHAPES:
        rows, columns = (outputs // 64, inputs // 64) if part.small else (outputs, inputs)
        size = 2 * rows * columns
        matrices = [
            _random(part, rows, columns) for _ in range(2 if part.small else max(1, -(-APART_BYTES // size)))
        ]
        x = _random(part, 1, columns)

        def read(matrices: list[torch.Tensor] = matrices, x: torch.Tensor = x) -> None:
            for W in matrices:
                F.linear(x, W)

        key = f"gemv {outputs}x{inputs} b=1 graph bf16"
        part.time_row(key, part.graphed(read), size_bytes=size * len(matrices))


@torch.inference_mode()
def _copy(part: Part) -> None:
    """Bytes read and written a second, of a copy too large for any cache."""
    source = torch.zeros(2**20 if part.small else 2**30, dtype=torch.uint8, device=part.where)
    target = torch.empty_like(source)
    part.time_row("copy", lambda: target.copy_(source), size_bytes=2 * source.nbytes)


@torch.inference_mode()
def _attention(part: Part) -> None:
    """One sequence's token over its cache, in the heads of Llama-3-8B."""
    for tokens in CACHES:
        length = 64 if part.small else tokens
        q = _random(part, 1, HEADS, 1, HEAD_DIM)
        caches = [
            (_random(part, 1, KV_HEADS, length, HEAD_DIM), _random(part, 1, KV_HEADS, length, HEAD_DIM))
            for _ in range(1 if part.small else max(1, 2**28 // (4 * KV_HEADS * length * HEAD_DIM)))
        ]

        def attend(q: torch.Tensor = q, caches: list[tuple[torch.Tensor, torch.Tensor]] = caches) -> None:
            for k, v in caches:
                F.scaled_dot_product_attention(q, k, v, enable_gqa=True)

        part.time_row(f"attention {tokens} tokens b=1 graph bf16", part.graphed(attend), calls=len(caches))


@torch.inference_mode()
def _small_sum(part: Part) -> None:
    """Two rows of 8 KiB added inside one GPU: next to no bytes, so what a launch costs."""
    mine, other = (_random(part, SMALL_SUM_BYTES // 2) for _ in range(2))

    def add() -> None:
        for _ in range(SUMS):
            mine.add_(other)

    part.time_row(f"sum {SMALL_SUM_BYTES} bytes eager", add, calls=SUMS)
    part.time_row(f"sum {SMALL_SUM_BYTES} bytes graph", part.graphed(add), calls=SUMS)


def _random(part: Part, *shape: int) -> torch.Tensor:
    return torch.randn(shape, device=part.where, dtype=torch.bfloat16)
