"""Fractions as they are written by hand: one over the other, in the serif."""

from collections.abc import Iterable
from html import escape

from ui.labels import label

Term = tuple[str, str] | str


def fractions(terms: Iterable[Term]) -> str:
    """HTML of `terms` joined by equals signs; a pair is a numerator and a denominator. Text is escaped."""
    terms = tuple(terms)
    drawn = '<span aria-hidden="true">=</span>'.join(_drawn(term) for term in terms)
    spoken = escape(f" {label('math.equals')} ".join(_spoken(term) for term in terms), quote=True)
    return f'<div class="fraction-row" role="math" aria-label="{spoken}">{drawn}</div>'


def _drawn(term: Term) -> str:
    if isinstance(term, str):
        return f"<span>{escape(term)}</span>"
    above, below = map(escape, term)
    return f'<span class="fraction"><span>{above}</span><span>{below}</span></span>'


def _spoken(term: Term) -> str:
    return term if isinstance(term, str) else label("math.over", above=term[0], below=term[1])
