"""What holds of every page in a real browser: it fits, it can be read by all, a scene of a lab is one screen."""

from pathlib import Path

import pytest

from tests.browser.conftest import press, settle, wait_for_address
from tests.browser.measures import TOUCH
from ui.course.pages import LABS, PAGES, SCENES, after

SIZES = {"laptop": (1440, 900), "projector": (1920, 1080), "phone": (390, 844)}
DRAWN = ("question", "see", "count", "break_it", "bench")


def revealed(app: str, entry) -> str:
    """The address of a page with its prediction revealed."""
    return f"{app}/{entry.stem}?{entry.prefix}_revealed=true"


AXE = """(rules) => axe.run(document, {
    resultTypes: ['violations'], ...(rules.length ? { runOnly: { type: 'rule', values: rules } } : {}),
}).then(({ violations }) => violations.flatMap(
    ({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 120)}`)))"""


def faults(page, *rules: str) -> list[str]:
    """What axe-core finds, of whatever impact, by rule and place: by all its rules, or by some."""
    source = pytest.importorskip("axe_playwright_python").__file__
    if not page.evaluate("'axe' in window"):
        page.evaluate((Path(source).parent / "axe.min.js").read_text(encoding="utf-8"))
    return page.evaluate(AXE, list(rules))


def fits(page, width: int) -> bool:
    """Whether nothing has to be scrolled to sideways."""
    return page.evaluate("document.documentElement.scrollWidth") <= width


def look_at(page, title: str) -> None:
    """Open a scene of the page at a laptop's width."""
    resize(page, "laptop")
    page.get_by_role("tab", name=title, exact=True).click()
    settle(page)


def resize(page, size: str) -> None:
    """Give the window another size."""
    width, height = SIZES[size]
    page.set_viewport_size({"width": width, "height": height})
    page.wait_for_timeout(200)
    settle(page, rest_ms=200)


CONTRAST = ("color-contrast",)
MOVED = ("list", "listitem", "region", "heading-order", "button-name", "label", "scrollable-region-focusable")
"""What another theme may change, and what a phone may."""


@pytest.mark.parametrize("entry", PAGES, ids=lambda entry: entry.stem)
def test_every_scene_fits_a_laptop_and_a_phone_and_axe_finds_nothing(app, open_page, entry):
    """Of any impact, in the light and in the dark, with the scenario open too."""
    page = open_page(f"{app}/" if entry.stem == "overview" else revealed(app, entry))
    found = {}
    for title in [""] if entry.stem == "overview" else entry.scenes.values():
        if title:
            look_at(page, title)
        assert fits(page, SIZES["laptop"][0]), title
        found[title] = faults(page)
        page.emulate_media(color_scheme="dark", reduced_motion="reduce")
        settle(page, rest_ms=200)
        found[f"{title} in the dark"] = faults(page, *CONTRAST)
        page.emulate_media(color_scheme="light", reduced_motion="reduce")
        resize(page, "phone")
        assert fits(page, SIZES["phone"][0]), f"{title} on a phone"
        found[f"{title} on a phone"] = [*faults(page, *MOVED), *page.evaluate(TOUCH)]
    resize(page, "laptop")
    page.locator(".st-key-scenario button:visible").first.click()
    page.locator(".st-key-scenario_panel").wait_for()
    settle(page)
    found["the scenario"] = faults(page)
    assert not {where: those for where, those in found.items() if those}


def px_under_the_foot(page) -> list[int]:
    """How far each reading in sight reaches under the row of buttons."""
    foot = page.locator(".st-key-foot").bounding_box()["y"]
    readings = page.locator("[class*='st-key-reading_']")
    boxes = [readings.nth(i).bounding_box() for i in range(readings.count()) if readings.nth(i).is_visible()]
    return [round(box["y"] + box["height"] - foot) for box in boxes if box["y"] + box["height"] > foot + 1]


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.stem)
def test_a_lab_is_presented_by_keyboard_alone_and_a_scene_is_one_screen(app, open_page, lab):
    """Predict with the arrows, reveal, then Next through every scene in order to the next page.

    Title, figure and reading of a drawn scene stand above the foot: nobody scrolls at a projector.
    """
    width, height = SIZES["projector"]
    page = open_page(f"{app}/{lab.stem}?{lab.prefix}_scene=question&present=true", width=width, height=height)
    slider = page.get_by_role("slider").first
    slider.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_timeout(600)
    settle(page)
    slider.blur()
    press(page, "v")
    wait_for_address(page, f"{lab.prefix}_revealed=true")
    walked, hidden = [open_scene(page)], {}
    # a figure that is stepped takes N for its own steps first, so a scene can take several
    for _ in range(60):
        if walked[-1] in {lab.scenes[scene] for scene in DRAWN}:
            assert fits(page, width), walked[-1]
            hidden[walked[-1]] = px_under_the_foot(page)
        press(page, "n")
        if not page.url.split("?")[0].endswith(lab.stem):
            break
        if open_scene(page) != walked[-1]:
            walked.append(open_scene(page))
    assert walked == list(lab.scenes.values())[-len(SCENES) :]
    assert not {scene: below for scene, below in hidden.items() if below}, "px under the foot"
    following = after(lab)
    assert page.url.split("?")[0].endswith("/" if following.stem == "overview" else following.stem)


def open_scene(page) -> str:
    """The scene that is open."""
    return page.get_by_test_id("stTabs").locator("[aria-selected=true]").inner_text()
