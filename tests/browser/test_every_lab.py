"""What holds of every lab in a real browser: it fits, it can be read by all, one scene is one projected screen."""

import pytest

from tests.browser.conftest import settle
from ui.course import LABS, SCENES

SIZES = {"laptop": (1440, 900), "projector": (1920, 1080), "phone": (390, 844)}
DRAWN = ("question", "see", "count", "break_it", "bench")


def scene_address(app: str, lab, title: str, present: bool = False) -> str:
    """The address of a scene, its prediction revealed."""
    query = f"{lab.prefix}_revealed=true&{lab.prefix}_scene={title.replace(' ', '+')}"
    return f"{app}/{lab.stem}?{query}{'&present=true' if present else ''}"


def serious_faults(page) -> list[str]:
    """What axe-core calls serious or critical, by rule and place."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    return [
        f"{fault['id']}: {node['html'][:120]}"
        for fault in axe.run(page).response["violations"]
        if fault["impact"] in ("serious", "critical")
        for node in fault["nodes"]
    ]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.stem)
def test_no_scene_is_wider_than_the_window(app, open_page, lab, size):
    width, height = SIZES[size]
    page = open_page(f"{app}/{lab.stem}", width=width, height=height)
    for title in SCENES.values():
        page.goto(scene_address(app, lab, title, present=size == "projector"))
        settle(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, title


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.stem)
def test_no_scene_has_a_serious_accessibility_fault(app, open_page, lab, scheme):
    page = open_page(f"{app}/{lab.stem}", scheme=scheme)
    faults = {}
    for title in SCENES.values():
        page.goto(scene_address(app, lab, title))
        settle(page)
        faults[title] = serious_faults(page)
    assert not {title: found for title, found in faults.items() if found}


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.stem)
def test_a_projected_scene_is_one_screen(app, open_page, lab):
    """Title, figure and reading stand above the foot: nobody scrolls at a projector."""
    width, height = SIZES["projector"]
    page = open_page(f"{app}/{lab.stem}", width=width, height=height)
    hidden = {}
    for scene in DRAWN:
        page.goto(scene_address(app, lab, SCENES[scene], present=True))
        settle(page)
        page.wait_for_timeout(400)
        foot = page.locator(".st-key-foot").bounding_box()["y"]
        readings = page.locator("[class*='st-key-reading_']")
        boxes = [readings.nth(i).bounding_box() for i in range(readings.count()) if readings.nth(i).is_visible()]
        below = [round(box["y"] + box["height"] - foot) for box in boxes if box["y"] + box["height"] > foot + 1]
        if below:
            hidden[scene] = below
    assert not hidden, f"px under the foot: {hidden}"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_overview_has_no_serious_accessibility_fault(app, open_page, scheme):
    assert serious_faults(open_page(app, scheme=scheme)) == []
