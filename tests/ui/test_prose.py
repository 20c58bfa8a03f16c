"""Prose: words in content/, numbers from core, and nothing typed that is computed."""

import re
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.catalog import GPUS, LINKS, MODELS
from runtime import content
from runtime.prose import UNITS
from tests.each import each
from tests.equations import wrong
from tests.said import stems
from ui.comm_cost.rows import sum_in_ms
from ui.course.pages import PAGES
from ui.prose import Prose, breakable, escape, plain_text

CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\([^)]*\)|https?://\S+")
LAB = re.compile(r"\b[Ll]abs? \d\d(?:(?:, | and |–|-)\d\d)*|^0[1-4] ")
NAMES = re.compile(r"\b(?:bf16|fp8|p9[59]|[HAL]\d{2,3}[SG]?|99 of 100|Qwen3 32B|RTX \d{4}|900 GB/s)\b")
"""Formats, quantiles and machines, that are called so."""

QUOTED = {("ask", "posted")}
"""Questions in the words of who asked them, numbers and all."""
LABEL = re.compile(
    r"\b(?:TP|PP|EP|DP)=\d+\b|\bW[12]\b|\bZeRO-\d\b|\b1F1B\b|\bP2P\b|\bDeepSeek-V\d\b|\b2\(N-1\)(?:/N)?"
)
CATALOG = sorted(
    {name for rows in (MODELS, GPUS, LINKS) for row in rows.values() for name in (row.key, row.name)},
    key=len,
    reverse=True,
)


def typed_digits(markdown: str) -> list[str]:
    """Words with a digit outside code, links, numbered lists, labs, TP labels, matrices' and catalog names."""
    markdown = re.sub(r"^ *\d+\. ", "", markdown, flags=re.MULTILINE)
    text = NAMES.sub("", LABEL.sub("", LAB.sub("", LINK.sub("", content.FIELD.sub("", CODE.sub("", markdown))))))
    for name in CATALOG:
        text = text.replace(name, "")
    return [word for word in text.split() if re.search(r"\d", word)]


@each("stem", stems())
def test_no_number_is_typed_in_prose(stem):
    read = {name: block for name, block in content.load(stem).items() if not name.startswith("plural.")}
    found = {name: typed_digits(block) for name, block in read.items() if (stem, name) not in QUOTED}
    assert not {name: words for name, words in found.items() if words}


def test_the_digit_rule_catches_a_typed_number():
    assert typed_digits("It takes 8 ms, see lab 03 and `x[4]` at TP=2 on llama-3-8b.") == ["8"]


LEFT = (
    r"costs? (?:two|\{\{[^}]*\}\}) all-reduces; a",
    r"a wait and a crossing",
    r"were that the (?:one-way|round trip)|were that a round trip",
    r"must be hidden to more than|hides no more than it is long",
    r"bars? runs? from the least to the value",
    r"right so far,|\}\} pass\.",
    r"\b(?:counting|taking|dividing|adding|forgetting) (?:one|a|the|only) [^.]{0,40}(?:half|for a byte)\.",
    r"nothing more need be said",
    r"verdicts are another than",
    r"less bubble than there can be",
    r"\bfor they\b|\bin the mean\b|\bthe pipe\b|\bread otherwise\b|\bdeal out over\b",
    r"\bnobody (?:does|waits|compares|adds)\b|\bis made to wait\b|\bstands? back\b",
    r"\bis no (?:json|csv|event|reduction|number in|result of)\b|\bof no known\b",
)
"""Terse or foreign phrases that were on the pages once, in any form."""


@each("stem", stems())
def test_the_words_that_a_newcomer_stumbled_over_are_gone(stem):
    text = "\n".join(content.load(stem).values())
    assert not [found[0] for pattern in LEFT for found in re.finditer(pattern, text, re.IGNORECASE)]


FORMULA = re.compile(r"`[^`\n]*(?:[·÷×−√^Σ]| / )[^`\n]*`")
LETTER = re.compile(r"(?<![^\W\d_])[A-Za-zα-ω](?![A-Za-zα-ω_\d])")


@pytest.mark.parametrize("language", content.languages())
def test_the_letters_of_a_formula_are_named_where_it_is_met(language):
    """Lab 03's bill was `T · d · b` and `2(N−1)/N · n/β`, and no word of what they stand for."""
    unnamed = {}
    for stem in stems(language):
        for name, block in content.blocks(stem, language).items():
            beside = set(LETTER.findall(content.FIELD.sub("", FORMULA.sub("", block))))
            missing = {letter for formula in FORMULA.findall(block) for letter in LETTER.findall(formula)} - beside
            unnamed |= {(stem, name): missing} if missing else {}
    assert not unnamed


@each("stem", stems())
def test_every_scene_of_a_page_has_a_title(stem):
    scenes = {page.stem: page.scenes for page in PAGES[1:]}.get(stem, {})
    assert {f"{scene}.title" for scene in scenes} <= set(content.load(stem))


def test_a_value_shows_itself_and_nothing_else():
    """`$0.70` would open a formula, `_x_` emphasis, `<b>` markup."""
    prose = Prose({"price": "It costs {{price}}."}, {"price": "$0.70 <b>_x_"})
    assert prose.text("price") == r"It costs \$0.70 \<b\>\_x\_."
    assert prose.plain("price") == "It costs $0.70 <b>_x_."


