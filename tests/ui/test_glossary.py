"""The glossary: every term has a definition and a place that teaches it, and carries it where it is used."""

import re
from html.parser import HTMLParser

import pytest

from runtime import content
from tests.each import each
from tests.said import stems, without_terms
from ui.course import glossary
from ui.course import pages as course
from ui.course.pages import PAGES
from ui.prose import plain_text

TERMS = glossary.terms()
BUTTON = re.compile(r'<span role="button" tabindex="0" aria-describedby="([^"]+)">([^<]+)</span>')
PAGES_WITH_PROSE = [stem for stem in stems() if stem in {page.stem for page in PAGES[1:]}]


def by_key(key: str) -> glossary.Term:
    return next(term for term in TERMS if term.key == key)


def words_marked(markdown: str) -> list[str]:
    """The words that became buttons."""
    return [word for _, word in BUTTON.findall(glossary.marked(markdown, "see.note"))]


def test_no_form_belongs_to_two_terms():
    forms = [word.casefold() for term in TERMS for word in term.words]
    assert len(forms) == len(set(forms))


@each("term", TERMS)
def test_a_definition_is_one_sentence_and_its_place_is_in_the_course(term):
    assert re.fullmatch(r"[A-Z][^.!?]*\.", term.definition)
    assert term.taught.scenes[term.scene]


@each("term", [term for term in TERMS if term.stem in stems()])
def test_the_scene_that_teaches_a_term_uses_it(term):
    """Its prose, or, where a figure's words are in Python, that of its page."""
    blocks = content.load(term.stem)
    scene = " ".join(text for name, text in blocks.items() if name.startswith(f"{term.scene}."))
    spoken = plain_text(scene).casefold()
    assert any(word.casefold() in spoken for word in term.words), f"{term.name} is not said in {term.address}"


@each("stem", PAGES_WITH_PROSE)
def test_every_page_of_the_course_uses_the_words_of_the_course(stem):
    assert len(glossary.find(" ".join(content.load(stem).values()))) >= 5


def test_the_first_use_carries_the_definition_and_later_ones_do_not():
    rank, ring = by_key("rank"), by_key("ring")
    html = glossary.marked("Two ranks on a ring; each rank waits on the ring.", "see.note")
    assert [word for _, word in BUTTON.findall(html)] == ["ranks", "ring"]
    assert html.count(rank.definition) == html.count(ring.definition) == 1
    assert without_terms(html) == "Two ranks on a ring; each rank waits on the ring."


def test_the_longest_form_wins_and_no_part_of_a_word_is_marked():
    assert words_marked("A decode step fills the KV cache.") == ["decode step", "KV cache"]
    assert words_marked("A stringent, ring-based, prelaunched backlink at TP=2 of node/rank") == []
    assert words_marked("Rings.") == ["Rings"]


@pytest.mark.parametrize(
    "markdown",
    [
        "`rank`",
        "```\nrank = 0\n```",
        "##### A rank\n",
        "[rank](https://x.org/rank)",
        ":violet[latency]",
        r"$rank + 1$",
        '<span title="rank">x</span>',
    ],
)
def test_what_is_not_prose_is_left_as_it_is(markdown):
    assert glossary.marked(markdown, "see.note") == markdown


def test_a_price_opens_no_formula_in_which_a_term_would_be_missed():
    assert words_marked(r"It costs \$3 a rank, or \$4.") == ["rank"]


def test_each_button_is_described_by_the_tooltip_that_follows_it():
    """One id each, even where two blocks of a scene use the same term."""
    html = glossary.marked("a rank", "see.one") + glossary.marked("a rank", "see.two")
    described = [name for name, _ in BUTTON.findall(html)]
    tooltips = re.findall(r'<span role="tooltip" id="([^"]+)" hidden>', html)
    assert described == tooltips
    assert len(set(tooltips)) == 2


class Balance(HTMLParser):
    """Counts what is opened and not closed."""

    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.mark.parametrize("stem", PAGES_WITH_PROSE)
def test_no_prose_holds_markup_of_its_own(stem):
    """It is written as Markdown in which HTML would be obeyed: only the terms' own may be in it."""
    for name, block in content.load(stem).items():
        bare = re.sub(r"```.*?```|`[^`]*`", "", block, flags=re.DOTALL)
        assert not re.search(r"<[a-zA-Z/!?]", bare), f"{stem}: {name}"
        balance = Balance()
        balance.feed(re.sub(r"```.*?```|`[^`]*`", "", glossary.marked(block, name), flags=re.DOTALL))
        assert balance.open == []


@pytest.mark.parametrize("stem", PAGES_WITH_PROSE)
def test_marking_leaves_every_word_of_the_prose_where_it_was(stem):
    for name, block in content.load(stem).items():
        assert without_terms(glossary.marked(block, name)) == block


def test_the_table_lists_every_term_with_a_link_into_the_course():
    table = glossary.table()
    for term in TERMS:
        assert f"**{plain_text(term.name)}**" in table.replace("\\", "")
        assert f"]({term.address})" in table
    assert by_key("rank").address == "start_here?start_scene=rank"
    assert {term.stem for term in TERMS} >= {page.stem for page in course.LABS}


def test_a_long_block_is_marked_in_no_time():
    """No form can backtrack: a paste's worth of near misses is one pass."""
    near_misses = "all-reduc ring_ KV cach ranksx pipelin " * 2_000
    assert glossary.marked(near_misses, "x") == near_misses


@each(
    ("stem", "block", "key"),
    [
        ("overview", "labs", "link"),
        ("two_way_tp", "paid.ledger", "ledger"),
        ("two_way_tp", "paid.public", "ledger"),
        ("two_way_tp", "paid.checklist", "ledger"),
        ("clinic", "starved_pipeline.model", "traffic"),
        ("clinic", "starved_pipeline.fix", "traffic"),
        ("clinic", "starved_pipeline.seen", "traffic"),
        ("clinic", "limits.body", "traffic"),
        ("pipeline_bubble", "engines.body", "block"),
        ("strategy", "collectives.reduce", "norm"),
        ("quiz", "zero_memory.asks", "stage"),
        ("quiz", "fsdp_traffic.why_same", "stage"),
        ("quiz", "per_rank_total.why_half_model", "payload"),
        ("comm_cost", "bench.experts_ratio", "payload"),
        ("placement", "race.reading", "payload"),
    ],
)
@each("language", ["en", "es"])
def test_a_word_meant_otherwise_carries_no_definition(stem, block, key, language):
    """A hyperlink is no link between ranks, a budget's ledger lists no collectives."""
    with content.speaking(language):
        assert key not in {term.key for term in glossary.find(content.load(stem)[block])}


def test_a_stage_is_defined_for_a_pipeline_and_for_an_engines_kernel():
    """The labs use the word for both."""
    for language, both in (("en", ("pipeline", "all-reduce")), ("es", ("pipeline", "all-reduce"))):
        with content.speaking(language):
            definition = next(term.definition for term in glossary.terms() if term.key == "stage")
        assert all(word in definition for word in both)
