"""Llama and Qwen 2 and 3, built from the sharded layers: grouped heads, rotary positions, RMSNorm, a gated MLP.

Two all-reduces a layer and one for the embedding, as in MiniGPT; norms are whole on every rank. Where ranks
outnumber KV heads, a head is repeated. Qwen 2 has biases on q, k and v; Qwen 3 norms each head's q and k.
Letters: B sequences, T tokens of this call, H heads, KV key-value heads, K head_dim, D hidden, F intermediate.
Source: Hugging Face transformers, models/llama/modeling_llama.py and models/qwen3/modeling_qwen3.py.
"""

from dataclasses import dataclass, replace
from functools import partial
from math import pi

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.errors import require_divides
from core.models.kv_cache import heads_on_rank
from core.specs import ModelSpec
from distributed.collectives import Group
from distributed.decoder import Block, Decoder, KVCache
from distributed.layers import ColumnParallelLinear, RowParallelLinear, ShardedEmbedding, cut_of, set_cut


@dataclass(frozen=True)
class RopeScaling:
    """Llama 3.1's stretch of its rotary positions: slow turns by `factor`, fast ones not, those between partly."""

    factor: float
    low_freq_factor: float
    high_freq_factor: float
    original_positions: int


@dataclass(frozen=True)
class LlamaSettings:
    """What a config.json says beside the shape. `scaling` is None where positions are not stretched."""

    rms_norm_eps: float = 1e-6
    rope_theta: float = 10_000.0
    scaling: RopeScaling | None = None


def frequencies(head_dim: int, settings: LlamaSettings) -> Tensor:
    """How far each pair of a head's dims turns a token: θ^(-2i/K), stretched where the config says so.  (K/2,)"""
    turns = settings.rope_theta ** (-torch.arange(0, head_dim, 2, dtype=torch.float64) / head_dim)
    if settings.scaling is None:
        return turns
    scaling = settings.scaling
    wavelengths = 2 * pi / turns
    low, high = scaling.low_freq_factor, scaling.high_freq_factor
    kept = ((scaling.original_positions / wavelengths - low) / (high - low)).clamp(0, 1)
    return (1 - kept) * turns / scaling.factor + kept * turns


def rotary_table(head_dim: int, max_tokens: int, settings: LlamaSettings) -> Tensor:
    """cos and sin of every position, for both halves of a head.  (2, max_tokens, K)"""
    angles = torch.arange(max_tokens, dtype=torch.float64).outer(frequencies(head_dim, settings))
    return torch.stack((angles.cos(), angles.sin())).repeat(1, 1, 2).float()


def rotated(x: Tensor, table: Tensor) -> Tensor:
    """Each pair (i, i + K/2) of x[B, H, T, K] turned by its position's angle."""
    first, second = x.chunk(2, dim=-1)
    cos, sin = table.to(x.dtype)
    return x * cos + torch.cat((-second, first), dim=-1) * sin


class RMSNorm(nn.Module):
    """x / rms(x) · w: a scale, no shift; whole on every rank."""

    def __init__(self, width: int, eps: float) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.empty(width))

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, self.weight.shape, self.weight, self.eps)


