"""A language is a folder: its words, its numbers, its plurals, and what stands in where it has none."""

import ast
import re
import threading
from pathlib import Path

import pytest
import streamlit
from hypothesis import given
from hypothesis import strategies as st

from core import units
from core.text import question
from core.text.numbers import number
from core.text.quantity import read_quantity
from runtime import content, plurals, quantities
from runtime.prose import Prose, said, written
from tests.each import each
from tests.said import stems
from ui.comm_cost.rows import sum_in_ms


@pytest.fixture
def spanish():
    with content.speaking("es"):
        yield


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A content/ of its own: English, and a language that is being written."""
    for language, blocks in {
        "en": "## play\nPlay\n\n## figure.*\nown: your link\ntable: your table, {{rows|row,rows}}\n",
        "xx": "## figure.*\nown: X link\n",
    }.items():
        (tmp_path / language).mkdir()
        (tmp_path / language / "page.md").write_text(blocks)
    monkeypatch.setattr(content, "CONTENT", tmp_path)
    content.forget()
    yield tmp_path
    content.forget()


def test_a_list_of_labels_is_a_block_for_each(folder):
    assert dict(content.load("page")) == {
        "play": "Play",
        "figure.own": "your link",
        "figure.table": "your table, {{rows|row,rows}}",
    }


def test_what_a_language_lacks_is_said_in_english(folder):
    with content.speaking("xx"):
        assert (said("page", "figure.own"), said("page", "play")) == ("X link", "Play")
        assert "play" not in content.blocks("page", "xx")


@pytest.mark.parametrize("line", ["own your link", ": your link", "own:"])
def test_a_line_of_a_list_that_is_no_entry_is_refused(folder, line):
    (folder / "en" / "bad.md").write_text(f"## figure.*\n{line}\n")
    with pytest.raises(ValueError, match="key: words"):
        content.load("bad")


def test_a_language_is_spoken_by_one_thread_alone(spanish):
    """Two visits run in two threads: neither hears the other's language."""
    heard = []
    other = threading.Thread(target=lambda: heard.append(content.language()))
    other.start()
    other.join()
    assert (heard, content.language()) == (["en"], "es")


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (6.8194e-3, "s", "6,82 ms"),
        (0.4601, "%", "46,0\u202f%"),
        (1_035_648, "n", "1\u202f035\u202f648"),
        (1.25e9, "GB/s", "1,25 GB/s"),
        (1.5, "copia,copias", "1,5 copias"),
        (1, "=queda,quedan", "queda"),
        (0.123456, "g3", "0.123"),
    ],
)
def test_a_quantity_has_the_marks_of_its_language(spanish, value, unit, text):
    """As Spanish engineers write it; what is to be found again in a log keeps its point."""
    assert written(value, unit) == text


@given(st.floats(1e-12, 1e15), st.sampled_from(["en", "es"]))
def test_what_a_page_writes_its_fields_can_read(value, language):
    """Whatever the marks, the one reader of numbers takes the text for the number that core wrote."""
    with content.speaking(language):
        text = quantities.significant(value, 4)
        assert number(quantities.heard(text)) == number(units.significant(value, 4))
        assert number(quantities.grouped(int(value))) == int(value)


@given(st.integers(1000, 999_999), st.sampled_from(["en", "es"]))
def test_a_mark_before_three_digits_is_taken_as_the_one_who_answers_means_it(value, language):
    """`6,819 ms` is 6.819 ms to half the world; a count may have a point there, a time may not."""
    time = question.number(value * 1e-6, "time", {}, 1e-9)
    count = question.number(value, "count", {})
    with content.speaking(language):
        said = [
            quantities.heard(text)
            for text in (f"{value / 1000:.3f} ms", f"{value / 1000:.3f} ms".replace(".", ","))
        ]
        assert all(question.judge(time, text).right for text in said)
        marked = [f"{value:,}".replace(",", mark) for mark in (*",. ", "\u202f", "\u00a0")]
        assert all(question.judge(count, quantities.heard(text)).right for text in marked)
    off = question.number(value * 1e-3, "time", {}, 1e-9)
    assert not question.judge(off, f"{value / 1000:.3f} ms").right


def test_a_number_may_end_in_a_word_of_the_language_for_thousands():
    with content.speaking("es"):
        said = [
            read_quantity(quantities.heard(text))
            for text in ("6,7 mil millones", "6 700 millones", "6,7 GB", "2 billones")
        ]
    assert [read.value for read in said] == pytest.approx([6.7e9, 6.7e9, 6.7e9, 2e12])


