"""What nccl-tests and rccl-tests print, read back: text in, frozen tables out, nothing dropped in silence."""

from core.links.nccl_tests.records import Row, Table
from core.links.nccl_tests.tables import read_tables

__all__ = ["Row", "Table", "read_tables"]