class KVParallelLinear(ColumnParallelLinear):
    """Keys or values: whole heads on each rank, each on several ranks where these outnumber them.

    X[T, D] · W[KV_N · K, D]ᵀ → Y[T, KV_N · K]
    """

    def __init__(self, spec: ModelSpec, group: Group) -> None:
        copies = max(1, group.size // spec.num_key_value_heads)
        among = Group()
        among.rank, among.size = group.rank // copies, group.size // copies
        super().__init__(spec.hidden_size, spec.num_key_value_heads * spec.head_dim, among, spec.qkv_bias)
        for parameter in self.parameters():
            cut = cut_of(parameter)
            assert cut is not None
            set_cut(parameter, replace(cut, shard=among.rank))


class GroupedAttention(nn.Module):
    """Causal self-attention whose queries share keys and values in groups; whole heads on each rank."""

    def __init__(self, spec: ModelSpec, layer: int, group: Group, settings: LlamaSettings) -> None:
        super().__init__()
        self.layer = layer
        self.head_dim = spec.head_dim
        self.heads = require_divides("num_attention_heads", spec.num_attention_heads, "tp_size", group.size)
        self.kv_heads = heads_on_rank(spec.num_key_value_heads, group.size)
        width = spec.num_attention_heads * spec.head_dim
        self.q_proj = ColumnParallelLinear(spec.hidden_size, width, group, spec.qkv_bias)
        self.k_proj = KVParallelLinear(spec, group)
        self.v_proj = KVParallelLinear(spec, group)
        self.o_proj = RowParallelLinear(width, spec.hidden_size, group, spec.o_bias)
        self.q_norm = RMSNorm(spec.head_dim, settings.rms_norm_eps) if spec.qk_norm else nn.Identity()
        self.k_norm = RMSNorm(spec.head_dim, settings.rms_norm_eps) if spec.qk_norm else nn.Identity()

    def forward(self, x: Tensor, table: Tensor, cache: KVCache | None) -> Tensor:
        q = rotated(self.q_norm(self._split(self.q_proj(x), self.heads)), table)  # (B, H/N, T, K)
        k = rotated(self.k_norm(self._split(self.k_proj(x), self.kv_heads)), table)  # (B, KV/N, T, K)
        v = self._split(self.v_proj(x), self.kv_heads)
        if cache is not None:
            k, v = cache.append(self.layer, k, v)
        mask = cache.mask if cache is not None else None
        y = F.scaled_dot_product_attention(q, k, v, mask, is_causal=q.shape[2] > 1, enable_gqa=True)
        return self.o_proj(y.transpose(1, 2).flatten(2))

    def _split(self, x: Tensor, heads: int) -> Tensor:
        return x.unflatten(-1, (heads, self.head_dim)).transpose(1, 2)


class GatedMLP(nn.Module):
    """Gate and value column-parallel, their product row-parallel: one all-reduce in all.

    X[T, D] → (SiLU(X·Wgᵀ) · X·Wuᵀ)[T, F_N] → Y[T, D]
    """

    def __init__(self, spec: ModelSpec, group: Group) -> None:
        super().__init__()
        into = (spec.hidden_size, spec.intermediate_size, group, spec.mlp_bias)
        self.gate_proj = ColumnParallelLinear(*into)
        self.up_proj = ColumnParallelLinear(*into)
        self.down_proj = RowParallelLinear(spec.intermediate_size, spec.hidden_size, group, spec.mlp_bias)

    def forward(self, x: Tensor) -> Tensor:
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Llama(Decoder):
    """A Llama-shaped decoder, sharded over a group. Its head is the embedding's, or a table of its own."""

    def __init__(self, spec: ModelSpec, group: Group, settings: LlamaSettings, max_tokens: int) -> None:
        super().__init__(spec, group, max_tokens)
        self.embed_tokens = ShardedEmbedding(spec.vocab_size, spec.hidden_size, group)
        norm = partial(RMSNorm, spec.hidden_size, settings.rms_norm_eps)
        self.layers = nn.ModuleList(
            Block(norm, GroupedAttention(spec, layer, group, settings), GatedMLP(spec, group))
            for layer in range(spec.num_hidden_layers)
        )
        self.norm = norm()
        tied = spec.tie_word_embeddings
        self.lm_head = None if tied else ShardedEmbedding(spec.vocab_size, spec.hidden_size, group)
        self.table: Tensor
        self.register_buffer("table", rotary_table(spec.head_dim, max_tokens, settings), persistent=False)

    def forward(self, tokens: Tensor, cache: KVCache | None = None) -> Tensor:
        """Logits[B, T, V] for tokens[B, T]; with a cache, those of the last token alone.

        The first call with a cache may bring many tokens, later ones one.
        """
        length = tokens.shape[1]
        table = self.table[:, :length] if cache is None else self.table[:, cache.positions(length)]  # (2, T, K)
        x = self.embed_tokens(tokens)  # (B, T, D)
        for layer in self.layers:
            x = layer(x, table, cache)
        if cache is not None:
            cache.advance(length)
            x = x[:, -1:]
        return (self.lm_head or self.embed_tokens).logits(self.norm(x))
