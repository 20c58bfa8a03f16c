"""The journey, the race and the puzzles in a browser: what is chosen asks the server for nothing, and is kept."""

from tests.browser.conftest import settle, until
from tests.browser.test_every_page import lasting, resize, walled

RUNS = """() => { window.runs = 0; new MutationObserver(() => { window.runs += 1; }).observe(
    document.querySelector('[data-testid=stApp]'), { attributeFilter: ['data-test-script-state'] }); }"""
"""Counts every change of the app's state: a rerun is two."""


def rate(page):
    """Tokens a second, as the journey's figure says it."""
    return float(page.locator("figure.journey .stage svg text").first.text_content().replace("\u202f", ""))


def test_choosing_bends_the_journey_and_asks_the_server_for_nothing(app, open_page):
    page = open_page(app)
    figure = page.locator("figure.journey")
    page.wait_for_selector("figure.journey[data-stop]")
    page.evaluate(RUNS)
    before = rate(page)
    figure.get_by_label("NVLink 3").check(force=True)
    faster = rate(page)
    assert faster > before
    figure.locator(".choices [data-what=tp] input").focus()
    page.keyboard.press("ArrowRight")
    assert rate(page) > faster
    assert "home_trip=8~nvlink-3~1~0" in page.url.replace("%7E", "~")
    svg = figure.locator(".stage svg").bounding_box()
    page.mouse.click(svg["x"] + 16, svg["y"] + 180)
    assert rate(page) < before
    assert "home_trip=1~" in page.url.replace("%7E", "~")
    figure.locator("[data-do=on]").click()
    figure.locator("[data-do=play]").click()
    assert "and all of that was reading weights" in figure.locator("figcaption").inner_text()
    assert page.evaluate("window.runs") == 0
    address = page.url
    page.goto(address)
    settle(page)
    page.wait_for_selector("figure.journey[data-stop='4']")
    assert figure.locator("[data-what=tp] .value").inner_text() == "1"
    # projected, all of it stands on one low wall
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(f"{app}/?present=true")
    settle(page)
    page.wait_for_selector("figure.journey[data-present='true'][data-stop]")
    assert page.locator("h1").bounding_box()["height"] < 90
    assert lasting(page, walled) == []
    # a system that turns dark meanwhile, and a wall as wide as a large one and as low as a laptop
    resize(page, (1600, 900), "dark")
    until(page, lambda: walled(page) == [])


SCRUBBED = """figure => {
    const clock = figure.querySelector('.controls input[type=range]');
    return Array.from({ length: Number(clock.max) + 1 }, (_, stop) => {
        clock.value = stop;
        clock.oninput();
        const drawn = [...figure.querySelectorAll('.stage svg text')].map(text => text.textContent);
        return [figure.querySelector('figcaption').textContent, drawn.find(text => /^Round \\d/.test(text)) ?? '',
            figure.querySelector('output').textContent];
    });
}"""
"""The caption, the round that the figure names and where the clock stands, at each of its stops."""


def test_the_journey_tells_the_round_that_it_draws_and_that_its_clock_is_slowed(app, open_page):
    """At 26.1 µs the figure drew round 4 and the caption told of round 3."""
    page = open_page(app)
    page.wait_for_selector("figure.journey[data-stop]")
    told = page.locator("figure.journey").evaluate(SCRUBBED)
    rounds = [(caption, drawn) for caption, drawn, _ in told if caption.startswith("Round")]
    assert len(rounds) == 6
    assert [caption.split(" of ")[0] for caption, _ in rounds] == [drawn.split(" of ")[0] for _, drawn in rounds]
    assert all("slowed down" in where for *_, where in told)


def test_a_puzzle_is_solved_by_keyboard_and_kept_in_the_address(app, open_page):
    page = open_page(f"{app}/puzzles")
    figure = page.locator("figure.puzzle")
    page.wait_for_selector("figure.puzzle .board li")
    page.evaluate(RUNS)
    sets = figure.locator("fieldset")
    sets.nth(0).locator("input").nth(0).focus()
    page.keyboard.press("ArrowDown")
    assert "Choose in order" in figure.locator(".said").inner_text()
    sets.nth(1).locator("input").nth(0).focus()
    page.keyboard.press("Space")
    assert "ends with its own columns of" in figure.locator(".live").inner_text()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert "nothing sends less" in figure.locator(".live").inner_text()
    assert page.evaluate("window.runs") == 0
    assert page.url.endswith("puzzles_at=1.12.2000000000")
    figure.get_by_role("button", name="Next puzzle").click()
    page.reload()
    settle(page)
    assert figure.locator("h3").inner_text().startswith("2.")
    # the longest board tells beside each step what is held, or why not
    figure.locator(".list button").nth(6).click()
    assert figure.locator(".told").first.is_visible()
    sets.nth(0).get_by_text("whole").click()
    assert figure.locator(".board .refusal").is_visible()
    assert figure.locator(".list button").first.get_attribute("aria-label").endswith("solved with the least")


def test_the_race_runs_after_a_plan_was_named(app, open_page):
    page = open_page(f"{app}/placement?place_scene=race")
    assert not page.locator("figure.race").count()
    page.get_by_role("radio", name="1", exact=True).click()
    settle(page)
    page.keyboard.press("v")
    figure = page.locator("figure.race")
    page.wait_for_selector("figure.race[data-stop]")
    settle(page)
    assert "place_race_guess=1" in page.url
    figure.locator("[data-do=play]").click()
    said = figure.locator(".live").inner_text()
    assert "first:" in said
    assert "400 of 400 done" in said
