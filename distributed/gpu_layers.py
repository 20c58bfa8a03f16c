"""What one decoder layer costs a rank: eager and as a CUDA graph, dense and of experts, bf16 and fp8.

T sequences with a token each, D hidden_size. A chain of layers is timed, so that one replay's start counts little.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import torch
import torch.nn.functional as F
from torch import Tensor

from core.evidence.own_gpu import BATCHES, CONTEXT, LAYERS, LayerShape, layer_key
from core.specs import ModelSpec
from distributed.gpu_clock import Part

CHAIN = 8
"""Layers timed at once."""


def measure(part: Part) -> None:
    """Every layer at every batch, each way that its kind has."""
    for shape in LAYERS:
        part.look()
        layer = Layer(shape, part)
        for batch in BATCHES[:2] if part.small else BATCHES:
            one = layer.step(batch)
            chain = _chained(one, layer.inputs(batch))
            part.time_row(layer_key(shape, batch, "eager", "bf16"), chain, CHAIN)
            _graphed(part, layer_key(shape, batch, "graph", "bf16"), chain)
            if shape.model.moe is not None:
                other = _chained(layer.step(batch, grouped=True), layer.inputs(batch))
                _graphed(part, layer_key(shape, batch, "grouped", "bf16"), other)
            else:
                other = _chained(layer.step(batch, fp8=True), layer.inputs(batch))
                _graphed(part, layer_key(shape, batch, "graph", "fp8"), other)
        del layer
        if not part.small:
            torch.cuda.empty_cache()


def _chained(step: Callable[[Tensor], Tensor], x: Tensor) -> Callable[[], Tensor]:
    def chain() -> Tensor:
        y = x
        for _ in range(CHAIN):
            y = step(y)
        return y

    return torch.inference_mode()(chain)


def _graphed(part: Part, key: str, chain: Callable[[], Tensor]) -> None:
    """A row of a replayed graph; a chain that cannot be recorded says why."""
    if part.small:
        part.leave_out(key, "a CPU has no CUDA graph and none of these kernels")
        return
    try:
        replay = part.graphed(chain)
    except Exception as error:
        part.leave_out(key, f"{type(error).__name__}: {' '.join(str(error).split())[:300]}")
        with suppress(RuntimeError):  # what a broken recording left behind is told once
            torch.cuda.synchronize()
        return
    part.time_row(key, replay, CHAIN)


class Layer:
    """A layer's weights of one rank, random, and its step at a batch. One rank is timed: it sends nothing."""

    def __init__(self, shape: LayerShape, part: Part) -> None:
        self.part, self.size = part, shape.tp_size
        self.row = toy(shape.model) if part.small else shape.model
        row, ranks = self.row, self.size
        self.heads = max(1, row.num_attention_heads // ranks)
        self.kv_heads = max(1, row.num_key_value_heads // ranks)
        self.qkv = self._weights((self.heads + 2 * self.kv_heads) * row.head_dim, row.hidden_size)
        self.o = self._weights(row.hidden_size, self.heads * row.head_dim)
        if row.moe is None:
            width = row.intermediate_size // ranks
            self.up, self.down = self._weights(2 * width, row.hidden_size), self._weights(row.hidden_size, width)
        else:
            width, experts = row.moe.moe_intermediate_size // ranks, row.moe.num_experts
            self.router = self._weights(experts, row.hidden_size)
            self.up = self._weights(experts, 2 * width, row.hidden_size)
            self.down = self._weights(experts, row.hidden_size, width)
        self._narrow: dict[int, tuple[Tensor, Tensor]] = {}

    def inputs(self, batch: int) -> Tensor:
        return torch.randn(batch, self.row.hidden_size, device=self.part.where, dtype=torch.bfloat16)

    def step(self, batch: int, fp8: bool = False, grouped: bool = False) -> Callable[[Tensor], Tensor]:
        """One token a sequence through the layer, with a cache of CONTEXT tokens."""
        row, where = self.row, self.part.where
        tokens = 16 if self.part.small else CONTEXT
        cache = torch.randn(2, batch, self.kv_heads, tokens, row.head_dim, device=where, dtype=torch.bfloat16)
        half = row.head_dim // 2
        angles = torch.rand(half, device=where)
        cos, sin = angles.cos().bfloat16(), angles.sin().bfloat16()
        linear = self._linear_in_fp8 if fp8 else F.linear
        mlp = self._mlp(batch, linear, grouped)
        position = tokens - 1

        def turned(x: Tensor) -> Tensor:
            first, second = x[..., :half], x[..., half:]
            return torch.cat((first * cos - second * sin, second * cos + first * sin), -1)

        def step(x: Tensor) -> Tensor:
            h = F.rms_norm(x, (row.hidden_size,))
            qkv = linear(h, self.qkv).view(batch, -1, row.head_dim)  # (T, heads, h)
            q, k, v = qkv.split((self.heads, self.kv_heads, self.kv_heads), 1)
            cache[0, :, :, position], cache[1, :, :, position] = turned(k), v
            mixed = F.scaled_dot_product_attention(turned(q).unsqueeze(2), cache[0], cache[1], enable_gqa=True)
            x = x + linear(mixed.reshape(batch, -1), self.o)
            return x + mlp(F.rms_norm(x, (row.hidden_size,)))

        return step

    def _mlp(
        self, batch: int, linear: Callable[[Tensor, Tensor], Tensor], grouped: bool
    ) -> Callable[[Tensor], Tensor]:
        if self.row.moe is not None:
            return self._grouped(batch) if grouped else self._looped(batch)

        def mlp(h: Tensor) -> Tensor:
            gate, up = linear(h, self.up).chunk(2, -1)
            return linear(F.silu(gate) * up, self.down)

        return mlp

    def _routed(self, batch: int) -> tuple[list[int], list[Tensor], Tensor]:
        """The experts that are met, each one's tokens, and where a token's rows stand in the order of experts.

        Drawn once, of all experts alike: a graph cannot ask the router where to go.
        """
        moe = self.row.moe
        assert moe is not None
        drawn = torch.Generator().manual_seed(batch)
        chosen = torch.stack(
            [torch.randperm(moe.num_experts, generator=drawn)[: moe.num_experts_per_tok] for _ in range(batch)]
        )
        met = sorted(set(chosen.flatten().tolist()))
        tokens = [(chosen == expert).any(1).nonzero().flatten().to(self.part.where) for expert in met]
        return met, tokens, torch.cat(tokens)

    def _looped(self, batch: int) -> Callable[[Tensor], Tensor]:
        """Experts one after another, as PyTorch's plain operations have it."""
        met, tokens, _ = self._routed(batch)

        def mlp(h: Tensor) -> Tensor:
            y = torch.zeros_like(h)
            shares = F.linear(h, self.router).softmax(-1)
            for expert, own in zip(met, tokens, strict=True):
                x = h[own]
                gate, up = F.linear(x, self.up[expert]).chunk(2, -1)
                y.index_add_(0, own, F.linear(F.silu(gate) * up, self.down[expert]) * shares[own, expert, None])
            return y

        return mlp

    def _grouped(self, batch: int) -> Callable[[Tensor], Tensor]:
        """All experts in two grouped products, where PyTorch has them."""
        met, tokens, order = self._routed(batch)
        counts = torch.zeros(self.up.shape[0], dtype=torch.int32)
        counts[met] = torch.tensor([len(own) for own in tokens], dtype=torch.int32)
        ends = counts.cumsum(0).to(self.part.where, torch.int32)
        expert_of = torch.repeat_interleave(torch.arange(len(counts)), counts.long()).to(self.part.where)

        def mlp(h: Tensor) -> Tensor:
            shares = F.linear(h, self.router).softmax(-1)[order, expert_of, None]
            gate, up = torch._grouped_mm(h[order], self.up.transpose(1, 2), offs=ends).chunk(2, -1)
            made = torch._grouped_mm(F.silu(gate) * up, self.down.transpose(1, 2), offs=ends)
            return torch.zeros_like(h).index_add_(0, order, made * shares)

        return mlp

    def _linear_in_fp8(self, x: Tensor, weight: Tensor) -> Tensor:
        """A product in eight bits: the weight narrowed once, the input in every step."""
        if id(weight) not in self._narrow:
            scale = weight.abs().amax().float() / 448
            self._narrow[id(weight)] = ((weight / scale).to(torch.float8_e4m3fn), scale)
        narrow, scale = self._narrow[id(weight)]
        one = torch.ones((), device=x.device)
        return torch._scaled_mm(x.to(torch.float8_e4m3fn), narrow.T, one, scale, out_dtype=torch.bfloat16)

    def _weights(self, *shape: int) -> Tensor:
        weights = torch.empty(shape, device=self.part.where, dtype=torch.bfloat16)
        return weights.normal_(std=shape[-1] ** -0.5)


def toy(row: ModelSpec) -> ModelSpec:
    """The same kind of layer in a size for a CPU."""
    moe = row.moe and replace(row.moe, num_experts=8, num_experts_per_tok=2, moe_intermediate_size=32)
    return replace(
        row,
        hidden_size=64,
        num_attention_heads=8,
        num_key_value_heads=8,
        head_dim=16,
        intermediate_size=128,
        moe=moe,
    )
