"""The small layers that the figures draw, computed on a group of ranks and on one device.

Inputs and most weights have one decimal, so every product has two and a shown sum adds up as shown with a pencil.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, TypeAlias

import numpy as np

from core.errors import require_divides
from core.sharding_math.attention import attend
from core.sharding_math.group import Group
from core.sharding_math.layers import (
    all_reduced,
    column_layer,
    embedding_layer,
    mlp_layer,
    row_layer,
    row_product,
)
from core.sharding_math.numerics import Precision, matmul
from core.sharding_math.tensors import Array, Copied, Placement, Shard, Trace

Kind: TypeAlias = Literal["column", "gathered", "row", "mlp", "attention", "embedding", "sequence"]

FULL_WIDTH, NARROW_WIDTH = 4, 2
"""Outputs (or inputs) drawn: four where there is room, the first two of them on a phone."""

_X = np.array([[0.8, -0.9, 0.3, -1.1, 0.8, 0.5, -0.2, -1.4]])
_W = np.array(
    [
        [1.2, -2.2, 2.3, 0.4, 0.6, 1.4, -0.5, 0.9],
        [0.1, 0.8, -0.7, -1.0, -0.6, -0.6, 0.2, 0.7],
        [1.7, -1.4, 0.2, 1.9, 0.2, -1.1, -0.8, 1.1],
        [-1.2, 0.4, -1.4, -1.2, -2.0, 0.2, 1.3, -0.8],
    ]
)
_W2 = np.array([[2.0, -1.0, 1.0, 0.0], [-1.0, 0.0, 2.0, 1.0], [1.0, 2.0, 0.0, -1.0], [0.0, -1.0, 1.0, -2.0]])
_WQ = np.array([[0.8, 0.2, -1.4, 0.1], [0.6, -1.3, -1.3, -1.4], [1.5, -1.2, 0.4, -0.6], [-0.9, 0.9, -1.2, -0.8]])
_WK = np.array([[-0.3, -0.8, -0.4, -0.5], [-1.0, 0.7, 0.4, 0.9]])
_WV = np.array([[1.3, 1.3, 1.5, 1.1], [1.5, 1.4, 0.5, 0.4]])
_WO = np.array([[-0.6, -0.8, -0.2, 1.2], [-0.5, -1.0, -1.4, 0.9], [-1.3, -0.5, 1.0, -0.7], [-1.4, 0.2, 0.4, 1.0]])
_CACHED_KEYS = np.array([[-0.2, -1.0], [0.0, -1.3]])
_CACHED_VALUES = np.array([[-1.2, -0.8], [-1.4, -0.5]])
"""Two tokens' keys and values for two KV heads. Chosen so that sums shown to two decimals add up as shown."""


def layer_arrays(inputs: int = 4, outputs: int = 4) -> tuple[Array, Array]:
    """x (1, inputs) and W (outputs, inputs): one layer, cut by outputs, by inputs, and as half of a pair."""
    return _X[:, :inputs], _W[:outputs, :inputs]


def mlp_arrays(inputs: int = 4) -> tuple[Array, Array, Array]:
    """The layer's x and W with a second matrix: W1 (4, inputs), W2 (inputs, 4) of whole numbers, so sums add up."""
    return _X[:, :inputs], _W[:, :inputs], _W2[:inputs]


@dataclass(frozen=True, eq=False)
class Run:
    """One computation as the ranks did it, and its dense result from one device."""

    trace: Trace
    dense: Array
    verbs: Mapping[str, str] = field(default_factory=dict)
    """A code for what is done at a step, by the tensor it makes, where `activation` or `matmul` does not say it."""


def run(kind: Kind, num_ranks: int, width: int = FULL_WIDTH, fmt: Precision | None = None) -> Run:
    """A drawn layer computed on `num_ranks` ranks and on one.

    Raises IndivisibleError.
    """
    group, alone = Group(num_ranks, fmt=fmt), Group(1, fmt=fmt)
    for each in (group, alone):
        _COMPUTE[kind](each, width)
    return Run(group.trace(), alone.trace().result.full(), _VERBS.get(kind, {}))


def _row(group: Group, width: int) -> None:
    x, W = layer_arrays(outputs=width)
    row_layer(group, group.shard("x", x, -1, "in_features"), W)


def _column(group: Group, width: int) -> None:
    x, W = layer_arrays(inputs=width)
    column_layer(group, group.replicate("x", x), W)


