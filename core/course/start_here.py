"""The arithmetic before lab 01: a message, a ring's two halves, a pass through a model, and how many GPUs hold it.

n payload_bytes, α latency_s, β bandwidth_bytes_per_s one way; P parameters, b bytes an element, T tokens in a pass,
BW memory bytes/s, F dense FLOP/s.
"""

from dataclasses import dataclass
from math import ceil

import numpy as np

from core.collectives.programs import Array, Program, ring_all_gather, ring_all_reduce, ring_reduce_scatter, run
from core.errors import require_non_negative, require_positive
from core.models.parameters import dtype_bytes, multiplied_parameters
from core.models.weights import held_weight_bytes, read_weight_bytes
from core.specs import GpuSpec, LinkSpec, ModelSpec


@dataclass(frozen=True)
class Message:
    """The two terms of sending bytes once over a link."""

    latency_s: float
    bandwidth_s: float

    @property
    def total_s(self) -> float:
        return self.latency_s + self.bandwidth_s

    @property
    def latency_fraction(self) -> float:
        """The share of the time in which no byte of the payload moves."""
        return self.latency_s / self.total_s


def message(payload_bytes: float, link: LinkSpec) -> Message:
    """One message over one hop.

    α + n/β
    """
    require_non_negative(payload_bytes=payload_bytes)
    return Message(link.latency_s, payload_bytes / link.bandwidth_bytes_per_s)


Grid = tuple[tuple[float | None, ...], ...]
"""`grid[rank][chunk]`: the number a rank holds there, None where what it holds is of no use."""


@dataclass(frozen=True)
class Stages:
    """A payload on every rank: each its own part, each one chunk of the sum, all of them all of it."""

    parts: Grid
    scattered: Grid
    whole: Grid


def ring_stages(ranks: int) -> Stages:
    """What a ring leaves on ranks whose own part is their number counted from one, in every chunk."""
    parts = [np.full((ranks, 1), rank + 1.0) for rank in range(ranks)]
    scattered = _after(ring_reduce_scatter(ranks), parts)
    own = [[chunk if index == rank else None for index, chunk in enumerate(row)] for rank, row in _rows(scattered)]
    whole = _after(ring_all_gather(ranks), scattered)
    return Stages(_grid(parts), tuple(map(tuple, own)), _grid(whole))


def ring_chunks_sent(ranks: int) -> int:
    """Chunks each of the ranks sends in a ring all-reduce, counted in its program: N-1 twice."""
    return sum(len(sent.chunks) for messages in ring_all_reduce(ranks).rounds for sent in messages) // ranks


def _after(program: Program, held: list[Array]) -> list[Array]:
    return list(run(program, held).buffers)


def _rows(held: list[Array]) -> list[tuple[int, list[float]]]:
    return [(rank, [float(chunk) for chunk in array[:, 0]]) for rank, array in enumerate(held)]


def _grid(held: list[Array]) -> Grid:
    return tuple(tuple(row) for _, row in _rows(held))


@dataclass(frozen=True)
class Pass:
    """One pass of `tokens` through a model on one GPU: the time each of its two engines would need alone."""

    tokens: float
    memory_s: float
    arithmetic_s: float

    @property
    def bound_s(self) -> float:
        """The least the pass can take: the slower of the two, the other hidden behind it."""
        return max(self.memory_s, self.arithmetic_s)

    @property
    def arithmetic_fraction(self) -> float:
        """The share of its FLOP/s that the GPU uses when memory and arithmetic overlap fully."""
        return self.arithmetic_s / self.bound_s


def forward_pass(model: ModelSpec, gpu: GpuSpec, tokens: float, dtype: str = "bf16") -> Pass:
    """A pass of T tokens: every matrix is read once, and each weight takes part in two operations for each token.

        memory = W / BW        arithmetic = 2 · P · T / F

    The embedding is looked up: it is neither read nor multiplied. Ignored: attention over the prompt, the KV cache,
    launches, and that kernels reach neither speed fully.
    """
    require_positive(tokens=tokens)
    return Pass(
        tokens,
        memory_s=read_weight_bytes(model, dtype, tokens) / gpu.memory_bytes_per_s,
        arithmetic_s=2 * multiplied_parameters(model) * tokens / gpu.bf16_flops,
    )


def ridge_tokens(gpu: GpuSpec) -> float:
    """Tokens a pass of a dense model in bf16 must carry before arithmetic takes as long as reading the weights.

        T* = F · b / (2 · BW)

    It belongs to the GPU: the size cancels. In a quantised width, of which the tables at both ends are kept,
    it is core.steps.batch_sweep.ridge_batch.
    """
    return gpu.bf16_flops * dtype_bytes("bf16") / (2 * gpu.memory_bytes_per_s)


def gpus_to_hold(model: ModelSpec, gpu: GpuSpec, dtype: str = "bf16") -> int:
    """The fewest GPUs whose memory, as a driver reports it, holds the weights alone.

        ⌈W / M⌉

    Nothing is left over for a KV cache or for what an engine keeps: more may be needed, never fewer.
    """
    return ceil(held_weight_bytes(model, dtype) / gpu.usable_memory_bytes)
