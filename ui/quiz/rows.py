"""What the quiz's figure draws: a bar for each concept, as far as it was answered."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.course.quiz import Score
from runtime.prose import named
from runtime.prose import said as phrase


@dataclass(frozen=True)
class ConceptBar:
    """One concept: `right_fraction` of what was answered in it."""

    concept: str
    right: int
    answered: int
    right_fraction: float
    weak: bool
    said: str


def concept_bars(score: Score) -> Sequence[ConceptBar]:
    """The concepts with an answer, in the order of the course."""
    return [
        ConceptBar(
            concept=named("quiz", one.concept),
            right=one.right,
            answered=one.answered,
            right_fraction=one.right / one.answered,
            weak=one.is_weak,
            said=phrase("quiz", "says.of", right=one.right, answered=one.answered),
        )
        for one in score.concepts
        if one.answered
    ]
