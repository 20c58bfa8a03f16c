"""The reference: the very functions the page draws."""

from core.sharding_math.lab import attention_tp, column_parallel, mlp_tp, row_parallel

__all__ = ["attention_tp", "column_parallel", "mlp_tp", "row_parallel"]
