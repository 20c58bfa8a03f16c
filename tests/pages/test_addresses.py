"""An address names options by key, holds the language, and reads numbers as people write them."""

from types import SimpleNamespace

import pytest

from runtime import content
from tests.pages.test_every_scene import visit
from ui import address, language
from ui.course.pages import LABS, entry


def ignored(app) -> list[str]:
    return [element.value for element in app.markdown if "Ignored in the address" in element.value]


@pytest.mark.parametrize(
    ("locale", "header", "spoken"),
    [
        ("es-MX", "", "es"),
        ("es", "en", "es"),
        ("en-GB", "en-GB,es;q=0.9", "en"),
        ("de-DE", "de-DE,es;q=0.7,en;q=0.3", "es"),
        ("fr", "fr,de", "en"),
        (None, "", "en"),
    ],
)
def test_a_first_visit_is_in_the_first_language_that_the_browser_asks_for(monkeypatch, locale, header, spoken):
    monkeypatch.setattr(language.st, "context", SimpleNamespace(locale=locale, headers={"Accept-Language": header}))
    assert language.preferred() == spoken


@pytest.mark.parametrize("name", [*content.languages(), "xx"])
def test_the_address_chooses_the_language(name):
    app = visit(LABS[1], lang=name)
    spoken = name if name in content.languages() else content.ENGLISH
    scenes = app.segmented_control(key=f"scenes_{LABS[1].prefix}")
    with content.speaking(spoken):
        assert scenes.options == list(LABS[1].scenes.values())
    assert bool(ignored(app)) == (name not in content.languages())
    assert content.language() == content.ENGLISH, "a visit's language stays in its thread"


@pytest.mark.parametrize(
    ("name", "written", "read", "kept"),
    [
        ("bill_alpha", "2,5", 2.5, "2.5"),
        ("bill_alpha", "2,3", 2.3, "2.3"),
        ("bill_alpha", "1\u202f000", 1000.0, "1000"),
        ("bill_tokens", "1'024", 1024, "1024"),
        ("bill_alpha", "--5", 50.0, None),
        ("bill_alpha", "\u22123", 50.0, None),
        ("bill_tokens", "2,5", 1, None),
    ],
)
def test_a_number_in_the_address_is_read_as_its_users_write_it_or_told(name, written, read, kept):
    app = visit(entry("comm_cost"), bill_scene="bench", **{name: written})
    assert not app.exception
    assert app.number_input(name).value == read
    assert app.query_params.get(name) == kept
    assert bool(ignored(app)) == (kept is None)


def test_a_press_of_a_slider_stands_against_what_its_field_had_not_yet_heard():
    """The browser sends both: the slider as it was moved, the field as it was before the run that tells it anew."""
    app = visit(entry("comm_cost"), bill_guess="1")
    app.slider(key="bill_guess").set_value(5)
    app.number_input(key="bill_guess_typed").set_value(0)
    app.run()
    assert app.query_params["bill_guess"] == "5"
    assert app.slider(key="bill_guess").value == app.number_input(key="bill_guess_typed").value == 5
    app.number_input(key="bill_guess_typed").set_value(7).run()
    assert app.query_params["bill_guess"] == "7"


def test_a_later_press_brings_no_old_value_of_a_field_that_shows_another(monkeypatch):
    """Reveal, pressed before the browser heard of the run that moved the field, sent it as it was: 2 for 5."""
    app = visit(entry("comm_cost"), bill_guess="2")
    app.slider(key="bill_guess").set_value(5).run()
    app.number_input(key="bill_guess_typed").set_value(2).run()
    assert app.query_params["bill_guess"] == "5"
    assert app.slider(key="bill_guess").value == app.number_input(key="bill_guess_typed").value == 5
    monkeypatch.setattr(address, "LATE_S", 0.0)  # by then it has heard
    app.number_input(key="bill_guess_typed").set_value(2).run()
    assert app.query_params["bill_guess"] == "2"
