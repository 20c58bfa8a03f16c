"""The quiz's numbers: how far one has come, and what it came to."""

from collections.abc import Mapping
from math import ceil

from core.course.quiz import BANK, PASS_FRACTION, Score, Sheet
from runtime.prose import named
from runtime.quantities import percent


def fields(sheet: Sheet, score: Score) -> Mapping[str, str]:
    """The fields of the page's own blocks; a question brings its own."""
    return {
        "questions": str(len(BANK)),
        "answered": str(score.answered),
        "right": str(score.right),
        "share": percent(score.fraction, 0),
        "pass": percent(PASS_FRACTION, 0),
        "needed": str(ceil(PASS_FRACTION * len(BANK))),
        "seed": str(sheet.seed),
        "weak": ", ".join(named("quiz", one.concept) for one in score.weak) or "none",
    }
