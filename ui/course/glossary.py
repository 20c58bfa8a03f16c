"""The words of the course: what each means, and where it is taught.

A term carries its definition wherever it appears: the first time a block of prose uses one, it has dots under it,
and its definition shows on hover, on focus and on a tap. Streamlit's Markdown has no directive for that, and its
`help=` stands at the end of a block; plain HTML in it does, and a screen reader is given the definition as the
word's description. The word is a span in the role of a button, since a real one is never broken over two lines.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from html import escape as escape_html
from urllib.parse import urlencode

from runtime import content
from runtime.prose import said
from ui.course import pages as course
from ui.prose import escape

_UNTOUCHED = (
    r"```.*?```|`[^`\n]*`",  # code
    r"^#{1,6} .*?$",  # headings
    r"\[[^\]]*\]\([^)]*\)",  # links
    r":[a-z-]+\[[^\]]*\]",  # coloured words
    r"(?<!\\)\$[^$\n]*\$",  # formulas
    r"<[^>\n]*>",
)
"""What prose says in another language than its own: no term is looked for in it, nor in the name of a scene."""


@dataclass(frozen=True)
class Term:
    """One entry: the forms a text may use, the first of them its name, and the scene that teaches it."""

    key: str
    words: tuple[str, ...]
    definition: str
    stem: str
    scene: str

    @property
    def name(self) -> str:
        """As the glossary lists it."""
        return self.words[0]

    @property
    def taught(self) -> course.Entry:
        """The page that teaches it. Raises KeyError for one that is not in the course."""
        return course.entry(self.stem)

    @property
    def address(self) -> str:
        """Where it is taught, relative to any page."""
        return f"{self.stem}?{urlencode(self.taught.scene(self.scene))}"


def terms() -> tuple[Term, ...]:
    """Every term of content/<language>/glossary.md: a block of its forms, its definition, and where it is taught.

    Raises ValueError for a block that is not these three.
    """
    return _terms(content.language())


@lru_cache(maxsize=8)
def _terms(language: str) -> tuple[Term, ...]:
    blocks = content.load("glossary", language)
    return tuple(
        _term(name.removeprefix("term."), block) for name, block in blocks.items() if name.startswith("term.")
    )


def _term(key: str, block: str) -> Term:
    words, definition, taught = block.split("\n\n")
    stem, scene = taught.split()
    return Term(key, tuple(word.strip() for word in words.split(",")), definition, stem, scene)


@lru_cache(maxsize=8)
def _pattern(language: str) -> re.Pattern[str]:
    """What to leave alone, or a form of a term: the longest first, whole words, no part of a longer compound."""
    forms = sorted((word for term in _terms(language) for word in term.words), key=len, reverse=True)
    words = "|".join(map(re.escape, forms))
    scenes = "|".join(sorted({re.escape(title) for page in course.PAGES for title in page.scenes.values()}))
    return re.compile(
        rf"(?:{'|'.join(_UNTOUCHED)}|\*(?-i:{scenes})\*)|(?<![\w=/-])(?P<word>{words})(?![\w=/-])",
        re.DOTALL | re.MULTILINE | re.I,
    )


@lru_cache(maxsize=8)
def _by_form(language: str) -> dict[str, Term]:
    return {word.casefold(): term for term in _terms(language) for word in term.words}


def find(markdown: str) -> tuple[Term, ...]:
    """The terms that a text uses, each once, in the order of their first use."""
    language = content.language()
    terms = (match["word"] for match in _pattern(language).finditer(markdown) if match["word"])
    return tuple(dict.fromkeys(_by_form(language)[word.casefold()] for word in terms))


def marked(markdown: str, stem: str) -> str:
    """Markdown whose terms carry their definition, at their first use, as HTML. `place` makes their ids unique."""
    return _marked(markdown, stem, content.language())


@lru_cache(maxsize=512)
def _marked(markdown: str, stem: str, language: str) -> str:
    seen: set[str] = set()

    def mark(match: re.Match[str]) -> str:
        word = match["word"]
        if not word or (term := _by_form(language)[word.casefold()]).key in seen:
            return match[0]
        seen.add(term.key)
        return _button(word, term, f"term-{stem.replace('.', '-')}-{term.key}")

    return _pattern(language).sub(mark, markdown)


def _button(word: str, term: Term, name: str) -> str:
    """The word as something to point at, tab to or tap, described by its definition."""
    definition = escape(escape_html(term.definition, quote=False))
    return (
        f'<span class="term"><span role="button" tabindex="0" aria-describedby="{name}">{word}</span>'
        f'<span role="tooltip" id="{name}" hidden>{definition}</span></span>'
    )


def table() -> str:
    """Every term, what it means, and a link to the scene that teaches it, as Markdown."""
    rows = sorted(terms(), key=lambda term: term.name.casefold())
    lines = [
        f"| **{escape(term.name)}** | {escape(term.definition)} | [{_place(term)}]({term.address}) |"
        for term in rows
    ]
    return "\n".join([said("shell", "glossary.head"), "|---|---|---|", *lines])


def _place(term: Term) -> str:
    return f"{term.taught.title}, {term.taught.scenes[term.scene]}"
