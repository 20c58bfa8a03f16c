"""Sequence parallelism: the same decoder layer, with rows of tokens held once instead of by every rank.

Each all-reduce is taken apart into its two halves: a reduce-scatter, after which a rank has T/N finished rows, and
an all-gather, before the next matrix needs them all. In between, norms and residuals run on T/N rows.
Source: Korthikanti et al. 2022, arXiv 2205.05198, section 4.
"""

from core.sharding_math.attention import attention_product
from core.sharding_math.block import BlockWeights, add, norm
from core.sharding_math.group import Group
from core.sharding_math.layers import gated_mlp_product
from core.sharding_math.tensors import ShardedTensor


def sequence_block_layer(group: Group, x: ShardedTensor, weights: BlockWeights) -> ShardedTensor:
    """One decoder layer with tokens sharded on the way in and out: two all-gathers, two reduce-scatters.

        X[T_N, D] → all-gather → X[T, D] → column-, row-parallel → Y[T, D]{U_N} → reduce-scatter → Y[T_N, D]

    The bytes are those of two all-reduces. Raises IndivisibleError when the tokens do not divide.
    """
    gathered = gather_tokens(group, norm(group, x, weights.norm1), "attention")
    x = add(group, x, scatter_tokens(group, attention_product(group, gathered, weights.attention), "attention"))
    gathered = gather_tokens(group, norm(group, x, weights.norm2), "MLP")
    mlp = gated_mlp_product(group, gathered, weights.Wg, weights.Wu, weights.Wd)
    return add(group, x, scatter_tokens(group, mlp, "MLP"))


def gather_tokens(group: Group, x: ShardedTensor, layer: str) -> ShardedTensor:
    """All rows to every rank, before a column-parallel matrix."""
    return group.all_gather("x on all", x, layer=layer, why="a column-parallel matrix meets every token")


def scatter_tokens(group: Group, partial: ShardedTensor, layer: str) -> ShardedTensor:
    """The sum of the ranks' terms, T/N rows of it to each."""
    return group.reduce_scatter("y", partial, 0, "tokens", layer=layer, why="adds the ranks' terms, a share a rank")
