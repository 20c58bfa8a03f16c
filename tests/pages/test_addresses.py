"""An address names options by key; as it was spelt before it opens the same view; and it holds the language."""

from itertools import zip_longest

import pytest

from runtime import content
from tests.pages.test_every_scene import visit
from ui.course.old_addresses import KEYS
from ui.course.pages import LABS, PAGES, entry

PARTS = {page: [name for name in KEYS if name.startswith(f"{page.prefix}_")] for page in PAGES}
ROUNDS = [
    (page, number, dict(pair for pair in pairs if pair))
    for page, names in PARTS.items()
    for number, pairs in enumerate(
        zip_longest(*([(name, old) for old in KEYS[name]] for name in names if not name.endswith("_said")))
    )
]
"""Every old name of every part, as many in one visit as the page has parts."""
SAID = [(name, old) for name in KEYS if name.endswith("_said") for old in KEYS[name]]
"""Answers, which are asked for one case at a time."""


def ignored(app) -> list[str]:
    return [element.value for element in app.markdown if "Ignored in the address" in element.value]


@pytest.mark.parametrize(
    ("page", "query"),
    [
        pytest.param(page, query, id=f"{page.stem}-{number}", marks=[pytest.mark.slow] if number else [])
        for page, number, query in ROUNDS
    ],
)
def test_an_old_address_opens_the_view_it_named(page, query):
    app = visit(page, **query)
    assert not app.exception
    assert not ignored(app)
    assert {name: app.session_state[name] for name in query} == {
        name: KEYS[name][old] for name, old in query.items()
    }


@pytest.mark.slow
@pytest.mark.parametrize(("name", "old"), SAID)
def test_an_old_answer_is_still_the_answer(name, old):
    case = name.removeprefix("log_").removesuffix("_said")
    app = visit(entry("startup_log"), log_scene="exercises", log_case=case, **{name: old})
    assert not ignored(app)
    assert app.session_state[name] == KEYS[name][old]


def test_every_old_name_belongs_to_a_page():
    assert {name for names in PARTS.values() for name in names} == set(KEYS)


def test_a_key_stands_for_itself():
    """No old name is another option's key: whatever the address says has one meaning."""
    for name, keys in KEYS.items():
        clash = {old for old, key in keys.items() if old in keys.values() and old != key}
        assert not clash, name


@pytest.mark.parametrize("name", [*content.languages(), "xx"])
def test_the_address_chooses_the_language(name):
    app = visit(LABS[1], lang=name)
    spoken = name if name in content.languages() else content.ENGLISH
    titles = [tab.label for tab in app.tabs]
    assert titles == [content.load("shell", spoken)[f"tab.{scene}"] for scene in LABS[1].names]
    assert bool(ignored(app)) == (name not in content.languages())
    assert content.language() == content.ENGLISH, "a visit's language stays in its thread"
