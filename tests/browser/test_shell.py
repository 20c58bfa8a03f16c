"""The shell in a real browser: deep links, the scenario on its way, presenting, the keyboard, phones."""

import re

import pytest

from tests.browser.conftest import arrive, press, settle, until, wait_for_address


def wait_for_summary(page, text: str) -> None:
    """Wait until the bar sums the scenario up so; a cold server takes a while."""
    page.locator(".st-key-scenario").filter(has_text=text).wait_for()


def test_a_deep_link_is_right_as_the_first_visit_to_a_cold_server(cold_server, open_page):
    """Streamlit alone would run the page file without its shell: no navigation, narrow, the title a file name."""
    page = open_page(f"{cold_server}/comm_cost?bill_scene=count&tp=4")
    wait_for_summary(page, "TP=4")
    assert page.locator(".course [aria-current=page]").inner_text() == "03 The bill"
    assert page.get_by_role("radio", name="Count it").get_attribute("aria-checked") == "true"
    assert page.get_by_role("dialog").count() == 0
    wait_for_address(page, "bill_scene=count")
    wait_for_address(page, "tp=4")


def test_garbage_in_the_address_gives_defaults_and_one_line(app, open_page):
    page = open_page(f"{app}/comm_cost?tp=banana&model=%3Cscript%3E&bill_scene=Nowhere&bill_alpha=-1&nonsense=1")
    line = page.get_by_text("Ignored in the address").inner_text()
    for name in ("tp", "model", "bill_scene", "nonsense"):
        assert name in line
    assert page.get_by_role("radio", name="Question").get_attribute("aria-checked") == "true"
    assert page.get_by_test_id("stException").count() == 0


HEARD = """async (embedded) => {
    const listened = new Promise((hear) => window.addEventListener('message', () => hear(true), { once: true }));
    if (embedded) Object.defineProperty(window, 'parent', { value: {} });
    window.postMessage({}, '*');
    return Promise.race([listened, new Promise((end) => setTimeout(() => end(false), 500))]);
}"""
"""Whether the page hears what it tells itself, as it is or as one in another's frame."""


def test_a_page_hears_itself_only_where_another_embeds_it(app, open_page):
    """Streamlit tells each new address to whoever embeds it, else to itself, and goes over that before a press."""
    page = open_page(f"{app}/find_it")
    assert not page.evaluate(HEARD, False)
    assert page.evaluate(HEARD, True)


def test_the_scenario_goes_along_to_the_next_page_and_survives_a_reload(app, open_page):
    """While its panel is closed no browser has its fields: they are the server's, and in the address."""
    page = open_page(f"{app}/comm_cost?tp=8&model=llama-3-70b&done=bill.question")
    page.get_by_role("link", name="04 Pipelines").click()
    arrive(page, "pipeline_bubble")
    wait_for_address(page, "tp=8")
    for text in ("model=llama-3-70b", "done=bill.question"):
        assert text in page.url
    page.reload()
    settle(page)
    wait_for_summary(page, "llama-3-70b")
    wait_for_summary(page, "TP=8")
    # the panel, opened only now, is told what was asked out of sight
    page.locator(".st-key-scenario button:visible").first.click()
    page.get_by_label("TP, ranks that cut a layer").and_(page.locator("input[value='8']")).wait_for()


def test_back_and_forward_bring_the_scenario_of_their_address_and_the_bar_says_it(app, open_page):
    page = open_page(f"{app}/comm_cost")
    page.get_by_role("link", name="04 Pipelines").click()
    arrive(page, "pipeline_bubble")
    page.locator(".st-key-scenario button").first.click()
    size = page.get_by_label("TP, ranks that cut a layer")
    size.fill("8")
    size.press("Enter")
    wait_for_address(page, "tp=8")
    # what a page had of its own comes back with it
    page.get_by_role("radio", name="Bench", exact=True).click()
    wait_for_address(page, "pipe_scene=bench")
    page.go_back()  # the scene before
    page.wait_for_url(lambda url: "pipe_scene" not in url)
    settle(page)
    for go, stem, summary in ((page.go_back, "comm_cost", "TP=2"), (page.go_forward, "pipeline_bubble", "TP=8")):
        go()
        arrive(page, stem)
        wait_for_summary(page, summary)
    page.go_forward()
    wait_for_address(page, "pipe_scene=bench")


def test_back_from_where_a_question_is_taught_finds_the_answers_as_they_were(app, open_page):
    """The browser's Back brings an address without them: they used to be gone."""
    page = open_page(f"{app}/quiz?quiz_sheet=5%3Bcolumn_or_row%3Da&quiz_at=column_or_row&tp=4")
    page.get_by_role("link", name="Taught in").first.click()
    arrive(page, "sharding_math")
    page.go_back()
    arrive(page, "quiz")
    wait_for_address(page, "column_or_row%3Da")
    page.get_by_text(re.compile(r"^1 of \d+ answered")).wait_for()


