"""Finding a place of the course by words: every word of the question must begin one of the place's.

A title counts for more than a text, the more the less else it says, and a whole word for more than a beginning.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

_WORD = re.compile(r"[^\W_]+")
_TITLE, _TEXT, _WHOLE = 6.0, 1.0, 2.0
LONGEST_QUERY = 80
_AROUND = 90


@dataclass(frozen=True)
class Indexed:
    """A place that can be found: what kind it is, how it is called, what it says, and its address."""

    kind: str
    title: str
    text: str
    address: str


@dataclass(frozen=True)
class Found:
    """A place with its score, and the passage of its text where the first word of the question stands."""

    place: Indexed
    score: float
    passage: str


def find(query: str, places: Iterable[Indexed], most: int = 12) -> Sequence[Found]:
    """The places that have every word of a query, best first; none for a query without a word."""
    wanted = tuple(words(query[:LONGEST_QUERY]))
    if not wanted:
        return []
    scored = ((_score(wanted, indexed), indexed) for indexed in places)
    best = sorted((pair for pair in scored if pair[0] > 0), key=lambda pair: -pair[0])[:most]
    return [Found(indexed, score, _passage(wanted[0], indexed.text)) for score, indexed in best]


@lru_cache(maxsize=4096)
def words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text.lower()))


def _score(wanted: Sequence[str], indexed: Indexed) -> float:
    """The sum over the words asked for; 0 where one of them is nowhere."""
    total = 0.0
    for word in wanted:
        title = words(indexed.title) or ("",)
        in_title = _hits(word, title) / len(title) ** 0.5
        score = _TITLE * in_title + _TEXT * min(3.0, _hits(word, words(indexed.text)))
        if not score:
            return 0.0
        total += score
    return total


def _hits(word: str, among: Sequence[str]) -> float:
    return sum(_WHOLE if one == word else 1.0 for one in among if one.startswith(word))


def _passage(word: str, text: str) -> str:
    """Some words around the first that begins as asked, cut at words; the text's beginning where none does."""
    at = next((match.start() for match in _WORD.finditer(text) if match[0].lower().startswith(word)), 0)
    first = text.rfind(" ", 0, at - _AROUND) + 1 if at > _AROUND else 0
    last = text.find(" ", at + _AROUND)
    last = len(text) if last < 0 else last
    return f"{'… ' if first else ''}{text[first:last]}{' …' if last < len(text) else ''}"
