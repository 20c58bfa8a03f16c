"""Grouped-query attention over ranks: heads are distributed, attention itself needs no one else.

Letters: T tokens, D hidden, H heads, K KV heads, h head_dim.
"""

from dataclasses import dataclass

import numpy as np

from core.errors import OutOfRangeError, require_divides
from core.sharding_math.group import Group
from core.sharding_math.layers import column_layer, row_product
from core.sharding_math.tensors import Array, Copied, Shard, ShardedTensor


@dataclass(frozen=True, eq=False)
class AttentionWeights:
    """Wq (H·h, D), Wk and Wv (K·h, D), Wo (D, H·h), all (out, in)."""

    Wq: Array
    Wk: Array
    Wv: Array
    Wo: Array
    head_dim: int

    @property
    def num_heads(self) -> int:
        return int(self.Wq.shape[0] // self.head_dim)

    @property
    def num_kv_heads(self) -> int:
        return int(self.Wk.shape[0] // self.head_dim)


def attention_product(group: Group, x: ShardedTensor, weights: AttentionWeights) -> ShardedTensor:
    """Causal attention up to its sum: Q, K, V column-parallel by whole heads, the output projection row-parallel.

        X[T, D] → Q[T, H_N·h], K, V[T, K_N·h] → A[T, H_N·h] → · Wo[D, (H·h)_N]ᵀ → Y[T, D]{U_N}

    Nothing is sent: no head looks at another.
    Raises IndivisibleError, and OutOfRangeError when neither KV heads nor ranks divide the other.
    """
    require_divides("num_attention_heads", weights.num_heads, "num_ranks", group.num_ranks)
    query = column_layer(group, x, weights.Wq, name="q", weight="Wq")
    key = group.linear("k", x, cut_kv_heads(group, "Wk", weights.Wk, weights.num_kv_heads))
    value = group.linear("v", x, cut_kv_heads(group, "Wv", weights.Wv, weights.num_kv_heads))
    attended = group.local("a", lambda q, k, v: attend(q, k, v, weights.head_dim), (query, key, value), Shard(-1))
    return row_product(group, attended, weights.Wo, weight="Wo")


def cut_kv_heads(group: Group, name: str, W: Array, num_kv_heads: int) -> ShardedTensor:
    """Slices of whole KV heads; where there are more ranks than heads, each head to the ranks whose queries use it.

    Raises OutOfRangeError when neither number divides the other.
    """
    ranks = group.num_ranks
    if num_kv_heads % ranks == 0:
        return group.shard(name, W, 0, "num_key_value_heads")
    if ranks % num_kv_heads:
        raise OutOfRangeError("num_key_value_heads", num_kv_heads, "kv_heads_divide", ranks=ranks)
    heads = np.split(W, num_kv_heads, axis=0)
    return group.hold(
        name, [heads[rank * num_kv_heads // ranks] for rank in range(ranks)], Copied(0, ranks // num_kv_heads)
    )


def attend(q: Array, k: Array, v: Array, head_dim: int) -> Array:
    """softmax(q·kᵀ/√h)·v for every head, causal; each KV head serves its share of consecutive query heads.

        q (T, H·h), k and v (S, K·h) → (T, H·h)

    The T queries are the last of S tokens: S - T keys come from a cache.
    Raises OutOfRangeError where a head was cut, and where the query heads do not share the KV heads evenly.
    """
    if any(array.shape[1] % head_dim for array in (q, k, v)):
        widths = ", ".join(f"{name} has {array.shape[1]}" for name, array in zip("qkv", (q, k, v), strict=True))
        raise OutOfRangeError("head_dim", head_dim, "heads_never_cut", widths=widths)
    if not k.shape[1] or q.shape[1] % k.shape[1]:
        heads, kv_heads = q.shape[1] // head_dim, k.shape[1] // head_dim
        raise OutOfRangeError("kv_heads", kv_heads, "query_heads", heads=heads)
    share = q.shape[1] // k.shape[1]
    queries, keys, values = (
        array.reshape(array.shape[0], -1, head_dim).transpose(1, 0, 2) for array in (q, k, v)
    )  # (T, H·h) → (H, T, h)
    keys, values = np.repeat(keys, share, axis=0), np.repeat(values, share, axis=0)  # (H, S, h)
    scores = queries @ keys.transpose(0, 2, 1) / np.sqrt(head_dim)  # (H, T, S)
    tokens, seen = scores.shape[1:]
    scores = np.where(np.tri(tokens, seen, seen - tokens, dtype=bool), scores, -np.inf)
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    mixed = shares / shares.sum(axis=-1, keepdims=True) @ values  # (H, T, h)
    return np.asarray(mixed.transpose(1, 0, 2).reshape(tokens, -1))
