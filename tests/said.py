"""What a page says, without the definitions that its terms carry."""

import io
import re
from collections.abc import Iterator
from functools import cache

import pyarrow as pa
from streamlit.testing.v1 import AppTest

from runtime import content

_SPOKEN = ("title", "subheader", "markdown", "caption", "error", "warning", "info")
_LABELLED = ("button", "radio", "selectbox", "slider", "number_input", "toggle", "text_input", "expander")

_COUNTED = re.compile(r"\{\{[^}|]*\|([^},|]+),([^}]+)\}\}")
"""A field that writes a count with its noun, or with a verb too."""

_ONE = r"(?<![\w.,·×\u202f\u00a0/=−-])(?<!\+ )1[ \u00a0]"
_MANY = r"(?<![\w.,])(?:[2-9]|\d[\d\u202f]*[02-9])[ \u00a0]"
_VERBS = "are|have|were|do|share|need|wait|send|take|hold|run|make|keep|stand|give|pass"

_TERM = re.compile(
    r'<span class="term"><span role="button"[^>]*>([^<]*)</span><span role="tooltip".*?</span></span>'
)


@cache
def _disagreement() -> re.Pattern[str]:
    """One of what is said of many, many of what is said of one, and a verb of many after one."""
    pairs = {
        pair
        for stem in content.stems()
        for block in content.load(stem).values()
        for pair in _COUNTED.findall(block)
    }
    one, many = ("|".join(re.escape(pair[which]) for pair in pairs if pair[0] != pair[1]) for which in (0, 1))
    return re.compile(
        rf"{_ONE}(?:{many}|[a-z]{{3,}}(?:[aeiourtkngmlpd]|ie)s|GPUs)\b(?! of\b)"
        rf"|{_MANY}(?:{one})(?![\w-])|{_ONE}(?:{one}) (?:{_VERBS})\b"
    )


def disagreements(text: str) -> list[str]:
    """Counts whose noun or verb has the wrong number, as they stand in what a visitor reads.

    >>> disagreements("1 GPU, 8 GPUs, 1 pass, 1.5 tokens"), disagreements("1 verdicts are; 2 rank; 1 GPU share")
    ([], ['1 verdicts', '2 rank', '1 GPU share'])
    """
    return [found[0] for found in _disagreement().finditer(without_terms(text))]


def shown(app: AppTest) -> Iterator[str]:
    """Every text of a page: what it says, its controls' labels, and the words in its figures' data."""
    for kind in _SPOKEN:
        yield from (element.value for element in app.get(kind))
    for kind in _LABELLED:
        yield from (element.label for element in app.get(kind))
    for chart in app.get("vega_lite_chart"):
        for data in chart.proto.datasets:
            for column in pa.ipc.open_stream(io.BytesIO(data.data.data)).read_all().columns:
                yield from (str(value) for value in column.to_pylist() if isinstance(value, str))


def without_terms(markdown: str) -> str:
    """Prose as it stands in content/, each term the bare word it was."""
    return _TERM.sub(r"\1", markdown)