def test_an_alias_becomes_the_key_the_panel_has_room_and_presenting_hides_the_shell(app, open_page):
    """The panel used to be no wider than the bar it hangs from, 192 px on a phone; P begins and ends presenting."""
    page = open_page(f"{app}/comm_cost?model=meta-llama/Meta-Llama-3-70B-Instruct")
    wait_for_summary(page, "llama-3-70b")
    wait_for_address(page, "model=llama-3-70b")
    bar = page.locator(".st-key-bar")
    closed = bar.bounding_box()
    page.locator(".st-key-scenario button:visible").first.click()
    page.locator(".st-key-scenario_panel").wait_for()
    settle(page)
    assert bar.bounding_box()["width"] == pytest.approx(closed["width"], abs=2)  # or it lies over the wordmark
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 900})
        settle(page)
        panel = page.locator(".st-key-scenario_panel").bounding_box()
        assert panel["width"] >= 0.9 * min(680, width)
        assert panel["x"] >= 0
        assert panel["x"] + panel["width"] <= width
    page.set_viewport_size({"width": 1920, "height": 1080})
    settle(page)
    press(page, "Escape")
    page.locator(".st-key-scenario_panel").wait_for(state="detached")
    press(page, "p")
    wait_for_address(page, "present=true")
    assert not page.get_by_test_id("stHeader").is_visible()
    size = page.evaluate("parseFloat(getComputedStyle(document.querySelector('.stMarkdown p')).fontSize)")
    assert size >= 24
    press(page, "p")
    page.get_by_test_id("stHeader").wait_for()


def test_a_prediction_is_committed_then_revealed_by_keyboard(app, open_page):
    page = open_page(f"{app}/comm_cost")
    reveal = page.get_by_role("button", name="Reveal")
    assert reveal.is_disabled()
    slider = page.get_by_role("slider")
    slider.focus()
    for _ in range(15):
        page.keyboard.press("ArrowRight")
    until(page, lambda: page.locator("input[name=live_bill_guess]").first.input_value() == "15")
    wait_for_address(page, "bill_guess=15")
    slider.blur()
    press(page, "v")
    wait_for_address(page, "bill_revealed=true")
    assert page.get_by_text("times as fast").first.is_visible()


def test_in_spanish_a_comma_is_a_decimal_and_streamlits_own_parts_are_named(app, open_page):
    """Chromium in English drops the comma of 2,5 and would read 25; its own names of buttons are English alone."""
    page = open_page(f"{app}/comm_cost?lang=es&bill_scene=bench")
    field = page.get_by_label("Ancho de banda en un sentido, GB/s")
    field.fill("")
    field.press_sequentially("2,5")
    field.press("Enter")
    wait_for_address(page, "bill_beta=2.5")
    assert page.locator('button[aria-label="Aumentar"]').count() > 0
    assert page.locator('button[aria-label="Increment"]').count() == 0
    page.locator('[aria-label="Atajo N"]').wait_for()
    page.locator('[aria-roledescription="figura"]').first.wait_for(state="attached")
    page.wait_for_function(
        "!document.querySelector('[aria-label^=Shortcut], [aria-roledescription=visualization]')"
        " && document.documentElement.lang === 'es'"
        " && document.title === 'Banco de pruebas · La factura · Shardlab'"
    )
    chip = "document.body.append(Object.assign(document.createElement('p'), { ariaLabel: '4.2 nodes.txt, 1.5KB' }))"
    page.evaluate(chip)  # as Streamlit calls a file that it holds
    page.locator('[aria-label="4.2 nodes.txt, 1,5KB"]').wait_for(state="attached")
    page.get_by_test_id("stMainMenu").get_by_role("button").click()
    for own in ("Imprimir", "Grabar la pantalla"):
        page.get_by_text(own, exact=True).wait_for()


HEADER = """() => ['.course', '.st-key-bar', 'h1'].map(place => {
    const { left, right, top, bottom } = document.querySelector(place).getBoundingClientRect();
    return { left, right, top, bottom };
})"""
LONG_NAMES = """() => document.querySelectorAll('#course-pages > li > :is(a, button)').forEach(link => {
    link.dataset.title = link.textContent = link.textContent.trim() + 'ungen';
})"""
"""The course as long as it is in another language: some 40% longer."""


def test_the_scenario_goes_to_a_second_line_where_the_course_would_reach_it(app, open_page):
    """A width of the window alone decided: in a language of long words the one lay over the other."""
    page = open_page(f"{app}/pipeline_bubble", width=1366, height=768)
    course, bar, _ = page.evaluate(HEADER)
    assert course["right"] < bar["left"]
    assert abs(course["top"] + course["bottom"] - bar["top"] - bar["bottom"]) < 20
    page.evaluate(LONG_NAMES)
    page.wait_for_selector("html[data-crowded=true]", state="attached")
    course, bar, title = page.evaluate(HEADER)
    assert course["right"] > bar["left"]
    assert bar["top"] >= course["bottom"] - 14
    assert title["top"] >= bar["bottom"]
