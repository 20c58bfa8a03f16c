"""What a page says, without the definitions that its terms carry."""

import json
import re
from collections.abc import Iterator
from functools import cache
from html import unescape

import pyarrow as pa
from streamlit.testing.v1 import AppTest

from runtime import content
from runtime.content import slug
from ui.figures.parts import PART

_SPOKEN = ("title", "subheader", "markdown", "caption", "error", "warning", "info")
_LABELLED = ("button", "radio", "selectbox", "slider", "number_input", "toggle", "text_input", "expander")

_COUNTED = re.compile(r"\{\{[^}|]*\|([^},|]+),([^}]+)\}\}")
"""A field that writes a count with its noun, or with a verb too."""

_ONE = r"(?<![\w.,·×\u202f\u00a0/=−-])(?<!\+ )1[ \u00a0]"
_MANY = r"(?<![\w.,])(?:[2-9]|\d[\d\u202f]*[02-9])[ \u00a0]"
_VERBS = (
    "are|have|were|do|share|need|wait|send|take|hold|run|make|keep|stand|give|pass"
    "|son|están|tienen|eran|hacen|esperan|envían|toman|necesitan|comparten|van|quedan|caben|dan"
)

_TERM = re.compile(
    r'<span class="term"><span role="button"[^>]*>([^<]*)</span><span role="tooltip".*?</span></span>'
)


_FRACTIONS = re.compile(r'<div class="fraction-row"[^>]*>(.*?)</div>')
_FRACTION = re.compile(r'<span class="fraction"><span>(.*?)</span><span>(.*?)</span></span>')
_DATUM = re.compile(r"\bdatum\.(\w+)")
_PLURALS = {"en": r"[a-z]{3,}(?:[aeiourtkngmlpd]|ie)s\b(?! of\b)|GPUs", "es": r"\w{3,}(?:as|os|es)\b(?! de\b)"}
"""What ends as a plural does, in a language."""

_HERS = "GPU|capa|etapa|secuencia|petición|réplica|máquina|ronda|vez|carga|caché|matriz|fila|cabeza|suma|colectiva"
_HIS = "rango|enlace|token|paso|salto|nodo|modelo|motor|cable|puerto|byte|batch|experto|all-reduce|prompt|trozo"
_ARTICLES = {"es": rf"|\b(?:un|el|del|al) (?:{_HERS})\b|\b(?:una|las?) (?:{_HIS})s?\b|\b(?:de|a) el\b"}
"""An article of the other gender than its noun's, and two words that are one."""


@cache
def _disagreement(language: str) -> re.Pattern[str]:
    """One of what is said of many, many of what is said of one, a verb of many after one, another's article."""
    pairs = {
        pair
        for stem in stems(language)
        for block in content.blocks(stem, language).values()
        for pair in _COUNTED.findall(block)
    }
    one, many = ("|".join(re.escape(pair[which]) for pair in pairs if pair[0] != pair[1]) for which in (0, 1))
    return re.compile(
        rf"{_ONE}(?:(?:{many})\b(?! (?:of|de)\b)|{_PLURALS[language]})"
        rf"|{_MANY}(?:{one})(?![\w-])|{_ONE}(?:{one}) (?:{_VERBS})\b{_ARTICLES.get(language, '')}"
    )


def disagreements(text: str, language: str = content.ENGLISH) -> list[str]:
    """Counts whose noun or verb has the wrong number, as they stand in what a visitor reads.

    >>> disagreements("1 GPU, 8 GPUs, 1 pass, 1.5 tokens"), disagreements("1 verdicts are; 2 rank; 1 GPU share")
    ([], ['1 verdicts', '2 rank', '1 GPU share'])
    >>> disagreements("1 GPU, 8 GPU, una capa, 2 capas", "es"), disagreements("1 capas, 2 capa, un GPU", "es")
    ([], ['1 capas', '2 capa', 'un GPU'])
    """
    return [found[0] for found in _disagreement(language).finditer(without_terms(text))]


def shown(app: AppTest) -> Iterator[str]:
    """Every text of a page: what it says, its controls' labels, and the words in its figures' data."""
    for kind in _SPOKEN:
        yield from (element.value for element in app.get(kind))
    for kind in _LABELLED:
        yield from (element.label for element in app.get(kind))
    for part in app.get("html"):
        yield from (_equation(row) for row in _FRACTIONS.findall(part.proto.body))
    for chart in app.get("vega_lite_chart"):
        for data in chart.proto.datasets:
            for column in pa.ipc.open_stream(data.data.data).read_all().columns:
                yield from (str(value) for value in column.to_pylist() if isinstance(value, str))


def _equation(row: str) -> str:
    """The stacked fractions of an equation on a line."""
    line = _FRACTION.sub(r"(\1) ÷ (\2)", row).replace('<span aria-hidden="true">=</span>', " = ")
    return unescape(re.sub(r"<[^>]*>", "", line))


def unknown_fields(app: AppTest) -> list[str]:
    """What the figures of a page compute with and neither their rows nor an earlier step have: `undefined`."""
    unknown = []
    for chart in app.get("vega_lite_chart"):
        parts = {part.name: pa.ipc.open_stream(part.data.data).read_all() for part in chart.proto.datasets}
        for layer in json.loads(chart.proto.spec).get("layer", ()):
            steps, rows = layer.get("transform", ()), parts[layer["data"]["name"]]
            if PART in rows.schema.names and rows.column(PART).null_count == 0:
                continue  # nothing of it is drawn, and nothing computed
            known = {*rows.schema.names, *(step["as"] for step in steps if isinstance(step.get("as"), str))}
            used = (_DATUM.findall(str(step.get("calculate", step.get("filter", "")))) for step in steps)
            unknown += [field for fields in used for field in fields if field not in known]
    return unknown


def without_terms(markdown: str) -> str:
    """Prose as it stands in content/, each term the bare word it was, no space a no-break one."""
    return _TERM.sub(r"\1", markdown).replace("\u00a0", " ")


def stems(name: str = content.ENGLISH) -> list[str]:
    """Every page that has prose in a language."""
    return sorted(path.stem for path in (content.CONTENT / name).glob("*.md"))


def fields_of(text: str) -> set[str]:
    """The first name of every field in a text: what whoever shows it must know."""
    return {path.partition(".")[0] for path, _ in content.FIELD.findall(text)}


def in_address(value: object) -> str:
    """An option of the code as an address has it: by its key where it is said in words, else as it is."""
    text = str(value)
    return slug(text) if " " in text or text != text.lower() else text
