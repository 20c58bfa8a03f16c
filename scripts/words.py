"""Prose for a terminal: a block of content/ with its fields filled and its marks taken out."""

import re
from collections.abc import Mapping

from runtime.prose import said

_MARKS = re.compile(r":[a-z-]+\[([^\]]*)\]|\[([^\]]*)\]\([^)]*\)|[*`]+|#+ ")


def words(stem: str, block: str, fields: Mapping[str, str]) -> str:
    """A block as plain text. Raises KeyError for an unknown block, or a field that is not given."""
    return _MARKS.sub(lambda match: match[1] or match[2] or "", said(stem, block, **fields))
