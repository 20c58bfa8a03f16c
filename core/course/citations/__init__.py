"""Citations that run: what the course says of an engine, each a predicate over a file of a release."""

from core.course.citations.claim import Citation, Source
from core.course.citations.predicates import Defined, Is, Never, Predicate, Says
from core.course.citations.rows import CITATIONS, SOURCES, citations, source

__all__ = (
    "CITATIONS",
    "SOURCES",
    "Citation",
    "Defined",
    "Is",
    "Never",
    "Predicate",
    "Says",
    "Source",
    "citations",
    "source",
)
