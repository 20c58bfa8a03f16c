"""The reference: the very functions the page draws."""

from core.sharding_math import column_parallel, mlp_tp, row_parallel

__all__ = ["column_parallel", "mlp_tp", "row_parallel"]
