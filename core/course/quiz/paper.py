"""A paper: every question drawn from one seed, the answers given so far, and what they come to by concept."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from urllib.parse import quote, unquote

import numpy as np

from core.course.quiz import bank_costs, bank_layers, bank_schedules, bank_slips
from core.errors import OutOfRangeError, UnknownNameError
from core.text.numbers import whole_number
from core.text.question import Concept, Draw, Judged, Question, Taught, judge

PASS_FRACTION = 0.7
WEAK_FRACTION = PASS_FRACTION
"""A concept below this is linked to the scene that teaches it."""

BANK: Mapping[str, Callable[[Draw], Question]] = MappingProxyType(
    {
        key: draw
        for bank in (bank_layers, bank_costs, bank_schedules, bank_slips)
        for key, draw in bank.BANK.drawn.items()
    }
)
"""Every question by its key, in the order of the course."""

MOST_SEED = 2**31 - 1
LONGEST_ANSWER = 40


def paper(seed: int, keys: Iterable[str] = ()) -> tuple[Question, ...]:
    """The questions with their numbers drawn from a seed: all of them, or those of some keys.

    Each is drawn from the seed and its own key, so that a question is the same alone as among others.
    Raises OutOfRangeError for a seed that is none, UnknownNameError for a key that is in no bank.
    """
    if not 0 <= seed <= MOST_SEED:
        raise OutOfRangeError("seed", seed, "whole_in", least=0, most=MOST_SEED)
    return tuple(_draw(seed, key) for key in (tuple(keys) or BANK))


@lru_cache(maxsize=1024)
def _draw(seed: int, key: str) -> Question:
    if key not in BANK:
        raise UnknownNameError("question", key[:60], BANK)
    return BANK[key](np.random.default_rng([seed, *key.encode()]))


@dataclass(frozen=True)
class ConceptScore:
    """How many answers of one concept were right, and the scene to go back to."""

    concept: Concept
    right: int
    answered: int
    taught: Taught

    @property
    def is_weak(self) -> bool:
        return self.answered > 0 and self.right < WEAK_FRACTION * self.answered


@dataclass(frozen=True)
class Score:
    """What a sheet of answers comes to, out of all questions of its paper."""

    right: int
    answered: int
    questions: int
    concepts: tuple[ConceptScore, ...]

    @property
    def fraction(self) -> float:
        return self.right / self.questions

    @property
    def passed(self) -> bool:
        return self.fraction >= PASS_FRACTION

    @property
    def weak(self) -> tuple[ConceptScore, ...]:
        return tuple(concept for concept in self.concepts if concept.is_weak)


@dataclass(frozen=True)
class Sheet:
    """A seed and the answers given: all that is needed to go on elsewhere. Nothing of it is kept anywhere."""

    seed: int
    answers: Mapping[str, str] = field(default_factory=dict)

    def with_answer(self, key: str, answer: str) -> "Sheet":
        """The same with one answer. Raises UnknownNameError for a key that is in no bank."""
        _draw(self.seed, key)
        return Sheet(self.seed, {**self.answers, key: answer.strip()[:LONGEST_ANSWER]})

    def judged(self) -> Mapping[str, Judged]:
        """Each answer judged, under its question's key."""
        return {key: judge(_draw(self.seed, key), answer) for key, answer in self.answers.items()}

    def score(self) -> Score:
        """The answers by concept; one that could not be read is not answered."""
        judged = {key: reply for key, reply in self.judged().items() if reply.read}
        questions = paper(self.seed)
        return Score(
            right=sum(reply.right for reply in judged.values()),
            answered=len(judged),
            questions=len(questions),
            concepts=tuple(
                _of_concept(concept, questions, judged) for concept in dict.fromkeys(q.concept for q in questions)
            ),
        )

    def text(self) -> str:
        """The sheet for a URL or a file: the seed, then each key and its answer, escaped."""
        return ";".join(
            [str(self.seed), *(f"{key}={quote(answer, safe='')}" for key, answer in self.answers.items())]
        )

    @classmethod
    def from_text(cls, text: str) -> "Sheet":
        """The sheet a text holds. Parts that mean nothing are left out; a text without a seed has seed 0."""
        first, *parts = text[:20_000].strip().split(";")
        seed = whole_number(first, 0, MOST_SEED) or 0
        pairs = (part.partition("=") for part in parts)
        known = {key: unquote(answer)[:LONGEST_ANSWER] for key, _, answer in pairs if key in BANK and answer}
        return cls(seed, known)


def _of_concept(concept: Concept, questions: tuple[Question, ...], judged: Mapping[str, Judged]) -> ConceptScore:
    """A concept's score; its scene is that of the first question got wrong, else of its first."""
    own = [question for question in questions if question.concept == concept]
    replies = {question.key: judged[question.key] for question in own if question.key in judged}
    wrong = [question for question in own if question.key in replies and not replies[question.key].right]
    return ConceptScore(
        concept=concept,
        right=sum(reply.right for reply in replies.values()),
        answered=len(replies),
        taught=(wrong or own)[0].taught,
    )
