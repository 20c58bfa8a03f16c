"""What holds of every page in a real browser: it fits and can be read by all, on a laptop, a phone and a wall."""

import re
from collections.abc import Iterator, Sequence
from itertools import cycle
from pathlib import Path
from urllib.parse import urlencode

import pytest

from runtime import content
from scripts.settled import SCREEN, turn
from tests.browser.conftest import THE_SCENES, arrive, open_scene, press, settle, wait_for_address
from tests.browser.measures import HEADLESS, INK, MAGNIFIED, TOUCH, TYPE, WIDER, cramped, screens
from ui.course.pages import LABS, OVERVIEW, PAGES, SCENES, START, after

LAPTOP, PHONE, LOW, HIGH = (1440, 900), (390, 844), (1280, 720), (1920, 1080)
MAGNIFIED_TO = (320, 256), (640, 360)
"""A window of 1280 × 1024 at 400 %, WCAG 1.4.10; and one of 1280 × 720 at 200 %."""
LEAST_PX = 24
"""The least type on a wall."""


ASK = ("start_here", "sharding_math", "comm_cost", "pipeline_bubble", "two_way_tp", "placement", "strategy")
"""The pages that ask for a prediction."""


def revealed(app: str, entry, **query: str) -> str:
    """The address of a page with its predictions revealed."""
    names = [f"{entry.prefix}_{scene}" for scene in entry.names[:-1]] if entry is START else [entry.prefix]
    asked = {f"{name}_revealed": "true" for name in names} if entry.stem in ASK else {}
    return f"{app}/{'' if entry is OVERVIEW else entry.stem}?{urlencode(asked | query)}"


AXE = """({ rules, colours }) => axe.run(document, {
    resultTypes: ['violations'], preload: false, rules: { 'color-contrast': { enabled: colours } },
    ...(rules.length ? { runOnly: { type: 'rule', values: rules } } : {}),
}).then(({ violations }) => violations.flatMap(
    ({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.flat().join(' ')}`)))"""


COLOURS_READ_ONCE = """(() => {
    const read = new Map(), { prototype } = axe.commons.color.Color, parse = prototype.parseString;
    prototype.parseString = function (text) {
        if (read.has(text)) return Object.assign(this, read.get(text));
        const { r, g, b, alpha } = parse.call(this, text);
        read.set(text, { r, g, b, alpha });
        return this;
    };
})()"""
"""axe-core reads the same few colours thousands of times, which is half of what looking at contrast takes.

And it keeps the markup of all that it looks at, each with what is in it, unless it is told `noHtml`.
"""


def faults(page, *rules: str, colours: bool = True) -> list[str]:
    """What axe-core finds, of whatever impact, by rule and place: by all its rules, or by some."""
    source = pytest.importorskip("axe_playwright_python").__file__
    if not page.evaluate("'axe' in window"):
        axe = (Path(source).parent / "axe.min.js").read_text(encoding="utf-8")
        page.evaluate(f"{axe};{COLOURS_READ_ONCE};axe.configure({{ noHtml: true }})")
    return page.evaluate(AXE, {"rules": list(rules), "colours": colours})


def misnamed(page) -> list[str]:
    """What axe-core finds where contrast is measured otherwise: by all rules but that one."""
    return faults(page, colours=False)


def sideways(page) -> list[str]:
    """Whether something has to be scrolled to sideways."""
    beyond = page.evaluate(WIDER)
    return [f"{beyond} px wider than the screen"] if beyond > 0 else []


def resize(page, size: tuple[int, int], scheme: str = "light") -> None:
    """Give the window another size, and the system another theme."""
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page.wait_for_timeout(100)


def fit(page, size: tuple[int, int]) -> None:
    """Give the window a size that it has not, and let what is drawn follow it, its ink alone on record."""
    if page.viewport_size != {"width": size[0], "height": size[1]}:
        page.evaluate("window.ink = []")
        page.set_viewport_size({"width": size[0], "height": size[1]})
        settle(page)


