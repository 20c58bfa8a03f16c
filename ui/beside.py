"""Answers that pages share and that can take long: a large one is worked out beside the server, and once."""

from functools import lru_cache

from core.placement.plan import Question
from core.placement.planner import Placement
from core.placement.shortlist import shortlist
from core.placement.under_load import place_under_load
from core.strategy import picker
from core.strategy.flips import Flip, flips
from runtime import workers

AT_ONCE_GPUS = 16
"""Up to so many a question without a rate is answered in some 30 ms; of 2,048 the largest mixture takes 3 s."""


def settled(question: Question) -> Placement:
    """A placement with all that follows from its plans worked out, and no more of them than are shown."""
    return shortlist(place_under_load(question))


@lru_cache(maxsize=8)
def placed(question: Question) -> Placement:
    """A question's placement, which a page asks many times over."""
    if question.cluster.gpus <= AT_ONCE_GPUS and question.demand.requests_per_s is None:
        return place_under_load(question)
    return workers.run(settled, question)


@lru_cache(maxsize=32)
def answered(question: picker.Question) -> picker.Answer:
    return workers.run(picker.answer, question)


@lru_cache(maxsize=32)
def flipped(question: picker.Question) -> tuple[Flip, ...]:
    """What would change it: up to thirty answers more."""
    return tuple(workers.run(flips, answered(question)))
