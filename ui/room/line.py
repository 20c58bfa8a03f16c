"""The number line of a question that a page asks, and that a lecture's room may be asked too."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from runtime.rooms import OpenQuestion, Question


@dataclass(frozen=True)
class Line:
    """The number line of a scene's question: its answer, the axis, and the wrong answers that are known.

    `truth` tells the answer, and is not called before a room asks this, or is to.
    """

    stem: str
    scene: str
    truth: Callable[[], float]
    high: float
    unit: str
    step: int
    digits: int
    slips: Mapping[str, float] = field(default_factory=dict)

    @cached_property
    def question(self) -> Question:
        return Question(self.stem, self.scene, self.truth())

    def is_of(self, asked: OpenQuestion | None) -> bool:
        """Whether this is what a room is asked."""
        if asked is None or (asked.question.stem, asked.question.scene) != (self.stem, self.scene):
            return False
        return asked.question.agrees(self.question)
