"""A README or the guide in another language: the same commands, sections, addresses and numbers."""

import re
from pathlib import Path

import pytest

from runtime import content

ROOT = Path(__file__).resolve().parents[1]
READMES = sorted(path for folder in (ROOT, *ROOT.glob("labs/*")) for path in folder.glob("README.es.md"))
SPANISH = (*READMES, ROOT / "docs/instructor.es.md")


def commands(text: str) -> list[str]:
    """What a reader types, without the remark beside it; names of files in a listing count too."""
    blocks = "\n".join(re.findall(r"^```\n(.*?)^```", text, re.DOTALL | re.MULTILINE))
    return [re.split(r"\s{2,}", line)[0] for line in blocks.splitlines()]


def outside(text: str) -> str:
    """All but the blocks of commands."""
    return re.sub(r"^```\n.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)


def code(text: str) -> set[str]:
    return set(re.findall(r"`([^`]+)`", outside(text)))


def addresses(text: str) -> list[str]:
    """What it links to, in order, in whatever language; to itself in the other language aside."""
    links = [link.replace("lang=es&", "").replace(".es.", ".") for link in re.findall(r"\]\(([^)]+)\)", text)]
    return [link for link in links if link not in ("README.md", "instructor.md")]


def headings(text: str) -> list[int]:
    return [len(marks) for marks in re.findall(r"^(#+) ", outside(text), re.MULTILINE)]


@pytest.mark.parametrize("language", ["en", "es"])
def test_readme_and_overview_ask_and_do_not_answer(language):
    """64 sums, 1.85 and 0.42 times as fast, 46 %, 7/23: a lab asks for each, and none of them is told before."""
    readme = ROOT / {"en": "README.md", "es": "README.es.md"}[language]
    asked = {name: text for name, text in content.blocks("overview", language).items() if ".answer" not in name}
    for text in (outside(readme.read_text(encoding="utf-8")), *asked.values()):
        assert not re.search(r"\b64\b|\b1[.,]8[35]\b|\b0[.,]42|\b46[\u00a0 ]?%|\b7/23\b|\b30[.,]4\b", text)


def test_every_lab_has_one():
    assert len(READMES) == 1 + len(list(ROOT.glob("labs/*/README.md")))


@pytest.mark.parametrize("path", SPANISH, ids=lambda path: path.parent.name)
def test_it_says_what_the_english_one_says(path):
    english, spanish = (
        path.with_name(name).read_text(encoding="utf-8") for name in (path.name.replace(".es.", "."), path.name)
    )
    assert commands(spanish) == commands(english)
    assert headings(spanish) == headings(english)
    assert code(english) <= code(spanish)
    assert addresses(spanish) == addresses(english)
    marks = str.maketrans(",", ".")
    digits = lambda text: set(re.findall(r"\d+(?:[.,]\d+)*", text.translate(marks)))  # noqa: E731
    assert digits(english) == digits(spanish)