def lasting(page, find, *asked) -> list[str]:
    """What is wrong, and still is a while after: a busy machine is late."""
    if found := find(page, *asked):
        page.wait_for_timeout(1500)
        found = find(page, *asked)
    return found


def small_targets(page) -> list[str]:
    """What a finger would miss, and what is too small to be read there."""
    return page.evaluate(TOUCH) + cramped(page)


def headless(page) -> list[str]:
    """The numbers of a table that do not say what they are."""
    return page.evaluate(HEADLESS)


def magnified(page) -> list[str]:
    """What is lost where a page is read magnified."""
    return sideways(page) + page.evaluate(MAGNIFIED)


def open_tab(page, title: str) -> None:
    """Open a scene, on a wall too, where its name is out of sight."""
    page.locator(THE_SCENES).get_by_role("radio", name=title, exact=True, include_hidden=True).dispatch_event(
        "click"
    )
    settle(page)


def opened(page, entry, names: Sequence[str]) -> Iterator[str]:
    """Each of these scenes in turn, open and settled, its ink alone on record; a page without any, as it stands."""
    with content.speaking(page.evaluate("document.documentElement.lang")):
        titles = dict(entry.scenes)
    for name in names:
        page.evaluate("window.ink = []")
        open_tab(page, titles[name])
        yield name
    if entry is OVERVIEW:
        settle(page)
        yield ""


def read_in(entry, theme: str) -> tuple[str, ...]:
    """The half of a page's scenes that are read in a theme, and projected in the other; the overview has none.

    By turns from scene to scene and from page to page, so that each kind of scene comes in both.
    """
    return () if entry is OVERVIEW else entry.names[(PAGES.index(entry) + (theme == "dark")) % 2 :: 2]


def speak(page, language: str) -> None:
    """Go on in another language."""
    page.locator(f".st-key-speak_{language} button").first.dispatch_event("click")
    wait_for_address(page, f"lang={language}")
    page.wait_for_function("language => document.documentElement.lang === language", arg=language)


@pytest.mark.parametrize("entry", PAGES, ids=lambda entry: entry.stem)
def test_every_scene_fits_every_screen_and_can_be_read_by_all(app, open_page, entry):
    """Axe finds nothing of any impact, in the light and the dark; on a wall all is above the foot, and has 24 px.

    Scenes are read on a phone, magnified, and projected; what a laptop alone shows is a page's.
    """
    page = open_page(revealed(app, entry, lang="es"), script=INK)  # whose words are longer
    found = {"on a laptop": [*sideways(page), *lasting(page, faults)]}
    moving = read(page, entry, found)
    if entry is OVERVIEW:
        resize(page, LOW)
        page.locator(".st-key-scenario button:visible").first.click()
        page.locator(".st-key-scenario_panel").wait_for()
        settle(page)
        found["the scenario"] = faults(page)
    else:
        resize(page, HIGH, "dark")
        settle(page)
        page.locator(".st-key-go_present button").click()
        wait_for_address(page, "present=true")
        project(page, entry, moving, found)
    assert not {where: those for where, those in found.items() if those}


def read(page, entry, found: dict[str, list[str]]) -> set[str]:
    """Add what is wrong with each scene of a page on a phone in one theme, and magnified; those with a player.

    A scene is opened at the size that the one before has left.
    """
    moving = set()
    far, near = MAGNIFIED_TO
    orders = cycle([(PHONE, far), (far, PHONE), (PHONE, near), (near, PHONE)])
    resize(page, PHONE)
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        for name in opened(page, entry, read_in(entry, theme)):
            for size in next(orders):
                fit(page, size)
                if size == PHONE:
                    there = [*sideways(page), *lasting(page, faults), *lasting(page, small_targets)]
                    found[f"{name} on a phone, {theme}"] = [*there, *lasting(page, headless)]
                else:
                    found[f"{name}, magnified to {size}"] = lasting(page, magnified)
            if page.locator("figure.player, figure.puzzle").count():
                moving.add(name)
    return moving


