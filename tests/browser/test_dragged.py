"""Numbers in prose that are dragged, and the field beside a prediction's slider."""

from tests.browser.conftest import settle, until, wait_for_address
from tests.browser.test_every_page import faults, sideways

COUNT = "pipeline_bubble?pipe_scene=count"


def number(page, name):
    return page.locator(f'.dragged[data-drag="{name}"]')


def drag(page, slider, by_px):
    """Take a number by its middle and let it go `by_px` beside."""
    slider.evaluate("span => span.scrollIntoView({ block: 'center' })")
    box = slider.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + by_px / 2, y)
    page.mouse.move(x + by_px, y)
    page.mouse.up()


def test_a_number_is_dragged_by_pointer_and_the_page_follows(app, open_page):
    """16 microbatches; the control offers 32 next, then 63 and 64, a value every 14 px."""
    page = open_page(f"{app}/{COUNT}")
    assert number(page, "pipe_m").inner_text() == "16 microbatches"
    drag(page, number(page, "pipe_m"), 30)
    wait_for_address(page, "pipe_m=63")
    assert number(page, "pipe_m").inner_text() == "63 microbatches"
    assert "70 ticks" in page.locator(".st-key-reading_count-reading").inner_text()
    drag(page, number(page, "pipe_m"), -30)
    until(page, lambda: "pipe_m" not in page.url)
    settle(page)
    assert number(page, "pipe_m").get_attribute("aria-valuenow") == "16"
    assert faults(page) == []


def test_arrow_keys_move_a_number_which_keeps_the_focus_and_is_heard(app, open_page):
    page = open_page(f"{app}/{COUNT}")
    number(page, "pipe_p").focus()
    page.keyboard.press("ArrowLeft")
    wait_for_address(page, "pipe_p=4")
    assert page.evaluate("document.activeElement.dataset.drag") == "pipe_p"
    page.keyboard.press("End")
    wait_for_address(page, "pipe_p=16")
    assert number(page, "pipe_p").get_attribute("aria-valuetext") == "16 stages"


def test_a_number_of_the_scenario_is_every_page_s(app, open_page):
    """From TP=2 to 4 ranks: the title, the prose and the scenario's line say so."""
    page = open_page(f"{app}/comm_cost?bill_scene=see")
    number(page, "tp").focus()
    page.keyboard.press("ArrowUp")
    wait_for_address(page, "tp=4")
    assert "TP=4" in page.locator("h1").inner_text()
    assert "TP=4" in page.locator(".st-key-scenario").inner_text()
    assert number(page, "tp").inner_text() == "4 GPUs"


def test_a_finger_drags_a_number_on_a_phone_and_nothing_is_wider_than_it(app, open_page):
    page = open_page(f"{app}/{COUNT}&pipe_m=1", width=390, height=844)
    assert not sideways(page)
    assert number(page, "pipe_m").evaluate("span => getComputedStyle(span).touchAction") == "pan-y"
    drag(page, number(page, "pipe_m"), 14)
    wait_for_address(page, "pipe_m=8")


def test_the_typed_prediction_shows_its_unit_beside_the_label(app, open_page):
    """On a laptop and on a phone; the label, the field and the unit lie over none of the others."""
    page = open_page(f"{app}/start_here?start_decode_guess=7")
    for width, height in ((1366, 768), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        settle(page)
        unit = page.locator(".st-key-typed .stMarkdown p")
        assert unit.inner_text() == "ms"
        field, beside = page.locator(".st-key-typed input").bounding_box(), unit.bounding_box()
        assert field["x"] + field["width"] <= beside["x"]
        assert beside["x"] + beside["width"] <= width
        assert abs(field["y"] + field["height"] / 2 - beside["y"] - beside["height"] / 2) < 4
        label = page.locator(".st-key-guess [data-testid=stSlider] label p").bounding_box()
        assert label["x"] + label["width"] <= field["x"] or label["y"] >= field["y"] + field["height"]
    assert faults(page) == []
