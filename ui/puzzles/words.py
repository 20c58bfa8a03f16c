"""The puzzles page in words: its fields."""

from collections.abc import Mapping

from core.course.puzzles.bank import PUZZLES, TOKENS


def fields() -> Mapping[str, object]:
    """What the page's prose names."""
    return {"puzzles": len(PUZZLES), "tokens": TOKENS}
