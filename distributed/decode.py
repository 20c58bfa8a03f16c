"""Greedy decoding: one prefill, then one token at a time, each the most likely of its logits."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from distributed.collectives import synchronize
from distributed.decoder import Decoder
from distributed.progress import beat

RUNS_ASIDE = 3
"""How often a step runs before it is recorded: libraries set themselves up in the first."""


@dataclass
class Decoded:
    """What one prompt became: its tokens, their logits, and when each step began and ended.

    The first step is the prefill; a decode step brings each token after it.
    """

    tokens: list[int] = field(default_factory=list)
    logits: list[Tensor] = field(default_factory=list)
    start_s: list[float] = field(default_factory=list)
    end_s: list[float] = field(default_factory=list)

    @property
    def step_s(self) -> list[float]:
        return [end - start for start, end in zip(self.start_s[1:], self.end_s[1:], strict=True)]


class FixedStep:
    """A decode step whose shapes never change, so that a GPU can record it once and replay it.

    A replay is one launch in place of one a kernel, which is what a small model's step consists of. Here the same
    kernels run without it too, as they must to be recorded.
    """

    def __init__(self, model: Decoder) -> None:
        self.model = model
        self.cache = model.new_fixed_cache()
        self.token = torch.zeros(1, 1, dtype=torch.int64, device=self.cache.store.device)
        self._graph: torch.cuda.CUDAGraph | None = None
        self._logits: Tensor | None = None

    @torch.inference_mode()
    def record(self) -> "FixedStep":
        """Record the step as a CUDA graph, after the few runs aside that PyTorch asks for."""
        aside = torch.cuda.Stream()
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            for _ in range(RUNS_ASIDE):
                self.model(self.token, self.cache)
        torch.cuda.current_stream().wait_stream(aside)
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph, capture_error_mode="thread_local"):  # NCCL's watchdog goes on asking
            self._logits = self.model(self.token, self.cache)
        return self

    def __call__(self, token: int) -> Tensor:
        """Logits[1, 1, V] after one more token; a later call overwrites those of a recorded step."""
        self.token.fill_(token)
        if self._graph is None or self._logits is None:
            return self.model(self.token, self.cache)
        self._graph.replay()
        return self._logits


@torch.inference_mode()
def greedy(
    model: Decoder,
    prompt: Sequence[int],
    max_new_tokens: int,
    end: int | None = None,
    fixed: FixedStep | None = None,
) -> Decoded:
    """Decode until `end` or `max_new_tokens`; with `fixed`, each token after the first by that step.

    Every rank gathers the same logits and so picks the same token: nothing more is sent.
    """
    device = model.device
    cache = model.new_cache()
    step = torch.tensor([list(prompt)], device=device)
    decoded = Decoded()
    token = None
    for _ in range(min(max_new_tokens, model.max_tokens - len(prompt))):
        decoded.start_s.append(time.perf_counter())
        logits = model(step, cache) if token is None or fixed is None else fixed(token)
        logits = logits[0, -1]  # (V,)
        token = int(logits.argmax())
        synchronize(device)
        decoded.end_s.append(time.perf_counter())
        beat()
        decoded.tokens.append(token)
        if fixed is not None and len(decoded.tokens) == 1:
            fixed.cache.take(cache)
        decoded.logits.append(logits if fixed is None else logits.clone())
        if token == end:
            break
        step = torch.tensor([[token]], device=device)
    return decoded
