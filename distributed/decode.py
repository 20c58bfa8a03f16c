"""Greedy decoding: one prefill, then one token at a time, each the most likely of its logits."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from distributed.collectives import synchronize
from distributed.decoder import Decoder


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
        """How long each decode step took."""
        return [end - start for start, end in zip(self.start_s[1:], self.end_s[1:], strict=True)]


@torch.inference_mode()
def greedy(model: Decoder, prompt: Sequence[int], max_new_tokens: int, end: int | None = None) -> Decoded:
    """Decode until `end` or `max_new_tokens`.

    Every rank gathers the same logits and so picks the same token: nothing more is sent.
    """
    device = model.embed_tokens.weight.device
    cache = model.new_cache()
    step = torch.tensor([list(prompt)], device=device)
    decoded = Decoded()
    for _ in range(min(max_new_tokens, model.max_tokens - len(prompt))):
        decoded.start_s.append(time.perf_counter())
        logits = model(step, cache)[0, -1]  # (V,)
        token = int(logits.argmax())
        synchronize(device)
        decoded.end_s.append(time.perf_counter())
        decoded.tokens.append(token)
        decoded.logits.append(logits)
        if token == end:
            break
        step = torch.tensor([[token]], device=device)
    return decoded
