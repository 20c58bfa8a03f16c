"""The drawn problems, computed on a group of ranks and on one device."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, TypeAlias

import numpy as np

from core.errors import require_divides
from core.sharding_math.attention import attend
from core.sharding_math.group import Group
from core.sharding_math.layers import all_reduced, column_layer, mlp_layer, row_layer, row_product
from core.sharding_math.numerics import Precision, matmul
from core.sharding_math.problems import (
    FULL_WIDTH,
    AttentionProblem,
    attention_problem,
    column_problem,
    embedding_problem,
    mlp_problem,
    row_problem,
    sequence_problem,
)
from core.sharding_math.tensors import Array, Copied, Placement, Shard, Trace
from core.sharding_math.vocabulary import embedding_layer

Kind: TypeAlias = Literal["column", "row", "mlp", "attention", "embedding", "sequence"]


@dataclass(frozen=True, eq=False)
class Run:
    """One computation as the ranks did it, and its dense result from one device."""

    trace: Trace
    dense: Array
    verbs: Mapping[str, str] = field(default_factory=lambda: _NO_VERBS)
    """What is done at a step, by the tensor it makes, where `activation` or `matmul` does not say it."""


def run(kind: Kind, num_ranks: int, width: int = FULL_WIDTH, fmt: Precision | None = None) -> Run:
    """A drawn problem computed on `num_ranks` ranks and on one.

    Raises IndivisibleError.
    """
    group, alone = Group(num_ranks, fmt=fmt), Group(1, fmt=fmt)
    for each in (group, alone):
        _COMPUTE[kind](each, width)
    return Run(group.trace(), alone.trace().result.full(), _VERBS.get(kind, _NO_VERBS))


def _row(group: Group, width: int) -> None:
    problem = row_problem(width)
    row_layer(group, group.shard("x", problem.x, -1, "in_features"), problem.weights[0])


def _column(group: Group, width: int) -> None:
    problem = column_problem(width)
    column_layer(group, group.replicate("x", problem.x), problem.weights[0])


def _mlp(group: Group, width: int) -> None:
    problem = mlp_problem(width)
    mlp_layer(group, group.replicate("x", problem.x), problem.weights[0], problem.weights[1])


def _embedding(group: Group, width: int) -> None:
    embedding_layer(group, *embedding_problem(width))


def _sequence(group: Group, width: int) -> None:
    """A row-parallel layer whose sum is scattered over tokens, and gathered before the next matrix."""
    problem = sequence_problem(min(width, 2))
    partial = row_product(group, group.shard("x", problem.x, -1, "in_features"), problem.weights[0])
    scattered = group.reduce_scatter("y", partial, 0, "tokens")
    group.all_gather("y on all", scattered)


def _attention(group: Group, width: int) -> None:
    attention_step(group, HeadShare(group.num_ranks, attention_problem(width)))


def attention_step(group: Group, heads: "HeadShare") -> None:
    """A decode step of attention: the projections, the cache and the heads a rank has, then the output's sum."""
    problem = heads.problem
    x = group.replicate("x", problem.x)
    query = group.shard("Wq", problem.Wq, 0, "num_attention_heads")
    key_value = group.hold("Wkv", heads.key_value_weights(), heads.placement(0))
    made = group.local("q k v", _project, (x, query, key_value), Shard(-1))
    cache = group.hold("KV cache", heads.caches(), heads.placement(1))
    attended = group.local("a", heads.attend, (made, cache), Shard(-1))
    all_reduced(group, row_product(group, attended, problem.Wo, weight="Wo"))


def _project(x: Array, Wq: Array, Wkv: Array) -> Array:
    """A rank's queries, keys and values, side by side."""
    return np.concatenate([matmul(x, Wq), matmul(x, Wkv)], axis=1)


class HeadShare:
    """Which heads a rank has of the drawn attention: H/N query heads, and the KV heads they use."""

    def __init__(self, num_ranks: int, problem: AttentionProblem) -> None:
        heads, self.kv_heads = problem.Wq.shape[0], problem.Wk.shape[0]
        self.num_ranks, self.problem = num_ranks, problem
        self.queries = require_divides("num_attention_heads", heads, "num_ranks", num_ranks)
        self.kv = max(1, self.kv_heads // num_ranks)

    def placement(self, dim: int) -> Placement:
        """Slices, or copies of slices where there are more ranks than KV heads."""
        return Copied(dim, self.num_ranks // self.kv_heads) if self.num_ranks > self.kv_heads else Shard(dim)

    def own(self, rank: int) -> slice:
        """Which KV heads a rank uses, and so holds."""
        first = rank * self.kv_heads // self.num_ranks
        return slice(first, first + self.kv)

    def key_value_weights(self) -> list[Array]:
        """A rank's rows of Wk, then of Wv."""
        kept = [self.own(rank) for rank in range(self.num_ranks)]
        return [np.concatenate([self.problem.Wk[own], self.problem.Wv[own]]) for own in kept]

    def caches(self) -> list[Array]:
        """A rank's cached keys, then its cached values, side by side; a row a token."""
        keys, values = self.problem.cached_keys, self.problem.cached_values
        kept = [self.own(rank) for rank in range(self.num_ranks)]
        return [np.concatenate([keys[:, own], values[:, own]], axis=1) for own in kept]

    def attend(self, made: Array, cache: Array) -> Array:
        """The new token's queries over the cached keys and its own."""
        q, k, v = np.split(made, [self.queries, self.queries + self.kv], axis=1)
        keys, values = np.concatenate([cache[:, : self.kv], k]), np.concatenate([cache[:, self.kv :], v])
        return attend(q, keys, values, head_dim=1)


_COMPUTE: Mapping[Kind, Callable[[Group, int], None]] = MappingProxyType(
    {
        "column": _column,
        "row": _row,
        "mlp": _mlp,
        "attention": _attention,
        "embedding": _embedding,
        "sequence": _sequence,
    }
)
_NO_VERBS: Mapping[str, str] = MappingProxyType({})
_VERBS: Mapping[Kind, Mapping[str, str]] = MappingProxyType(
    {
        "attention": MappingProxyType({"q k v": "project", "a": "attend", "partial y": "output"}),
        "embedding": MappingProxyType({"own rows": "look up"}),
    }
)
