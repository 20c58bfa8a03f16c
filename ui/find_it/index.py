"""The index of the course: every scene, every term of the glossary, every question of the quiz."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from urllib.parse import urlencode

from core.course.find_it import Indexed
from core.course.quiz import Question, paper
from runtime import content
from runtime.prose import said as phrase
from ui.course import glossary
from ui.course import pages as course
from ui.prose import Prose, plain_text

_BULLETS_AND_RULINGS = re.compile(r"^\s*(?:[-*]\s+|[-|: ]+$)", re.MULTILINE)


def index() -> Sequence[Indexed]:
    """All of it, once for the server and a language: its words do not depend on a visit."""
    return _index(content.language())


@lru_cache(maxsize=8)
def _index(language: str) -> Sequence[Indexed]:
    return (*_scenes(), *_terms(), *_questions())


def _scenes() -> Iterator[Indexed]:
    for entry in course.PAGES[1:]:
        blocks = content.load(entry.stem)
        for scene, title in entry.scenes.items():
            words_in = " ".join(text for name, text in blocks.items() if name.startswith(f"{scene}."))
            address = f"{entry.stem}?{urlencode(entry.scene(scene))}"
            yield Indexed(phrase("find_it", "says.scene"), f"{entry.title}: {title}", _plain(words_in), address)


def _terms() -> Iterator[Indexed]:
    for term in glossary.terms():
        yield Indexed(phrase("find_it", "says.term"), term.name, _plain(term.definition), term.address)


def _questions() -> Iterator[Indexed]:
    quiz, blocks = course.entry("quiz"), content.load("quiz")
    for question in paper(0):
        address = f"{quiz.stem}?{urlencode({f'{quiz.prefix}_at': question.key})}"
        yield Indexed(
            phrase("find_it", "says.question"),
            _asked(question, blocks[f"{question.key}.asks"]),
            question.concept,
            address,
        )


def _asked(question: Question, text: str) -> str:
    return Prose({"text": text}, question.fields).plain("text")


def _plain(markdown: str) -> str:
    """A text to be read in a list: its fields, which a page fills, are left open; bullets and rulings left out."""
    text = _BULLETS_AND_RULINGS.sub("", content.FIELD.sub("…", markdown))
    return plain_text(text.replace("|", " ").replace("#", ""))
