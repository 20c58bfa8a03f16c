"""What the bench of lab 04 asks of one run, as its address keeps it."""

import re
from dataclasses import dataclass
from fractions import Fraction

from core.pipeline_bubble.bubble import Budget, FillDrain
from core.text.numbers import whole

MOST_STAGES, MOST_MICROBATCHES = 64, 1024


@dataclass(frozen=True)
class Bench:
    """One run on the bench, and the share of time that may be idle."""

    stages: int = 8
    microbatches: int = 16
    budget_percent: int = 10

    @property
    def run(self) -> FillDrain:
        return FillDrain(self.stages, self.microbatches)

    @property
    def budget(self) -> Budget:
        return Budget(self.stages, Fraction(self.budget_percent, 100))

    def text(self) -> str:
        """The sizes as they are kept in the address: `8x16`."""
        return f"{self.stages}x{self.microbatches}"

    @classmethod
    def pinned(cls, text: str) -> "Bench | None":
        """The sizes that `text` keeps, or None where it keeps none that the bench could have asked for."""
        kept = re.fullmatch(r"(\d{1,2})x(\d{1,4})", text)
        stages, microbatches = map(whole, kept.groups()) if kept else (0, 0)
        within = 1 <= stages <= MOST_STAGES and 1 <= microbatches <= MOST_MICROBATCHES
        return cls(stages, microbatches) if within else None
