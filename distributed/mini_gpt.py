"""MiniGPT: GPT-2's block built from the sharded layers, its key-value cache cut by heads.

Two all-reduces a layer (after attention's output projection, after the MLP's second matrix), one for the embedding;
the tied head gathers its logits. LayerNorms and positions are whole on every rank.
Letters: B sequences, T tokens of this call, H heads, K head_dim, D hidden, F intermediate, V vocabulary, N ranks.
"""

from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.errors import require_divides
from core.specs import ModelSpec
from distributed.collectives import Group
from distributed.decoder import Block, Decoder, KVCache
from distributed.layers import (
    ColumnParallelLinear,
    RowParallelLinear,
    ShardedEmbedding,
    fill,
    full_shape,
    shard_of,
)


class ParallelMLP(nn.Module):
    """Column-parallel, GELU, row-parallel: the activation works on each rank's own features, one all-reduce in all.

    X[T, D] → GELU(X·W1ᵀ)[T, F_N] → Y[T, D]
    """

    def __init__(self, hidden_size: int, intermediate_size: int, group: Group, bias: bool = True) -> None:
        super().__init__()
        self.up_proj = ColumnParallelLinear(hidden_size, intermediate_size, group, bias)
        self.down_proj = RowParallelLinear(intermediate_size, hidden_size, group, bias)

    def forward(self, x: Tensor) -> Tensor:
        return self.down_proj(F.gelu(self.up_proj(x)))


class ParallelAttention(nn.Module):
    """Causal self-attention with whole heads on each rank: no head is cut, so attention itself sends nothing."""

    def __init__(self, spec: ModelSpec, layer: int, group: Group) -> None:
        super().__init__()
        self.layer = layer
        self.head_dim = spec.head_dim
        self.heads = require_divides("num_attention_heads", spec.num_attention_heads, "tp_size", group.size)
        width = spec.num_attention_heads * spec.head_dim
        self.q_proj = ColumnParallelLinear(spec.hidden_size, width, group, spec.qkv_bias)
        self.k_proj = ColumnParallelLinear(spec.hidden_size, width, group, spec.qkv_bias)
        self.v_proj = ColumnParallelLinear(spec.hidden_size, width, group, spec.qkv_bias)
        self.o_proj = RowParallelLinear(width, spec.hidden_size, group, spec.o_bias)

    def forward(self, x: Tensor, cache: KVCache | None) -> Tensor:
        q, k, v = (self._split(project(x)) for project in (self.q_proj, self.k_proj, self.v_proj))
        if cache is not None:
            k, v = cache.append(self.layer, k, v)
        mask = cache.mask if cache is not None else None
        y = F.scaled_dot_product_attention(q, k, v, mask, is_causal=q.shape[2] > 1)  # (B, H/N, T, K)
        return self.o_proj(y.transpose(1, 2).flatten(2))

    def _split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.heads, self.head_dim)).transpose(1, 2)  # (B, H/N, T, K)


class MiniGPT(Decoder):
    """A GPT-2-shaped decoder, sharded over a group. The same class is trained on one rank and served on two."""

    def __init__(self, spec: ModelSpec, group: Group) -> None:
        super().__init__(spec, group, spec.learned_positions)
        self.embed_tokens = ShardedEmbedding(spec.vocab_size, spec.hidden_size, group)
        self.embed_positions = nn.Embedding(spec.learned_positions, spec.hidden_size)
        norm = partial(nn.LayerNorm, spec.hidden_size)
        mlp = (spec.hidden_size, spec.intermediate_size, group, spec.mlp_bias)
        self.layers = nn.ModuleList(
            Block(norm, ParallelAttention(spec, layer, group), ParallelMLP(*mlp))
            for layer in range(spec.num_hidden_layers)
        )
        self.norm = norm()

    def forward(self, tokens: Tensor, cache: KVCache | None = None) -> Tensor:
        """Logits[B, T, V] for tokens[B, T]; with a cache, those of the last token alone.

        The first call with a cache may bring many tokens, later ones one.
        """
        length = tokens.shape[1]
        positions = torch.arange(length, device=tokens.device) if cache is None else cache.positions(length)
        x = self.embed_tokens(tokens) + self.embed_positions(positions)  # (B, T, D)
        for layer in self.layers:
            x = layer(x, cache)
        if cache is not None:
            cache.advance(length)
            x = x[:, -1:]
        return self.embed_tokens.logits(self.norm(x))


def initialise(model: MiniGPT, seed: int) -> None:
    """Random weights as GPT-2's: normal, deviation 0.02, the projections back to the residual scaled by depth.

    Every rank draws every tensor whole, one after another, and keeps its part: the ranks' parts make one model.
    """
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            nn.init.zeros_(parameter)
        elif "norm" in name:
            nn.init.ones_(parameter)
        else:
            residual = name.endswith(("o_proj.weight", "down_proj.weight"))
            scale = (2 * model.spec.num_hidden_layers) ** -0.5 if residual else 1
            full = torch.empty(full_shape(parameter)).normal_(std=0.02 * scale, generator=generator)
            fill(parameter, shard_of(full, parameter, model.group))
