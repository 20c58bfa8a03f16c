"""The navigation of the course: its menus, the focus, that no link of it loads a page anew; the row of scenes."""

from urllib.parse import urlsplit

from tests.browser.conftest import arrive, until, wait_for_address
from tests.browser.test_every_page import PHONE, faults, lasting

FOCUSED = "document.activeElement.textContent"

KEPT = """() => new Promise((told) => {
    addEventListener('click', (event) => {
        told([event.defaultPrevented, event.target.href]);
        event.preventDefault();
    }, { once: true });
    document.querySelector('.course a[href*=quiz]').dispatchEvent(
        new MouseEvent('click', { bubbles: true, cancelable: true, composed: true, ctrlKey: true }));
})"""
"""Whether the page kept a click with Control from the browser, and the address that it found."""


def test_the_tools_open_and_close_and_a_link_loads_nothing_anew_and_keeps_the_focus(app, open_page):
    page = open_page(f"{app}/comm_cost?tp=8&embed=true")
    page.evaluate("window.stays = true")
    tools, menu = page.get_by_role("button", name="Tools"), page.locator("#course-tools")
    tools.click()
    menu.wait_for()
    assert abs(menu.bounding_box()["x"] - tools.bounding_box()["x"]) < 2
    page.keyboard.press("Escape")
    menu.wait_for(state="hidden")
    assert page.evaluate(FOCUSED) == "Tools"
    page.keyboard.press("Enter")
    menu.wait_for()
    page.keyboard.press("Tab")
    assert page.evaluate(FOCUSED) == "Place a model"
    page.mouse.click(300, 600)
    menu.wait_for(state="hidden")
    prevented, address = page.evaluate(KEPT)
    assert not prevented
    assert urlsplit(address).query == "tp=8&embed=true"
    tools.click()
    menu.get_by_role("link", name="Quiz").click()
    arrive(page, "quiz")
    assert not menu.is_visible()
    until(page, lambda: page.evaluate(FOCUSED) == "Tools")
    page.get_by_role("link", name="03 The bill").focus()
    page.keyboard.press("Enter")
    arrive(page, "comm_cost")
    until(page, lambda: page.evaluate(FOCUSED) == "03 The bill")
    assert page.locator(".course [aria-current=page]").all_inner_texts() == ["03 The bill"]
    assert page.evaluate("window.stays")
    wait_for_address(page, "embed=true")
    # Streamlit's link over all that comes before the page
    page.get_by_test_id("stSkipToContent").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('.st-key-column') !== null")


def test_on_a_phone_one_button_opens_all_pages_and_nothing_else_is_a_stop_of_the_keyboard(app, open_page):
    page = open_page(f"{app}/comm_cost?lang=es&tp=8", width=PHONE[0], height=PHONE[1])
    links = page.locator(".course a")
    assert not links.first.is_visible(), "a closed menu is no place for the keyboard"
    button = page.get_by_role("button", name="Páginas")
    button.click()
    links.first.wait_for()
    assert links.filter(visible=True).count() == links.count()
    assert lasting(page, faults) == []
    boxes = [one.bounding_box() for one in (button, *links.all())]
    assert min(min(box["width"], box["height"]) for box in boxes) >= 44, "a finger misses it"
    button.click()
    links.first.wait_for(state="hidden")
    button.click()
    page.get_by_role("link", name="Búscalo").click()
    arrive(page, "find_it")
    assert not links.first.is_visible()
    assert "tp=8" in page.url


def test_on_a_phone_the_scene_that_an_address_opens_is_in_sight_and_not_under_the_fade(app, open_page):
    """The row is longer than a phone is wide, and its ends fade where more of it follows."""
    page = open_page(f"{app}/sharding_math?shard_scene=bench", width=PHONE[0], height=PHONE[1])
    row = page.get_by_role("radiogroup", name="Scenes")
    fade_px = row.evaluate("row => parseFloat(getComputedStyle(row).maskImage.match(/[0-9.]+px/)[0])")
    chosen, shown = row.get_by_role("radio", checked=True).bounding_box(), row.bounding_box()
    before_px = chosen["x"] - shown["x"]
    behind_px = shown["width"] - before_px - chosen["width"]
    assert min(before_px, behind_px) >= fade_px - 1  # a row scrolls by whole pixels
