"""What the search says of itself."""

from collections.abc import Mapping, Sequence

from core.course.find_it import Found


def fields(query: str, results: Sequence[Found]) -> Mapping[str, str]:
    """The words looked for, and how many places have them."""
    return {"query": query.strip(), "found": str(len(results))}
