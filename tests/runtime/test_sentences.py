"""How long a sentence of a page may be: one that is read takes a breath, and one under a figure half of it."""

import re
from collections.abc import Iterator

import pytest

from runtime import content

LONGEST, LONGEST_CAPTION = 25, 18
"""Words of a sentence in a reading, and in a caption."""
STEMS = sorted(path.stem for path in (content.CONTENT / content.ENGLISH).glob("*.md"))
ONE_WORD = re.compile(r"`[^`\n]*`|\$[^$\n]*\$|\{\{[^{}]*\}\}")
"""Code, a formula and a field."""
CAPTIONS = (("players", re.compile(r"journey\.kind_")), ("sharding_math", re.compile(r"step\.")))
"""Blocks that a figure shows under itself while it is stepped: by file and by what their names begin with."""


def sentences(block: str) -> Iterator[str]:
    """Every sentence of a block: a line or a table's cell ends one too, and what is set apart as code is none."""
    text = re.sub(r"```.*?```|\$\$.*?\$\$", "\n", block, flags=re.DOTALL)
    text = ONE_WORD.sub("x", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text))
    for line in text.splitlines():
        for cell in line.split("|") if line.startswith("|") else [re.sub(r"^\s*(#+|[-*]|\d+\.)\s+", "", line)]:
            yield from re.split(r"(?<=[.?!])[\"”)*]*\s+", cell)


def words(sentence: str) -> int:
    return sum(1 for word in sentence.split() if re.search(r"\w", word))


def longer(stem: str, most: int, named: re.Pattern[str]) -> list[tuple[str, int, str]]:
    """The sentences of a file's blocks of a name that have more words than they may."""
    blocks = content.blocks(stem, content.ENGLISH)
    said = [
        (name, words(one), one) for name, block in blocks.items() if named.match(name) for one in sentences(block)
    ]
    return [one for one in said if one[1] > most]


def test_a_sentence_is_counted_to_its_end_by_words_and_fields():
    block = (
        "Two {{ranks|rank,ranks}} wait.\n- [One](a.md) `x = 1` of **two.** Then\n\n| a b | c |\n```\nno words\n```"
    )
    assert [words(one) for one in sentences(block) if words(one)] == [3, 4, 1, 2, 1]


@pytest.mark.parametrize("stem", STEMS)
def test_no_sentence_needs_more_than_one_breath(stem):
    assert longer(stem, LONGEST, re.compile("")) == []


@pytest.mark.parametrize(("stem", "named"), CAPTIONS)
def test_no_sentence_of_a_caption_is_longer_than_the_figure_is_looked_at(stem, named):
    assert any(named.match(name) for name in content.blocks(stem, content.ENGLISH))
    assert longer(stem, LONGEST_CAPTION, named) == []
