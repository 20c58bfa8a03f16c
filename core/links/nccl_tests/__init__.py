"""What nccl-tests and rccl-tests print, read back: text in, frozen tables out, nothing dropped in silence."""

from core.links.nccl_tests.reader import read_tables
from core.links.nccl_tests.records import Dropped, Row, Table

__all__ = ["Dropped", "Row", "Table", "read_tables"]
