"""Tensor parallelism as algebra: tensors held by ranks, local matmuls, collectives, and a log of all three.

Letters: T tokens, D in_features, F out_features, N ranks. A subscript is a dimension cut N ways: `W[F_N, D]`
has F/N rows a rank. `{U_N}` after a shape is a sum over N ranks that is not yet taken.
"""
