"""What a table of lines shows: a log's, a run's, and what a mistake answered."""

from dataclasses import dataclass

SIGNS = {"ok": "✓", "off": "✕", "unexplained": "?"}


@dataclass(frozen=True)
class LogRow:
    """A line of the run as a table shows it: the line around the field that is read, and both numbers in words."""

    number: int
    before: str
    field: str
    after: str
    topic: str
    formula: str
    predicted: str
    logged: str
    verdict: str
    residual: str


@dataclass(frozen=True)
class AnswerRow:
    """A sentence, what two ranks make of it, and what they make of it done wrong."""

    given: str
    right: str
    wrong: str
    same: bool
