"""What holds of every page in a real browser: it fits, it can be read by all, a scene of a lab is one screen."""

import pytest

from tests.browser.conftest import press, settle, wait_for_address
from ui.course.pages import LABS, PAGES, SCENES, after

SIZES = {"laptop": (1440, 900), "projector": (1920, 1080), "phone": (390, 844)}
DRAWN = ("question", "see", "count", "break_it", "bench")
IN_THE_DARK = {"see", "count", "bench", "plan", "load", "read", "exercises", "cases", "straggler"}


def revealed(app: str, entry) -> str:
    """The address of a page with its prediction revealed."""
    return f"{app}/{entry.stem}?{entry.prefix}_revealed=true"


def serious_faults(page) -> list[str]:
    """What axe-core calls serious or critical, by rule and place."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    return [
        f"{fault['id']}: {node['html'][:120]}"
        for fault in axe.run(page).response["violations"]
        if fault["impact"] in ("serious", "critical")
        for node in fault["nodes"]
    ]


def fits(page, width: int) -> bool:
    """Whether nothing has to be scrolled to sideways."""
    return page.evaluate("document.documentElement.scrollWidth") <= width


def look_at(page, title: str) -> None:
    """Open a scene of the page at a laptop's width."""
    page.set_viewport_size(dict(zip(("width", "height"), SIZES["laptop"], strict=True)))
    page.get_by_role("tab", name=title, exact=True).click()
    settle(page)


def fits_a_phone(page) -> bool:
    """Whether the scene that is open fits when the window is made a phone's."""
    width, height = SIZES["phone"]
    page.set_viewport_size({"width": width, "height": height})
    settle(page)
    return fits(page, width)


@pytest.mark.parametrize("entry", PAGES[1:], ids=lambda entry: entry.stem)
def test_every_scene_fits_a_laptop_and_a_phone_and_has_no_serious_accessibility_fault(app, open_page, entry):
    page = open_page(revealed(app, entry))
    faults = {}
    for title in entry.scenes.values():
        look_at(page, title)
        assert fits(page, SIZES["laptop"][0]), title
        faults[title] = serious_faults(page)
        assert fits_a_phone(page), f"{title} on a phone"
    assert not {title: found for title, found in faults.items() if found}


@pytest.mark.parametrize("entry", PAGES[1:], ids=lambda entry: entry.stem)
def test_the_drawn_scenes_have_no_serious_accessibility_fault_in_the_dark(app, open_page, entry):
    page = open_page(revealed(app, entry), scheme="dark")
    faults = {}
    for scene in IN_THE_DARK & set(entry.scenes):
        look_at(page, entry.scenes[scene])
        faults[scene] = serious_faults(page)
    assert not {scene: found for scene, found in faults.items() if found}


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


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_overview_has_no_serious_accessibility_fault(app, open_page, scheme):
    assert serious_faults(open_page(app, scheme=scheme)) == []