def test_a_field_that_no_page_fills_is_an_error():
    with pytest.raises(KeyError, match="missing"):
        Prose({"block": "{{missing}}"}).text("block")


@dataclass(frozen=True)
class Bill:
    """A row as core returns it."""

    comm_fraction: float = 0.46
    payload_bytes: int = 8192
    ranks: int = 2


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{{bill.comm_fraction|%}}", "46.0%"),
        ("{{bill.payload_bytes|KiB}}", "8\u00a0KiB"),
        ("{{ranks}} ms or {{one}} GB/s, {{one}} GBs", "2\u00a0ms or 1\u00a0GB/s, 1 GBs"),
        ("`{{ranks}} GB`", "`2 GB`"),
        ("{{bill.ranks|GPU,GPUs}}", "2 GPUs"),
        ("{{one|GPU,GPUs}}", "1 GPU"),
        ("{{ranks}} of {{one}}", "2 of 1"),
    ],
)
def test_a_field_names_a_rows_attribute_and_its_unit(template, text):
    assert Prose({"block": template}, {"bill": Bill(), "one": 1}).text("block", Bill()) == text


@pytest.mark.parametrize("template", ["{{bill.nothing}}", "{{bill.ranks|furlong}}"])
def test_an_unknown_attribute_or_unit_is_an_error(template):
    with pytest.raises((AttributeError, KeyError)):
        Prose({"block": template}, {"bill": Bill()}).text("block")


@each("stem", stems())
def test_every_unit_a_field_names_is_one_there_is(stem):
    named = {unit for block in content.load(stem).values() for _, unit in content.FIELD.findall(block) if unit}
    assert {unit.removeprefix("+") for unit in named if "," not in unit} <= {*UNITS, "word", "^"}


def test_braces_of_formulas_are_no_fields():
    latex = r"$\frac{p-1}{p+m-1}$ and {\"a\": {\"b\": 1}} and {{ spaced }}"
    assert Prose({"block": latex}).text("block") == latex


def test_a_long_name_in_a_table_is_broken_between_its_words_alone():
    """On a wall `linear.py` stood as `linear.p` and `y`; a command in a sentence is copied as it stands."""
    row = "| [`megatron/core/tensor_parallel/layers.py`](https://x.org) | `MergedColumnParallelLinear` | `tp=2` |"
    assert breakable(f"`some/long/path_to/a.py`\n\n{row}").split("\n") == [
        "`some/long/path_to/a.py`",
        "",
        "| [<code>megatron/<wbr>core/<wbr>tensor&#95;<wbr>parallel/<wbr>layers.py</code>](https://x.org)"
        " | <code>Merged<wbr>Column<wbr>Parallel<wbr>Linear</code> | `tp=2` |",
    ]


def test_an_underscore_inside_a_name_is_no_mark():
    assert plain_text("_so_ much: `counted_bubble(spans)`") == "so much: counted_bubble(spans)"


def test_plain_text_reads_markdown_aloud():
    assert (
        plain_text("**Nearly** :violet[latency] of `x` in [vLLM](https://x.org)") == "Nearly latency of x in vLLM"
    )


@pytest.mark.parametrize("address", ["https://example.org/a", "HTTP://x.org", "www.example.org", "ada@example.org"])
def test_an_address_that_somebody_typed_is_no_link(address):
    """What Streamlit's Markdown looks for: a scheme with its slashes, `www.`, a name and a host around an `@`."""
    shown = escape(f"see {address}")
    assert not re.search(r"https?://|www\.|\w@\w", shown.replace("\\", ""), re.IGNORECASE)
    assert plain_text(shown) == f"see {address}"


def test_escape_leaves_plain_words_alone():
    assert escape("8 GPUs, 4.6 %") == "8 GPUs, 4.6 %"


def test_a_number_stays_with_its_unit_where_a_line_ends():
    assert escape("5,75 µs") == "5,75\u00a0µs"


BRITISH = re.compile(
    r"\b\w*(?:(?:col|neighb|behavi|fav|hon)our|(?:recogn|optim|quant|util|normal|synchron|organ|summar|initial)is[ei]|"
    r"analys[ei](?!s)|cancelled|labelled|modelled|licence|centre|grey)\w*",
    re.I,
)


@each("stem", stems())
def test_english_is_spelled_as_in_america(stem):
    blocks = {name: content.FIELD.sub("", CODE.sub("", block)) for name, block in content.load(stem).items()}
    assert not {name: found for name, block in blocks.items() if (found := BRITISH.findall(block))}


@given(st.lists(st.floats(0, 1e12), min_size=2, max_size=4))
def test_the_addends_of_a_block_add_up_as_shown(parts):
    """`170 GB + 162 MB + 3.5 GB = 173 GB` stood on a page, and `6.32 + 0.33 = 6.64` in a figure."""
    rows = dict(zip("abcd", parts, strict=False)) | {"all": sum(parts)}
    block = " + ".join(f"{{{{{name}|+GB}}}}" for name in rows if name != "all") + " = {{all|GB}}"
    assert wrong(Prose({"block": block}, rows).text("block")) == []
    assert wrong(sum_in_ms(parts[0] / 1e9, parts[1] / 1e9)) == []
