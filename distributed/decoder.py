"""What every decoder here is to the program that runs it: a shape, a group, a cache by heads, a count of bytes."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from core.models.kv_cache import heads_on_rank
from core.specs import ModelSpec
from distributed.collectives import Group
from distributed.layers import ShardedEmbedding


class KVCache:
    """Keys and values of the tokens seen so far, for this rank's heads only.

    [2, L, B, KV_N, max_tokens, K]; a head is whole, and repeated where ranks outnumber heads
    """

    @property
    def mask(self) -> Tensor | None:
        """Which tokens a query may look at, where that is not the same as those it is given.  (1, max_tokens)"""
        return None

    def __init__(self, spec: ModelSpec, group: Group, max_tokens: int, batch: int = 1, **where: Any) -> None:
        heads = heads_on_rank(spec.num_key_value_heads, group.size)
        self.store = torch.zeros(2, spec.num_hidden_layers, batch, heads, max_tokens, spec.head_dim, **where)
        self.length = 0

    @property
    def nbytes(self) -> int:
        return self.store.nbytes

    def append(self, layer: int, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Put the new keys and values behind the old; return both whole."""
        end = self.length + k.shape[2]
        self.store[0, layer, :, :, self.length : end] = k
        self.store[1, layer, :, :, self.length : end] = v
        return self.store[0, layer, :, :, :end], self.store[1, layer, :, :, :end]

    def positions(self, tokens: int) -> Tensor:
        """Where the tokens of this call stand in the text.  (T)"""
        return torch.arange(self.length, self.length + tokens, device=self.store.device)

    def advance(self, tokens: int) -> None:
        """Count this call's tokens as seen: every layer has theirs."""
        self.length += tokens


class FixedKVCache(KVCache):
    """The same cache for one token a call, whose shapes never change: a position on the device, all keys, a mask.

    What a CUDA graph needs: it replays the same kernels on the same memory, whatever the token's number.
    """

    def __init__(self, spec: ModelSpec, group: Group, max_tokens: int, **where: Any) -> None:
        super().__init__(spec, group, max_tokens, 1, **where)
        self._position = torch.zeros(1, dtype=torch.int64, device=self.store.device)
        self._places = torch.arange(max_tokens, device=self.store.device)

    def take(self, seen: KVCache) -> None:
        """Go on from what another cache has seen."""
        self.store.copy_(seen.store)
        self._position.fill_(seen.length)

    def append(self, layer: int, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        for row, new in enumerate((k, v)):
            self.store[row, layer].index_copy_(2, self._position, new)
        return self.store[0, layer], self.store[1, layer]

    @property
    def mask(self) -> Tensor:
        return (self._places <= self._position).unsqueeze(0)

    def positions(self, tokens: int) -> Tensor:
        return self._position

    def advance(self, tokens: int) -> None:
        self._position += tokens


class Block(nn.Module):
    """Attention, then the MLP, each behind a norm of its own and around a residual."""

    def __init__(self, norm: Callable[[], nn.Module], attention: nn.Module, mlp: nn.Module) -> None:
        super().__init__()
        self.input_layernorm, self.self_attn = norm(), attention
        self.post_attention_layernorm, self.mlp = norm(), mlp

    def forward(self, x: Tensor, *beside: Any) -> Tensor:
        x = x + self.self_attn(self.input_layernorm(x), *beside)
        return x + self.mlp(self.post_attention_layernorm(x))


class Decoder(nn.Module):
    """A decoder sharded over a group. A subclass adds `embed_tokens` and a `forward` to logits.

    tokens[B, T] → logits[B, T, V]; with a cache [B, 1, V], the last token's
    """

    embed_tokens: ShardedEmbedding

    def __init__(self, spec: ModelSpec, group: Group, max_tokens: int) -> None:
        super().__init__()
        self.spec = spec
        self.group = group
        self.max_tokens = max_tokens

    @property
    def weights_bytes(self) -> int:
        """What this rank's parameters occupy; tied weights once."""
        return sum(parameter.nbytes for parameter in self.parameters())

    def new_cache(self, batch: int = 1) -> KVCache:
        """An empty cache where the weights are, for as many tokens as the model is run with."""
        return KVCache(self.spec, self.group, self.max_tokens, batch, **self._where)

    def new_fixed_cache(self) -> FixedKVCache:
        """The same, for decode steps of one shape."""
        return FixedKVCache(self.spec, self.group, self.max_tokens, **self._where)

    @property
    def device(self) -> torch.device:
        return self.embed_tokens.weight.device

    @property
    def _where(self) -> dict[str, object]:
        return {"device": self.device, "dtype": self.embed_tokens.weight.dtype}