def test_a_sum_keeps_its_decimals_in_spanish(spanish):
    """0.386 ms beside 4 ms: the decimals are counted in core's own form, and written with the comma."""
    assert sum_in_ms(4e-3, 0.386e-3) == "4,00 + 0,39 = 4,39 ms"


OF_A_MACHINE = {"cluster/drawing.py", "placement/examples.py", "startup_log/report.py", "two_way_tp/words.py"}
"""Where decimals are geometry, a file's, those of a pasted log, or half of a number that is styled in the end."""


def test_no_page_writes_decimals_past_its_languages_style():
    """The poll's answer stood on a Spanish wall as `46.0 %`: Python's own decimals go through `local`."""
    past = []
    for path in sorted(UI.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        styled = {
            id(part)
            for call in ast.walk(tree)
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "local"
            for part in ast.walk(call)
        }
        for part in ast.walk(tree):
            if isinstance(part, ast.FormattedValue) and part.format_spec and id(part) not in styled:
                form = ast.unparse(part.format_spec)
                if re.search(r"\.([1-9]|\{)\S*[fe%]", form) and str(path.relative_to(UI)) not in OF_A_MACHINE:
                    past.append(f"{path.relative_to(UI)}:{part.lineno}")
    assert past == []


UI = content.CONTENT.parent / "ui"
SOME, TEENS = "v = 0 and i % 10 = 2..4 and i % 100 != 12..14", "v = 0 and i % 100 = 11..14"
MANY = f"v = 0 and i % 10 = 0 or v = 0 and i % 10 = 5..9 or {TEENS}"


@pytest.mark.parametrize(
    ("rules", "counts"),
    [
        ({}, {0: 0, 1: 0, 5: 0}),
        ({"one": "n = 1"}, {0: 1, 1: 0, 1.5: 1, 2: 1}),
        ({"one": "i = 0,1"}, {0: 0, 1: 0, 1.5: 0, 2: 1}),
        ({"one": "i = 1 and v = 0", "few": SOME}, {1: 0, 2: 1, 4: 1, 5: 2, 12: 2, 21: 2, 22: 1, 1.5: 2}),
        ({"many": "v != 0", "one": "i = 1 and v = 0", "few": "i = 2..4 and v = 0"}, {1: 0, 3: 1, 1.5: 2, 5: 3}),
        (
            {"one": "v = 0 and i % 10 = 1 and i % 100 != 11", "few": SOME, "many": MANY},
            {1: 0, 21: 0, 11: 2, 3: 1, 13: 2, 22: 1, 100: 2, 1.5: 3},
        ),
    ],
    ids=["Chinese", "Spanish", "French", "Polish", "Czech", "Ukrainian"],
)
def test_a_plural_is_chosen_by_the_languages_rule(rules, counts):
    """Source: Unicode CLDR, Language Plural Rules. Polish has three forms, the last for broken numbers too."""
    chosen = plurals.rule({f"plural.{kind}": rule for kind, rule in rules.items()})
    assert {count: chosen(count) for count in counts} == counts


@pytest.mark.parametrize(
    "rules", [{"one": "n is 1"}, {"one": ""}, {"other": "n = 1"}, {"lots": "n = 5"}, {"one": "n = 1 or"}]
)
def test_what_is_no_rule_of_a_plural_is_refused(rules):
    with pytest.raises(ValueError, match="plural"):
        plurals.rule({f"plural.{kind}": rule for kind, rule in rules.items()})


@pytest.mark.parametrize("language", content.languages())
def test_a_language_says_its_name_its_numbers_and_its_plurals(language):
    said_of_it = content.blocks("language", language)
    assert said_of_it["language"]
    assert said_of_it["finished"] in ("yes", "no")
    assert plurals.rule(said_of_it)(1) == 0
    assert {said_of_it[f"numbers.{part}"] for part in ("decimal", "groups", "percent")} <= set(quantities.MARKS)


OTHERS = [name for name in content.languages() if name != content.ENGLISH]


OWN_RULES = {f"plural.{kind}" for kind in plurals.KINDS}
"""A language has as many kinds of plural as it has."""


def lacking(language: str) -> dict[str, list[str]]:
    """What a language still says in English: the blocks by file, every block of a file that it has not."""
    there = set(stems(language))
    own = {stem: set(content.blocks(stem, language)) if stem in there else set() for stem in stems()}
    left = {stem: sorted(set(content.blocks(stem, content.ENGLISH)) - own[stem] - OWN_RULES) for stem in own}
    return {f"content/{language}/{stem}.md": blocks for stem, blocks in left.items() if blocks}


@pytest.mark.parametrize("language", content.finished())
def test_a_finished_language_lacks_no_file_and_no_block(language):
    assert lacking(language) == {}


def test_all_that_a_begun_language_lacks_is_told_at_once(folder):
    (folder / "en" / "other.md").write_text("## title\nTitle\n")
    assert lacking("xx") == {
        "content/xx/page.md": ["figure.table", "play"],
        "content/xx/other.md": ["title"],
    }


@each("language", OTHERS)
@each("stem", stems())
def test_a_language_has_no_block_and_no_field_that_english_has_not(stem, language):
    if stem not in stems(language):
        return
    english, other = content.blocks(stem, content.ENGLISH), content.blocks(stem, language)
    assert set(other) - OWN_RULES <= set(english)
    paths = lambda text: {path for path, _ in content.FIELD.findall(text)}  # noqa: E731
    differ = {name: paths(english[name]) ^ paths(text) for name, text in other.items() if name not in OWN_RULES}
    assert {name: fields for name, fields in differ.items() if fields} == {}


SHELL = re.compile(r"^try\.")
"""Commands with words beside them, in one run of code."""


def shape(text: str) -> dict[str, list[str]]:
    """What a text has whatever its language: rows and their cells, items, heads, code, links, formulas."""
    return {
        "rows": [str(line.count("|")) for line in text.splitlines() if line.startswith("|")],
        "items": re.findall(r"^\s*(?:[-*]|\d+\.) ", text, re.MULTILINE),
        "heads": re.findall(r"^#+ ", text, re.MULTILINE),
        "code": sorted({*re.findall(r"`[^`\n]+`", text)}),
        "blocks": re.findall(r"^```", text, re.MULTILINE),
        "links": sorted(re.findall(r"\]\(([^)]*)\)", text)),
        "formulas": sorted(re.findall(r"\$[^$\n]+\$", text)),
        "colors": sorted(re.findall(r":(\w+)\[", text)),
        "paragraphs": ["" for part in text.split("\n\n") if part.strip()],
    }


@each("language", [name for name in content.finished() if name != content.ENGLISH])
@each("stem", stems())
def test_a_language_leaves_out_no_row_no_item_and_no_code(stem, language):
    """A row that English gained is looked for, not only its block."""
    english, other = content.blocks(stem, content.ENGLISH), content.blocks(stem, language)
    differ = {
        name: {part for part, has in shape(text).items() if shape(other[name])[part] != has}
        for name, text in english.items()
        if name in other and not SHELL.match(name) and name not in OWN_RULES
    }
    assert {name: parts for name, parts in differ.items() if parts} == {}


@pytest.mark.parametrize("language", OTHERS)
def test_a_language_has_no_file_that_english_has_not(language):
    assert set(stems(language)) <= set(stems())


def test_a_field_may_be_told_twice_and_agree_with_its_count(spanish):
    prose = Prose({"left": "{{gpus|=Queda,Quedan}} {{gpus|GPU libre,GPU libres}}"}, {"gpus": 2})
    assert prose.text("left") == "Quedan 2 GPU libres"


COMPOSED = {"svg", "marks", "enter", "apply_many", "submit", "option", "options", "no_page_says", "no_page_at_all"}
"""Put together from pieces only where they are shown."""


@pytest.mark.slow
def test_what_is_put_in_the_place_of_streamlits_words_is_what_streamlit_says():
    """Each in the scripts of the release that is installed; a number or a name in it may be anything."""
    scripts = (Path(streamlit.__file__).parent / "static" / "static" / "js").glob("*.js")
    said = b"\n".join(path.read_bytes() for path in scripts)
    words = {name.partition("streamlit.")[2]: text for name, text in content.blocks("shell", "en").items()}
    split = {
        name: [part.encode() for part in re.split("…|Error: ", text) if part]
        for name, text in words.items()
        if name
    }
    assert {name for name, found in split.items() if not all(part in said for part in found)} <= COMPOSED
