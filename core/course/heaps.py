"""The heaps in what a room predicted: which wrong answers are the known slips of a question."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from core.text.question import Accepted


@dataclass(frozen=True)
class Heap:
    """How many said about the number that a slip leads to."""

    slip: str
    value: float
    count: int


def heaps(
    counts: Iterable[tuple[float, int]], truth: float, slips: Mapping[str, float], reach: float
) -> list[Heap]:
    """The slips that somebody made, the most frequent first.

    Each number belongs to the nearest of the truth and the slips, if it is within `reach` of it; of two as near, to
    the truth. So no voter is counted twice, and who is right is in no heap.
    """
    accepted = Accepted(truth, slips, room=reach)
    made: Counter[str] = Counter()
    for answer, count in counts:
        if slip := accepted.meant(answer):
            made[slip] += count
    return [Heap(slip, slips[slip], count) for slip, count in made.most_common()]