def project(page, entry, moving: set[str], found: dict[str, list[str]]) -> None:
    """Add what is wrong with each scene of a page on one wall, and on both where something moves."""
    for size, scheme, language in ((HIGH, "dark", "es"), (LOW, "light", "en")):
        if language != page.evaluate("document.documentElement.lang"):
            speak(page, language)
        resize(page, size, scheme)
        read_so = read_in(entry, scheme)
        for name in opened(page, entry, [name for name in entry.names if name in moving or name not in read_so]):
            puzzles = page.locator("figure.puzzle .list button").all()
            for number, puzzle in enumerate(puzzles or [None], 1):
                if puzzle:
                    puzzle.click()
                    settle(page)
                there = f"{name} {number if puzzle else ''} on a wall of {size[1]} lines, {scheme}"
                found[there] = lasting(page, walled)
            if size == LOW:  # where most is hidden
                if "/" in page.evaluate(SCREEN):
                    found[f"{name}, projected"] = lasting(page, misnamed)
                if (hide := page.locator(".st-key-hide button")).count():
                    page.evaluate("window.ink = []")
                    hide.click()
                    settle(page)
                    found[f"{name}, projected before the answer"] = lasting(page, walled)
                    if "/" in page.evaluate(SCREEN):
                        found[f"{name}, answered"] = late_answer(page)


def late_answer(page) -> list[str]:
    """Whether an answer that is revealed on a question's second screen begins with its own second one."""
    turn(page, "next")
    page.locator(".st-key-reveal button").click()
    page.locator(".st-key-hide button").wait_for()
    settle(page)
    began = page.evaluate(SCREEN)
    return [f"it begins with {began}"] if "/" in began and "1/" not in began else []


def enlarge(page, size: tuple[int, int]) -> None:
    """Make the wall so large, and wait for what that changes."""
    page.evaluate("window.ink = []")
    resize(page, size)
    page.wait_for_timeout(100)
    settle(page)


def walled(page) -> list[str]:
    """What a presenter would have to scroll to, and what nobody could read: too small, or too faint."""
    found = []
    for number, screen in enumerate(screens(page), 1):
        if screen["under"] > 0 or screen["aside"] > 0:
            found.append(f"screen {number}: {screen['lowest']!r} is {screen['under']} px under the foot")
        if screen["ruled"]:
            found.append(f"screen {number}: {screen['ruled']} lines of rows that are on another screen")
        if screen["least"] < LEAST_PX:
            found.append(f"screen {number}: {screen['smallest']!r} is {screen['least']} px")
        found += [f"screen {number}: {words!r} has a contrast of {ratio}" for words, ratio in screen["faint"]]
    return found


def test_a_wall_is_scaled_as_one_beyond_1080_and_below_720(app, open_page):
    """Prose, chart and player alike: 3840 × 2160 shows what 1920 × 1080 does, twice as large."""
    page = open_page(f"{app}/comm_cost?present=true&bill_scene=break_it", width=1920, height=1080, script=INK)
    sizes = {}
    for size in (HIGH, (3840, 2160), LOW, (1024, 768)):
        enlarge(page, size)
        sizes[size] = page.evaluate(TYPE)["least"]
        root = page.evaluate("parseFloat(getComputedStyle(document.documentElement).fontSize)")
        assert root >= sizes[size] * 0.95
    assert sizes[3840, 2160] == pytest.approx(2 * sizes[HIGH], rel=0.02)
    assert sizes[1024, 768] == pytest.approx(0.8 * sizes[LOW], rel=0.03)


