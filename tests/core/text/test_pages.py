"""Markdown as a page: what this project writes becomes its markup, and nothing that a student wrote does."""

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.pages import as_cell, as_code, body
from runtime.files import ROOT

READMES = sorted((ROOT / "labs").glob("lab-*/README*.md"))
OURS = {"h1", "h2", "h3", "h4", "h5", "h6", "p", "ul", "ol", "li", "table", "tr", "th", "td", "code", "pre"}
OURS |= {"strong", "em", "a"}


class Read(HTMLParser):
    """A page's tags, in order, and its text."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.text = [], [], ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        ("# One\ntwo\nthree", "<h1>One</h1>\n<p>two three</p>"),
        ("- a\n- b\n  c", "<ul><li>a</li><li>b c</li></ul>"),
        ("1. a\n2. b", "<ol><li>a</li><li>b</li></ol>"),
        ("| a | b |\n|---|---|\n| `x|y` | 2 |".replace("x|y", "x\\|y"),
         "<table><tr><th>a</th><th>b</th></tr><tr><td><code>x|y</code></td><td>2</td></tr></table>"),
        ("```\n<b> & c\n```", "<pre><code>&lt;b&gt; &amp; c</code></pre>"),
        ("**a** *b* 2*3*4 `*c*`", "<p><strong>a</strong> <em>b</em> 2*3*4 <code>*c*</code></p>"),
        ("[a](https://x.org/?a=1&b=2) [b](../c.md)", '<p><a href="https://x.org/?a=1&amp;b=2">a</a> b</p>'),
        ("[a](javascript:alert)", "<p>a</p>"),
    ],
)  # fmt: skip
def test_a_block_becomes_its_markup(markdown, html):
    assert body(markdown) == html


@pytest.mark.parametrize("readme", READMES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_every_labs_task_keeps_its_words_headings_and_rows(readme):
    markdown = readme.read_text(encoding="utf-8")
    read = Read(body(markdown))
    lines, fenced, kept = markdown.splitlines(), False, []
    for line in lines:
        fenced ^= line.startswith("```")
        kept += [] if fenced else [line]
    tags = [tag for tag, _ in read.tags]
    assert sum(tag[0] == "h" and tag[1:].isdigit() for tag in tags) == sum(line.startswith("#") for line in kept)
    ruled = sum(line.startswith("|--") for line in kept)
    assert tags.count("tr") == sum(line.startswith("|") for line in kept) - ruled
    assert tags.count("pre") == sum(line.startswith("```") for line in lines) / 2
    assert "|" not in read.text.replace("||", "")
    assert "**" not in read.text


@given(st.text() | st.text(alphabet="`|<>&*[]()#-\\\n a\"'"))
def test_whatever_a_student_wrote_is_text(text):
    inside = f"# x\n\n- {as_code(text)}\n\n| a |\n|---|\n| {as_cell(as_code(text))} |\n"
    read = Read(body(inside))
    assert read.open == []
    assert [tag for tag, _ in read.tags] == ["h1", "ul", "li", "code", "table", "tr", "th", "tr", "td", "code"]
    said = " ".join(text.split()).replace("\0", "\ufffd")
    assert not said or read.text.count(said) >= 2


@given(st.text() | st.text(alphabet="`|<>&*[]()#-\\\n a\"':/hjs"))
def test_any_markdown_has_our_tags_alone_and_leads_nowhere_but_to_the_web(text):
    for tag, attributes in Read(body(text)).tags:
        assert tag in OURS
        assert set(attributes) <= {"href"}
        assert not attributes or attributes["href"].startswith(("https://", "http://", "#"))


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("a `b` c", "a <code>b</code> c"),
        ("``a`b``", "<code>a`b</code>"),
        ("`` ` ``", "<code>`</code>"),
        (r"\`a`", "`a`"),
        ("`a``", "`a``"),
        ("**a `b*` c**", "<strong>a <code>b*</code> c</strong>"),
        ("`a` ``b` `c``", "<code>a</code> <code>b` `c</code>"),
    ],
)
def test_a_run_of_backticks_ends_at_its_equal(text, html):
    """As CommonMark 0.31 has it, section 6.1."""
    assert body(text) == f"<p>{html}</p>"