def _gathered(group: Group, width: int) -> None:
    """A column-parallel layer whose y every rank asks for whole."""
    x, W = layer_arrays(inputs=width)
    y = column_layer(group, group.replicate("x", x), W)
    group.all_gather("y on all", y, layer="column-parallel", why="every rank asks for all of y")


def _mlp(group: Group, width: int) -> None:
    x, W1, W2 = mlp_arrays(width)
    mlp_layer(group, group.replicate("x", x), W1, W2)


def _embedding(group: Group, width: int) -> None:
    """Two tokens, rows five and two of a table (8, width)."""
    embedding_layer(group, np.array([5, 2]), _W.T[:, :width])


def _sequence(group: Group, width: int) -> None:
    """A row-parallel layer of four tokens whose sum is scattered over them, and gathered before the next matrix.

    Drawn narrow, of two tokens: of so many as two ranks can share.
    """
    x = np.concatenate([np.roll(_X, token, axis=1) for token in range(width)])
    partial = row_product(group, group.shard("x", x, -1, "in_features"), _W[:2])
    group.all_gather("y on all", group.reduce_scatter("y", partial, 0, "tokens"))


def _attention(group: Group, width: int) -> None:
    attention_step(group, HeadShare(group.num_ranks), width)


class HeadShare:
    """Which heads a rank has of the drawn attention: H/N of four query heads, and the KV heads they use."""

    def __init__(self, num_ranks: int) -> None:
        self.num_ranks, self.kv_heads = num_ranks, len(_WK)
        self.queries = require_divides("num_attention_heads", len(_WQ), "num_ranks", num_ranks)
        self.kv = max(1, self.kv_heads // num_ranks)

    def placement(self, dim: int) -> Placement:
        """Slices, or copies of slices where there are more ranks than KV heads."""
        return Copied(dim, self.num_ranks // self.kv_heads) if self.num_ranks > self.kv_heads else Shard(dim)

    def of(self, rank: int) -> slice:
        """Which KV heads a rank uses, and so holds."""
        first = rank * self.kv_heads // self.num_ranks
        return slice(first, first + self.kv)

    def each(self, both: Callable[[slice], list[Array]], axis: int) -> list[Array]:
        """Keys' and values' part of every rank, joined along an axis."""
        return [np.concatenate(both(self.of(rank)), axis=axis) for rank in range(self.num_ranks)]

    def attend(self, made: Array, cache: Array) -> Array:
        """The new token's queries over the cached keys and its own."""
        q, k, v = np.split(made, [self.queries, self.queries + self.kv], axis=1)
        keys, values = np.concatenate([cache[:, : self.kv], k]), np.concatenate([cache[:, self.kv :], v])
        return attend(q, keys, values, head_dim=1)


def attention_step(group: Group, heads: HeadShare, hidden: int = FULL_WIDTH) -> None:
    """A decode step of attention: the projections, the cache and the heads a rank has, then the output's sum."""
    x = group.replicate("x", _X[:, :hidden])
    query = group.shard("Wq", _WQ[:, :hidden], 0, "num_attention_heads")
    key_value = heads.each(lambda kept: [_WK[kept, :hidden], _WV[kept, :hidden]], axis=0)
    held = group.hold("Wkv", key_value, heads.placement(0))
    made = group.local("q k v", _project, (x, query, held), Shard(-1))
    caches = heads.each(lambda kept: [_CACHED_KEYS[:, kept], _CACHED_VALUES[:, kept]], axis=1)
    attended = group.local("a", heads.attend, (made, group.hold("KV cache", caches, heads.placement(1))), Shard(-1))
    all_reduced(group, row_product(group, attended, _WO[:hidden], weight="Wo"))


def _project(x: Array, Wq: Array, Wkv: Array) -> Array:
    """A rank's queries, keys and values, side by side."""
    return np.concatenate([matmul(x, Wq), matmul(x, Wkv)], axis=1)


_COMPUTE: Mapping[Kind, Callable[[Group, int], None]] = MappingProxyType(
    {
        "column": _column,
        "gathered": _gathered,
        "row": _row,
        "mlp": _mlp,
        "attention": _attention,
        "embedding": _embedding,
        "sequence": _sequence,
    }
)
_VERBS: Mapping[Kind, Mapping[str, str]] = MappingProxyType(
    {
        "attention": MappingProxyType({"q k v": "project", "a": "attend", "partial y": "output"}),
        "embedding": MappingProxyType({"own rows": "look_up"}),
    }
)
