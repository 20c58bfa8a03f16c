"""Start here in a browser: a term told by pointer, keyboard and tap."""

from tests.browser.test_every_page import faults, sideways


def address(app, scene, **query):
    asked = {"start_scene": scene, f"start_{scene}_revealed": "true", **query}
    return f"{app}/start_here?{'&'.join(f'{name}={value}' for name, value in asked.items())}"


def told(page) -> list[str]:
    """The definitions in sight."""
    return page.locator("[role=tooltip]:visible").all_inner_texts()


def test_a_term_tells_its_definition_by_pointer_and_by_keyboard(app, open_page):
    page = open_page(address(app, "rank"))
    assert told(page) == []
    word = page.locator(".term > [role=button]").first
    word.hover()
    assert told(page) == ["One process with one GPU of its own; the other processes know it by its number."]
    page.mouse.move(0, 0)
    assert told(page) == []
    word.focus()
    page.keyboard.press("Tab")
    assert told(page) == [
        "The connection of two ranks, with a latency, paid once for each message, and a bandwidth."
    ]
    assert word.get_attribute("aria-describedby") == page.locator("[role=tooltip]").first.get_attribute("id")
    assert faults(page) == []


def test_a_definition_fits_a_phone_over_the_foot(app, open_page):
    page = open_page(address(app, "prefill"), width=390, height=844)
    for word in page.locator(".term > [role=button]").all():
        word.click()
        (box,) = [strip.bounding_box() for strip in page.locator("[role=tooltip]:visible").all()]
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
        assert box["y"] + box["height"] <= page.locator(".st-key-foot").bounding_box()["y"]
    assert not sideways(page)
