"""Lab 03 in a real browser: the ring player under keyboard and mouse, a pasted table on its way to every lab."""

from math import ceil
from xml.etree import ElementTree

import pytest
from PIL import Image

from core.catalog.measured_link import measured_link_of
from runtime.measurements import example_paste
from tests.browser.conftest import arrive, settle, wait_for_address
from ui.theme import LIGHT

ROUNDS = "comm_cost?bill_scene=see&bill_view=the_wire&bill_numbers=the_lab_s_napkin"
TABLE = "comm_cost?bill_scene=bench&bill_figure=your_table&tp=8"


@pytest.fixture
def player(app, same_page):
    """The link's player over four ranks at its first stop, allowed to move, and the page it is on."""
    page = drawn(same_page(f"{app}/{ROUNDS}"))
    page.locator("figure.ring .stage").press("Home")
    page.evaluate("document.activeElement.blur()")
    page.emulate_media(reduced_motion="no-preference")
    return page


def drawn(page):
    """The page, once its player has drawn itself."""
    page.wait_for_selector("figure.ring[data-stop]")
    return page


def stop(page) -> int:
    return int(page.locator("figure.ring").get_attribute("data-stop"))


def at_rest(page) -> bool:
    return page.locator("figure.ring").get_attribute("data-at-rest") == "true"


def test_the_link_is_at_rest_until_space_is_pressed_and_plays_to_its_end(player):
    assert (stop(player), at_rest(player)) == (0, True)
    player.keyboard.press("Space")
    player.locator("figure.ring[data-at-rest=false]").wait_for()
    player.locator("figure.ring[data-at-rest=true]").wait_for()
    assert stop(player) == 6
    assert "18.0\u00a0µs of 18.0\u00a0µs" in player.locator("figure.ring output").inner_text()


def test_steps_arrows_and_the_slider_go_from_arrival_to_arrival(player):
    """The ring's six hops of 3 µs; tree and one-shot arrive with them."""
    player.get_by_label("One arrival on").click()
    player.get_by_label("One arrival on").click()
    player.get_by_label("One arrival back").click()
    assert stop(player) == 1
    player.locator("figure.ring .stage").focus()
    player.keyboard.press("End")
    assert stop(player) == 6
    player.keyboard.press("ArrowLeft")
    assert stop(player) == 5
    player.get_by_label("Time on the stopwatch").fill("3")
    assert stop(player) == 3
    assert "ring: 3 of 6 rounds, tree: 3 of 4 rounds, one-shot: 1 of 1 round" in said_after(
        player, "ArrowLeft", "ArrowRight"
    )


def said_after(page, *keys: str) -> str:
    """What is announced once these keys have been pressed on the figure."""
    page.locator("figure.ring .stage").focus()
    for key in keys:
        page.keyboard.press(key)
    return page.locator("figure.ring .live").inner_text()


def test_with_reduced_motion_play_shows_the_end_at_once(player):
    player.emulate_media(reduced_motion="reduce")
    player.keyboard.press("Space")
    assert (stop(player), at_rest(player)) == (6, True)


def test_the_link_is_saved_as_svg_as_it_stands(player, tmp_path):
    with player.expect_download() as download:
        player.get_by_label("Save the figure as SVG").click()
    saved = tmp_path / "wire.svg"
    download.value.save_as(saved)
    words = [
        element.text for element in ElementTree.parse(saved).getroot().iter("{http://www.w3.org/2000/svg}text")
    ]
    assert {"ring", "tree", "one-shot", "r3", "latency", "bandwidth", "18.0 µs"} <= set(words)


def test_a_pasted_table_becomes_the_link_of_every_lab_and_stays_in_the_address(app, open_page):
    page = open_page(f"{app}/{TABLE}")
    page.get_by_role("textbox", name="What nccl-tests").fill(example_paste())
    page.keyboard.press("Control+Enter")
    page.get_by_role("button", name="Use as the link", exact=True).click()
    page.get_by_role("button", name="Use as the link: in use").wait_for()
    settle(page)
    key = page.url.split("link=")[1].split("&")[0]
    assert measured_link_of(key).measured_ranks == 8
    page.get_by_role("link", name="04 Pipelines").first.click()
    arrive(page, "pipeline_bubble")
    wait_for_address(page, f"link={key}")
    assert "Collective test starting" not in page.content()
    shared = open_page(page.url.replace("pipeline_bubble", "comm_cost"))
    assert f"link={key}" in shared.url
    assert "Ignored in the address" not in shared.content()


def test_a_chart_is_saved_as_png_in_its_colours_at_twice_its_size(app, open_page, tmp_path):
    """For a slide: on the page's own ground, with a margin, latency in the colour it has everywhere."""
    page = open_page(f"{app}/comm_cost?bill_scene=see&bill_revealed=true")
    page.get_by_text("The figure as a table").first.click()
    settle(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download PNG").click()
    assert download.value.suggested_filename == "bill.png"
    download.value.save_as(tmp_path / "bill.png")
    chart, margin = page.locator("[class*=st-key-chart_] svg.marks").bounding_box(), 16
    with Image.open(tmp_path / "bill.png") as picture:
        assert picture.size == tuple(ceil(2 * (chart[side] + 2 * margin)) for side in ("width", "height"))
        seen = {f"#{red:02X}{green:02X}{blue:02X}" for _, (red, green, blue, _) in picture.getcolors(2**24)}
        assert {LIGHT.ground, LIGHT.latency, LIGHT.bandwidth} <= {colour.upper() for colour in seen}
        assert picture.getpixel((0, picture.height - 1)) == picture.getpixel((0, 0))
    # the browser has both phases: their bars change with the press, though no server hears of it
    page.evaluate("WebSocket.prototype.send = () => {}")
    for phase, told in (("Prefill", "1"), ("Decode", "0")):
        before = page.locator("[class*=st-key-chart_] svg.marks").text_content()
        page.get_by_role("radio", name=phase).click()
        page.wait_for_function(
            "([told, before]) => document.querySelector('input[name=live_bill_phase]').value === told"
            " && document.querySelector('[class*=st-key-chart_] svg.marks').textContent !== before",
            arg=[told, before],
        )
