"""Lab 02, two-way tensor parallelism: the reference. It is the code that the page's run decodes with."""

from distributed.layers import ColumnParallelLinear, RowParallelLinear, ShardedEmbedding
from distributed.mini_gpt import ParallelMLP

__all__ = ["ColumnParallelLinear", "ParallelMLP", "RowParallelLinear", "ShardedEmbedding"]
