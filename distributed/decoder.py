"""What every decoder here is to the program that runs it: a shape, a group, a cache by heads, a count of bytes."""

import torch
from torch import Tensor, nn

from core.parameters import kv_heads_per_rank
from core.specs import ModelSpec
from distributed.collectives import Group


class KVCache:
    """Keys and values of the tokens seen so far, for this rank's heads only.

    [2, L, B, KV_N, max_tokens, K]; a head is whole, and repeated where ranks outnumber heads
    """

    def __init__(self, spec: ModelSpec, group: Group, max_tokens: int, batch: int = 1, **where) -> None:
        heads = kv_heads_per_rank(spec, group.size)
        self.store = torch.zeros(2, spec.num_hidden_layers, batch, heads, max_tokens, spec.head_dim, **where)
        self.length = 0

    @property
    def nbytes(self) -> int:
        """What this rank's cache occupies."""
        return self.store.nbytes

    def append(self, layer: int, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Put the new keys and values behind the old; return both whole."""
        end = self.length + k.shape[2]
        self.store[0, layer, :, :, self.length : end] = k
        self.store[1, layer, :, :, self.length : end] = v
        return self.store[0, layer, :, :, :end], self.store[1, layer, :, :, :end]


class Decoder(nn.Module):
    """A decoder sharded over a group. A subclass adds `embed_tokens` and a `forward` to logits.

    tokens[B, T] → logits[B, T, V]; with a cache [B, 1, V], the last token's
    """

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
        where = {"device": self.embed_tokens.weight.device, "dtype": self.embed_tokens.weight.dtype}
        return KVCache(self.spec, self.group, self.max_tokens, batch, **where)
