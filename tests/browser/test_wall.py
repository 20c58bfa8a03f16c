"""On a wall: each screen of every projected scene stands above the foot, in type that the back row reads."""

import pytest

from tests.browser.conftest import press, settle
from tests.browser.measures import INK, TYPE, screens
from ui.course.pages import PAGES

LOW, HIGH = (1280, 720), (1920, 1080)
LEAST_PX = 24


def project(page, size: tuple[int, int]) -> None:
    """Make the wall so large, and wait for what that changes."""
    page.evaluate("window.ink = []")
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.wait_for_timeout(300)
    settle(page, rest_ms=250)


def faults_of(page, size: tuple[int, int]) -> list[str]:
    """What a presenter would have to scroll to, and what nobody could read."""
    project(page, size)
    found = []
    for number, screen in enumerate(screens(page), 1):
        where = f"{size[1]}p, screen {number}"
        if screen["under"] > 0 or screen["aside"] > 0:
            found.append(f"{where}: {screen['lowest']!r} is {screen['under']} px under the foot")
        if screen["least"] < LEAST_PX:
            found.append(f"{where}: {screen['smallest']!r} is {screen['least']} px")
    return found


@pytest.mark.parametrize("entry", [page for page in PAGES if page.stem != "overview"], ids=lambda page: page.stem)
def test_every_screen_of_a_projected_scene_is_above_the_foot_and_in_24_px(app, open_page, entry):
    page = open_page(f"{app}/{entry.stem}?present=true", width=LOW[0], height=LOW[1], script=INK)
    faults = {}
    for title in entry.scenes.values():
        page.get_by_role("tab", name=title, exact=True, include_hidden=True).dispatch_event("click")
        page.wait_for_timeout(150)
        faults[title] = [*faults_of(page, LOW), *faults_of(page, HIGH)]
    assert not {title: found for title, found in faults.items() if found}


def test_a_wall_is_scaled_as_one_beyond_1080_and_below_720(app, open_page):
    """Prose, chart and player alike: 3840 × 2160 shows what 1920 × 1080 does, twice as large."""
    page = open_page(f"{app}/comm_cost?present=true&bill_scene=Break+it", width=1920, height=1080, script=INK)
    sizes = {}
    for size in (HIGH, (3840, 2160), LOW, (1024, 768)):
        project(page, size)
        sizes[size] = page.evaluate(TYPE)["least"]
        root = page.evaluate("parseFloat(getComputedStyle(document.documentElement).fontSize)")
        assert root >= sizes[size] * 0.95
    assert sizes[3840, 2160] == pytest.approx(2 * sizes[HIGH], rel=0.02)
    assert sizes[1024, 768] == pytest.approx(0.8 * sizes[LOW], rel=0.03)


def test_next_turns_the_screens_of_a_scene_before_the_next_scene_and_back_turns_them_back(app, open_page):
    page = open_page(f"{app}/comm_cost?present=true&bill_scene=In+real+engines", width=1280, height=720)
    place = page.locator(".st-key-place p")
    said = "getComputedStyle(document.querySelector('.st-key-place p'), '::after').content"
    assert "1/2" in page.evaluate(said)
    press(page, "n")
    assert "2/2" in page.evaluate(said)
    page.locator(".st-key-back button").click()
    assert "1/2" in page.evaluate(said)
    page.locator(".st-key-next button").click()
    assert "In real engines" in place.inner_text()
    press(page, "n")
    assert "Limits" in place.inner_text()
