"""The players under one kit: names, touch targets, type on a wall, forced colours, what a step announces."""

from collections import Counter
from xml.etree import ElementTree

import pytest

from tests.browser.conftest import press, settle, wait_for_address
from tests.browser.heard import PLAYERS as AT_REST
from tests.browser.heard import STEPPED, hear

SCHEDULE = "pipeline_bubble?pipe_scene=see"
PLAYERS = {
    "schedule": SCHEDULE,
    "ring": "comm_cost?bill_scene=see&bill_view=the_wire",
    "stepper": "sharding_math?shard_scene=see",
    "journey": "?",
}
NAMELESS = """figure => [...figure.querySelectorAll('button, input, [role=button], [role=img]')]
    .filter(e => e.getClientRects().length && !(e.ariaLabel || e.innerText || e.labels?.[0]?.innerText))
    .map(e => e.outerHTML)"""
SMALL = """figure => [...figure.querySelectorAll('.controls :is(button, input[type=range], .speed span)')]
    .filter(e => e.getClientRects().length).map(e => [e.className, e.getBoundingClientRect()])
    .filter(([, box]) => Math.min(box.width, box.height) < 44).map(([name, box]) => [name, box.height])"""


def drawn(page):
    page.wait_for_selector("figure.player[data-stop]")
    return page.locator("figure.player").first


@pytest.mark.parametrize("name", PLAYERS)
def test_controls_have_names_and_on_a_phone_44_px_and_all_is_heard_in_order_a_step_too(app, open_page, name):
    """On a phone, then on a low wall."""
    page = open_page(f"{app}/{PLAYERS[name]}", width=390, height=844)
    figure = drawn(page)
    assert figure.evaluate(NAMELESS) == []
    assert figure.evaluate(SMALL) == []
    hear(figure, AT_REST[name])
    figure.locator(f"[data-do={'back' if name == 'schedule' else 'on'}]").click()
    hear(figure, STEPPED[name])
    page.set_viewport_size({"width": 1280, "height": 720})
    settle(page)
    press(page, "p")
    wait_for_address(page, "present=true")
    assert drawn(page).evaluate(NAMELESS) == []


def saved(page, tmp_path):
    """The words of the saved figure with their sizes."""
    with page.expect_download() as download:
        page.locator("figure.player [data-do=save]").click()
    path = tmp_path / "figure.svg"
    download.value.save_as(path)
    texts = ElementTree.parse(path).getroot().iter("{http://www.w3.org/2000/svg}text")
    return [(element.text, float(element.get("font-size"))) for element in texts]


def test_64_microbatches_have_their_numbers_and_forced_colours_keep_what_is_picked(app, open_page, tmp_path):
    """The numbers come and go together: each on eight stages, and the followed one once more in its frame."""
    page = open_page(f"{app}/{SCHEDULE}&pipe_m=64")
    figure = drawn(page)
    counted = Counter(text for text, size in saved(page, tmp_path) if text.isdigit() and size < 13)
    assert counted == {str(k): 16 if k == 6 else 8 for k in range(64)}
    page.emulate_media(forced_colors="active")
    settle(page)
    for place, picked, other in (
        (figure, ".speed input:checked + span", ".speed input:not(:checked) + span"),
        (page.locator(".st-key-pipe_m"), "[aria-checked=true]", "[aria-checked=false]"),
    ):
        colours = place.evaluate(
            "(place, names) => names.map(name => getComputedStyle(place.querySelector(name)).color)",
            [picked, other],
        )
        assert colours[0] != colours[1]
    assert figure.locator("input[type=range]").evaluate("slider => getComputedStyle(slider).appearance") == "auto"


def test_a_wall_has_the_whole_schedule_its_controls_and_no_type_under_24_px(app, open_page, tmp_path):
    """A low one first, then a large one, on the page and in what is saved of it."""
    page = open_page(f"{app}/{SCHEDULE}&present=true", width=1280, height=720)
    play = drawn(page).locator(".play").bounding_box()
    foot = page.locator(".st-key-foot").bounding_box()
    assert play["y"] + play["height"] <= foot["y"]
    page.set_viewport_size({"width": 1920, "height": 1080})
    settle(page)
    sizes = drawn(page).evaluate(
        "figure => [...figure.querySelectorAll('button.play, kbd, output, .speed span, legend')]"
        ".map(element => parseFloat(getComputedStyle(element).fontSize))"
    )
    assert len(sizes) >= 7
    assert min(sizes) >= 24
    assert min(size for _, size in saved(page, tmp_path)) >= 24


def test_a_puzzle_that_leaves_the_page_draws_nothing_more(app, open_page):
    """It has no colours there; the watch of its size is ended a moment after it has left."""
    page = open_page(f"{app}/puzzles")
    page.locator(".board li").first.wait_for()
    page.evaluate("""() => {
        for (const place of document.querySelectorAll('[data-testid^=stBidiComponent]')) {
            if (place.shadowRoot?.querySelector('.board') ?? place.querySelector('.board')) place.remove();
        }
        return new Promise((seen) => requestAnimationFrame(() => requestAnimationFrame(seen)));
    }""")
    assert not page.locator(".board").count()
