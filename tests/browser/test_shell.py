"""The shell in a real browser: deep links, the scenario on its way, presenting, the keyboard, phones."""

import pytest

from tests.browser.conftest import arrive, press, settle
from ui.course import LABS


def navigation(page) -> list[str]:
    return page.get_by_test_id("stTopNavLink").all_inner_texts()


def summary(page) -> str:
    return page.locator(".st-key-scenario").inner_text()


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.stem)
def test_a_deep_link_is_right_as_the_first_visit_to_a_cold_server(cold_server, open_page, lab):
    """Streamlit alone would run the page file without its shell: no navigation, narrow, the title a file name."""
    page = open_page(f"{cold_server}/{lab.stem}?{lab.prefix}_scene=Count+it&tp=4")
    assert lab.title in navigation(page)
    assert page.get_by_role("tab", name="Count it").get_attribute("aria-selected") == "true"
    assert "TP=4" in summary(page)
    assert page.get_by_role("dialog").count() == 0
    assert f"{lab.prefix}_scene=Count+it" in page.url
    assert "tp=4" in page.url


def test_garbage_in_the_address_gives_defaults_and_one_line(app, open_page):
    page = open_page(f"{app}/comm_cost?tp=banana&model=%3Cscript%3E&bill_scene=Nowhere&bill_alpha=-1&nonsense=1")
    line = page.get_by_text("Ignored in the address").inner_text()
    for name in ("tp", "model", "bill_scene", "nonsense"):
        assert name in line
    assert page.get_by_role("tab", name="Question").get_attribute("aria-selected") == "true"
    assert page.get_by_test_id("stException").count() == 0


def test_an_alias_in_the_address_becomes_the_catalog_key(app, open_page):
    page = open_page(f"{app}/comm_cost?model=meta-llama/Meta-Llama-3-70B-Instruct")
    assert "llama-3-70b" in summary(page)
    assert "model=llama-3-70b" in page.url


def test_the_scenario_goes_along_to_the_next_page_and_survives_a_reload(app, open_page):
    page = open_page(f"{app}/comm_cost?tp=8&model=llama-3-70b")
    page.get_by_test_id("stTopNavLink").filter(has_text="04 Pipelines").click()
    arrive(page, "pipeline_bubble")
    assert "tp=8" in page.url
    page.reload()
    settle(page)
    assert "llama-3-70b" in summary(page)
    assert "TP=8" in summary(page)


def test_presenting_hides_the_shell_and_is_left_by_the_key_that_began_it(app, open_page):
    page = open_page(f"{app}/comm_cost", width=1920, height=1080)
    press(page, "p")
    assert "present=true" in page.url
    assert not page.get_by_test_id("stHeader").is_visible()
    size = page.evaluate("parseFloat(getComputedStyle(document.querySelector('.stMarkdown p')).fontSize)")
    assert size >= 24
    press(page, "p")
    assert page.get_by_test_id("stHeader").is_visible()


def test_a_prediction_is_committed_then_revealed_by_keyboard(app, open_page):
    page = open_page(f"{app}/comm_cost")
    reveal = page.get_by_role("button", name="Reveal")
    assert reveal.is_disabled()
    slider = page.get_by_role("slider")
    slider.focus()
    for _ in range(15):
        page.keyboard.press("ArrowRight")
    page.wait_for_timeout(600)
    settle(page)
    assert "bill_guess=15" in page.url
    slider.blur()
    press(page, "v")
    assert "bill_revealed=true" in page.url
    assert page.get_by_text("Nearly all of that bill is waiting").is_visible()
