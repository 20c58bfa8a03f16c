"""The quiz's numbers: how far one has come, and what it came to, in words and as a bar for each concept."""

import re
from collections.abc import Mapping, Sequence
from math import ceil

from core.course.quiz import BANK, PASS_FRACTION, Question, Score, Sheet
from runtime.prose import named, said
from runtime.quantities import local
from runtime.rows import Row

_QUANTITY = re.compile(r"\$?[\d\u202f]+\.\d+(?![.\d]).*")
"""A number with decimals, and its unit: neither `0.9.2`, a release, nor `qwen2.5-7b`, a name."""


def spoken(question: Question) -> Mapping[str, str]:
    """A question's fields in the language being spoken: core drew them, and writes them as a terminal does."""
    fields = {name: as_spoken(value) for name, value in question.fields.items()}
    return fields | {"asks": said("clinic", "rule.nvlink")} if "asks" in fields else fields


def as_spoken(quantity: str) -> str:
    """A number with its unit, as core writes it or as it was typed, with the marks of the language being spoken."""
    return local(quantity) if _QUANTITY.fullmatch(quantity) else quantity


def fields(sheet: Sheet, score: Score) -> Mapping[str, object]:
    """What the page's own blocks name; a question brings its own."""
    needed = ceil(PASS_FRACTION * len(BANK))
    return {"sheet": sheet, "score": score, "questions": len(BANK), "pass": PASS_FRACTION, "needed": needed}


def concept_bars(score: Score) -> Sequence[Row]:
    """The concepts with an answer, in the order of the course."""
    return [
        Row(
            concept=named("quiz", one.concept),
            right=one.right,
            answered=one.answered,
            right_fraction=one.right / one.answered,
            weak=one.is_weak,
            in_words=said("quiz", "says.of", right=one.right, answered=one.answered),
        )
        for one in score.concepts
        if one.answered
    ]