def test_next_turns_the_screens_of_a_scene_before_the_next_scene_and_back_turns_them_back(app, open_page):
    page = open_page(f"{app}/comm_cost?present=true&bill_scene=engines", width=1280, height=720)
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


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.stem)
def test_a_lab_is_presented_by_keyboard_alone(app, open_page, lab):
    """Predict with the arrows, reveal, then Next through the scenes in order to the next page.

    Through every scene of the first lab, and of each other the first three and the last.
    """
    page = open_page(f"{app}/{lab.stem}?{lab.prefix}_scene=question&present=true", width=HIGH[0], height=HIGH[1])
    slider = page.get_by_role("slider").first
    slider.focus()
    page.keyboard.press("ArrowRight")
    wait_for_address(page, f"{lab.prefix}_guess=")
    slider.blur()
    press(page, "v")
    wait_for_address(page, f"{lab.prefix}_revealed=true")
    scenes = [lab.scenes[name] for name in SCENES]
    expected = scenes if lab is LABS[0] else [*scenes[:3], scenes[-1]]
    walked = [open_scene(page)]
    # a figure that is stepped takes N for its own steps first, so a scene can take several
    for _ in range(60):
        if len(walked) == 3 and len(expected) == 4:
            open_tab(page, scenes[-1])
        else:
            press(page, "n")
        if not page.url.split("?")[0].endswith(lab.stem):
            break
        if open_scene(page) != walked[-1]:
            walked.append(open_scene(page))
    assert walked == expected
    following = after(lab)
    assert page.url.split("?")[0].endswith("/" if following is OVERVIEW else following.stem)


def test_notes_on_another_device_follow_the_wall_by_the_server(app, open_page):
    """The other device has no channel between windows; it has a pass, and not the key that presides."""
    page = open_page(f"{app}/?notes=true&path=50")
    page.locator(".st-key-notes_offer button").click()
    shown = page.get_by_text("follow=", exact=False).first
    shown.wait_for()
    address = re.search(r"\S+follow=\w+", shown.inner_text())[0]
    without = "window.BroadcastChannel = class { postMessage() {} }"
    device = open_page(f"http://{address}", width=390, height=844, script=without)
    assert "chair" not in device.url
    assert device.locator("[data-now]").count() == 0
    page.locator(".st-key-note_comm_cost_see a").first.click()
    arrive(page, "comm_cost")
    press(page, "p")
    wait_for_address(page, "present=true")
    device.locator(".st-key-note_comm_cost_see[data-now]").wait_for()
    place = page.locator(".st-key-place p")
    stop = place.text_content()
    for _ in range(8):  # the scene's screens and its figure's steps, then the next stop
        if place.text_content() == stop:
            press(page, "PageDown")
    assert place.text_content() != stop
    device.locator(".st-key-note_comm_cost_see[data-now]").wait_for(state="detached")


def test_a_clicker_turns_a_path_from_page_to_page_blanks_the_wall_and_leaves_it(app, open_page):
    """From lab 01's last stop to lab 03's first one and back, over all their screens; then a point, then Escape.

    The notes in another window follow it.
    """
    page = open_page(f"{app}/sharding_math?shard_scene=count&path=50&present=true", width=1920, height=1080)
    notes = open_page(f"{app}/?notes=true&path=50")
    now = notes.locator("[data-now]")
    now.wait_for()
    assert "Count it" in now.inner_text()
    place = page.locator(".st-key-place p")
    assert place.text_content().startswith("7 of 13, ")
    for key, there in (("PageDown", "8 of 13, "), ("PageUp", "7 of 13, ")):
        for _ in range(4):
            if not place.text_content().startswith(there):
                press(page, key)
        assert place.text_content().startswith(there)
        settle(page)
        notes.locator(f"[data-now] a[href*={'bill' if key == 'PageDown' else 'shard'}_scene]").wait_for()
    blank = page.locator("#shell-blank")
    page.keyboard.press(".")
    assert blank.is_visible()
    page.keyboard.press("n")
    assert not blank.is_visible()
    assert place.text_content().startswith("7 of 13, ")
    press(page, "Escape")
    assert "present" not in page.url
