"""Keys, focus, what is announced and where one is: the shell without a mouse, or on a phone."""

import re

from tests.browser.conftest import THE_SCENES, arrive, open_scene, press, settle, until, wait_for_address
from tests.browser.heard import ASKED, REVEALED, hear
from tests.browser.test_every_page import faults, lasting, misnamed

SOLID = "element => getComputedStyle(element).backgroundColor"


def in_focus(page) -> str:
    """The key of the container whose control has the focus, or its tag."""
    return page.evaluate(
        "() => document.activeElement.closest('[class*=st-key-]')?.className.match(/st-key-(\\w+)/)[1]"
        " ?? document.activeElement.tagName"
    )


def predict_by_mouse(page) -> None:
    """Click into the question's slider; the focus stays on it."""
    slider = page.locator(".st-key-guess").get_by_test_id("stSlider")
    box, thumb = slider.bounding_box(), slider.get_by_test_id("stSliderThumbValue").locator("..").bounding_box()
    page.mouse.click(box["x"] + 0.4 * box["width"], thumb["y"] + thumb["height"] / 2)
    until(page, page.get_by_role("button", name="Reveal").is_enabled)
    settle(page)


WATCH_FRAMES = """() => {
  const kinds = ['NumberInput', 'Selectbox', 'TextInput', 'Checkbox', 'Slider', 'TextArea', 'FileUploader'];
  const asked = ['.st-key-scenario_panel', ...kinds.map((kind) => `[data-testid="st${kind}"]`)].join();
  window.frames_seen = 0;
  const look = () => {
    window.frames_seen += 1;
    for (const one of document.querySelectorAll(asked)) window.shown.add(one.className);
    const shell = document.querySelector('.st-key-unseen_shell')?.getBoundingClientRect();
    if (shell?.height > 2) window.shown.add(`shell ${shell.height}`);
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""
"""Run before a page that shows no widget: what is painted of any, in each frame from the first."""


def test_after_a_prediction_by_mouse_v_reveals_n_goes_on_and_the_guess_stays(app, open_page):
    """The focus is on the range input then, where Streamlit hears no shortcut.

    The guess left with its slider: after a reload and B it was 0, with the truth shown.
    """
    page = open_page(f"{app}/comm_cost")
    predict_by_mouse(page)
    assert in_focus(page) == "guess" or page.evaluate("document.activeElement.type") == "range"
    press(page, "v")
    wait_for_address(page, "bill_revealed=true")
    guess = re.search(r"bill_guess=(\d+)", page.url)[1]
    page.get_by_role("slider").first.focus()
    page.evaluate(f"{SCROLLED} = 1e5")
    assert page.evaluate(SCROLLED)
    press(page, "n")
    wait_for_address(page, "bill_scene=see")
    assert not page.evaluate(SCROLLED), "a scene begins at its top"
    assert f"bill_guess={guess}" in page.url
    page.reload()
    settle(page)
    press(page, "b")
    page.get_by_role("radio", name="Question", checked=True).wait_for()
    wait_for_address(page, f"bill_guess={guess}")
    assert page.get_by_role("slider").first.input_value() == guess


def keyboard_shows(page, name: str, seen: str) -> None:
    """A button has a ring once the keyboard has come to it, and what stands beside it is seen."""
    button = page.get_by_role("button", name=name).first
    button.focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")  # so that the keyboard is known to be used
    assert button.evaluate("element => getComputedStyle(element).outlineStyle") == "solid"
    shown = "element => element.checkVisibility({ opacityProperty: true })"
    assert page.get_by_role("button", name=seen).first.evaluate(shown)


def test_a_page_is_heard_in_order_and_reveal_leaves_the_focus_on_the_next_step_and_says_the_answer(app, open_page):
    page = open_page(f"{app}/comm_cost")
    hear(page.locator("body"), ASKED)
    keyboard_shows(page, "Main menu", "Main menu")
    predict_by_mouse(page)
    page.emulate_media(forced_colors="active")
    thumb = page.get_by_test_id("stSliderThumbValue").first.locator("..")
    assert len({thumb.evaluate(SOLID), page.locator(".stApp").evaluate(SOLID)}) == 2, "a slider is lost"
    assert lasting(page, misnamed) == []
    page.emulate_media(forced_colors="none")
    page.get_by_role("button", name="Reveal").click()
    wait_for_address(page, "bill_revealed=true")
    until(page, lambda: in_focus(page) == "next")
    hear(page.locator("body"), REVEALED)


def test_a_new_scene_is_announced_and_escape_closes_the_scenario_and_gives_the_focus_back(app, open_page):
    """And names the tab of the browser."""
    page = open_page(f"{app}/comm_cost?bill_scene=see")
    assert page.title() == "See it · The bill · Shardlab"
    assert page.get_by_role("heading").count() > 3
    assert page.get_by_role("link", name="Link to heading").count() == 0
    keyboard_shows(page, "Show data", "Fullscreen")
    press(page, "n")
    assert page.title().startswith("Count it")
    assert page.locator("#shell-said").inner_text().startswith("Count it")
    page.locator(".st-key-scenario button:visible").first.click()
    page.locator(".st-key-scenario_panel .st-key-scenario_done button").wait_for()
    press(page, "Escape")
    page.locator(".st-key-scenario_panel").wait_for(state="detached")
    assert in_focus(page) == "scenario"


def test_single_keys_can_be_switched_off_and_stay_so_on_every_page(app, open_page):
    page = open_page(f"{app}/comm_cost?bill_scene=see&keys=false")
    for key in "nft":
        press(page, key)
    assert "bill_scene=see" in page.url
    assert not page.get_by_role("button", name="Axes held").is_visible()
    page.get_by_role("link", name="04 Pipelines").click()
    wait_for_address(page, "keys=false")


GROUND = "getComputedStyle(document.querySelector('.stApp')).backgroundColor"


def test_a_wall_is_turned_dark_by_t_and_holds_its_axes_by_f(app, open_page):
    """Decode is drawn along prefill's axis then, and along its own once that is let go."""
    page = open_page(f"{app}/comm_cost?bill_scene=see&bill_phase=prefill&present=true", width=1280, height=720)
    light = page.evaluate(GROUND)
    press(page, "t")
    page.wait_for_function(f"before => {GROUND} !== before", arg=light)
    press(page, "t")
    page.wait_for_function(f"before => {GROUND} === before", arg=light)
    far = page.get_by_test_id("stVegaLiteChart").get_by_text("600 ms", exact=True)
    press(page, "f")
    page.get_by_role("button", name="Axes held").wait_for()
    page.get_by_role("radio", name="decode", include_hidden=True).dispatch_event("click")
    page.wait_for_url(lambda url: "bill_phase" not in url)
    settle(page)
    assert far.count() == 1
    press(page, "f")
    far.wait_for(state="detached")


def test_a_projected_link_on_a_phone_is_the_page_as_it_is_read(app, open_page):
    page = open_page(f"{app}/comm_cost?present=true&bill_scene=see", width=390, height=844)
    page.wait_for_url(lambda url: "present=true" not in url)
    settle(page)
    assert page.locator(".st-key-scenario button:visible").count() == 1
    assert page.evaluate("parseFloat(getComputedStyle(document.documentElement).fontSize)") < 20
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.set_viewport_size({"width": 844, "height": 390})  # on its side it is one, too
    page.goto(f"{app}/comm_cost?present=true")
    page.wait_for_url(lambda url: "present=true" not in url)


def test_nothing_in_the_header_lies_over_the_scenario(app, open_page):
    """From 768 to 1,095 px it lay over the course, and a click on Tools opened it."""
    page = open_page(f"{app}/comm_cost?model=llama-3-70b")
    for width in (1280, 1181, 1095, 1060, 910, 768):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(100)
        settle(page)
        bar = page.locator(".st-key-bar").bounding_box()
        menu = page.get_by_role("button", name="Main menu")
        for one in (*page.locator(".course :is(a, button)").filter(visible=True).all(), menu):
            box = one.bounding_box()
            beside = box["x"] + box["width"] <= bar["x"] or bar["x"] + bar["width"] <= box["x"]
            under = box["y"] + box["height"] <= bar["y"] + 1
            assert beside or under, f"{one.inner_text()} at {width} px"
    page.set_viewport_size({"width": 1440, "height": 900})
    for name, within in (("Main menu", "[data-testid=stMainMenuList]"), ("Tools", "#course-tools")):
        page.get_by_role("button", name=name).click()
        page.locator(within).wait_for()
        assert lasting(page, faults, "region", "landmark-unique") == []
        page.keyboard.press("Escape")
    page.emulate_media(media="print")
    assert not page.locator(f".st-key-bar, {THE_SCENES}, .st-key-foot button").filter(visible=True).count()
    page.emulate_media(media="screen")


def test_a_link_of_the_glossary_opens_its_scene_in_this_tab_and_takes_the_scenario_along(app, open_page):
    """Also where this visit has left another scene open there."""
    page = open_page(f"{app}/comm_cost?bill_scene=count&tp=8")
    page.get_by_role("link", name="Start here").click()
    arrive(page, "start_here")
    page.get_by_role("radio", name="Glossary").click()
    wait_for_address(page, "start_scene=glossary")
    page.locator(".stMarkdown table a[href*='bill_scene=bench']").first.click()
    arrive(page, "comm_cost")
    assert "tp=8" in page.url
    page.get_by_role("radio", name="Bench", checked=True).wait_for()


def test_a_first_visit_never_shows_what_is_asked_out_of_sight(app, open_page):
    """The style sheet held back and the processor slowed: the scenario's panel once stood bare over the screen."""
    page, held = open_page(app), []
    page.add_init_script(f"window.shown = new Set(); ({WATCH_FRAMES})()")
    page.route("**/Html*.js", lambda route: held.append(route))
    processor = page.context.new_cdp_session(page)
    processor.send("Emulation.setCPUThrottlingRate", {"rate": 6})
    page.goto(f"{app}/sharding_math?shard_scene=build&tp=4&shard_guess=3")
    page.locator(THE_SCENES).wait_for()
    processor.send("Emulation.setCPUThrottlingRate", {"rate": 1})
    page.wait_for_function("frames => window.frames_seen > frames", arg=page.evaluate("window.frames_seen") + 3)
    assert held
    for route in held:
        route.continue_()
    settle(page)
    assert page.evaluate("[...window.shown]") == []
    wait_for_address(page, "shard_guess=3")


SCROLLED = "document.querySelector('[data-testid=stMain]').scrollTop"


def view(page) -> str:
    """The page and scene that are open."""
    return f"{page.url.split('/')[-1].split('?')[0]}: {open_scene(page)}"


def views(page, go, times: int) -> list[str]:
    """The page and scene after each of so many steps in the browser's history, all of which change it."""
    found = [view(page)]
    for _ in range(times):
        go()
        until(page, lambda: view(page) != found[-1])
        settle(page)
        found.append(view(page))
    return found[1:]


WRITTEN_APART = """async (addresses) => {
  for (const address of addresses) {
    history.pushState({}, '', address);
    await new Promise((go) => setTimeout(go));
  }
}"""
"""Each in a task of its own, as Streamlit writes them, however slow the machine that asks."""
SLOWER = """() => {
    const send = WebSocket.prototype.send;
    WebSocket.prototype.send = function (...data) { setTimeout(() => send.apply(this, data), 1000); };
}"""
"""Makes what a page asks arrive a second late."""


def test_each_view_is_one_entry_of_the_history_and_back_and_forward_bring_it(app, open_page):
    """A pressed scene added none, N added some, and leaving a page two, one of them a view that nobody had seen."""
    page = open_page(f"{app}/comm_cost")
    before = page.evaluate("history.length")
    seen = ["comm_cost: Question"]
    for act in (
        lambda: page.get_by_role("radio", name="See it").click(),
        lambda: page.keyboard.press("n"),
        lambda: page.keyboard.press("b"),
        lambda: page.get_by_role("radio", name="Limits").click(),
        lambda: page.keyboard.press("n"),
        lambda: page.get_by_role("radio", name="See it").click(),
        lambda: page.get_by_role("link", name="01 Sharding").click(),
    ):
        seen += views(page, act, 1)
    assert seen[1:] == [
        *("comm_cost: See it", "comm_cost: Count it", "comm_cost: See it", "comm_cost: Limits"),
        *("pipeline_bubble: Serve", "pipeline_bubble: See it", "sharding_math: Question"),
    ]
    assert page.evaluate("history.length") == before + 7
    assert views(page, page.go_back, 7) == seen[-2::-1]
    assert views(page, page.go_forward, 7) == seen[1:]
    page.evaluate(SLOWER)
    page.get_by_role("link", name="03 The bill").click()
    arrive(page, "comm_cost")
    assert page.evaluate("history.length") == before + 8, "a server that answers late adds no entry"
    for left, writes in (
        ("comm_cost", ("sharding_math?bill_scene=limits", "sharding_math?bill_scene=limits", "sharding_math")),
        ("sharding_math", ("comm_cost", "comm_cost?bill_scene=limits")),
    ):
        page.keyboard.press("Shift")
        length = page.evaluate("history.length")
        page.evaluate(WRITTEN_APART, [f"/{write}" for write in writes])
        assert page.evaluate("history.length") == length + 1, f"{left} left in several writes"


def test_a_reload_finds_a_player_where_it_was_left(app, open_page):
    page = open_page(f"{app}/pipeline_bubble?pipe_scene=see")
    for _ in range(3):
        page.locator("figure.player [data-do=back]").click()
    page.reload()
    settle(page)
    page.locator("figure.player[data-stop='20']").wait_for()


def test_tab_comes_into_a_row_of_choices_at_the_chosen_one_and_leaves_it_from_there(app, open_page):
    page = open_page(f"{app}/pipeline_bubble?pipe_scene=see")
    page.locator(".st-key-go_present button").focus()
    came = []
    for _ in range(4):
        page.keyboard.press("Tab")
        came.append(page.evaluate("[document.activeElement.role, document.activeElement.ariaChecked]"))
    assert came[:3] == [["radio", "true"]] * 3, "the scenes, the stages, the microbatches"
    assert came[3][0] != "radio"
    page.keyboard.press("Shift+Tab")
    assert page.evaluate("document.activeElement.ariaChecked") == "true"


def test_in_forced_colors_the_chosen_scene_has_room_around_its_name(app, open_page):
    page = open_page(f"{app}/pipeline_bubble?pipe_scene=see")
    page.emulate_media(forced_colors="active")
    chosen = page.locator('[class*="st-key-scenes_"] [role=radio][aria-checked=true]')
    tab, name = chosen.bounding_box(), chosen.locator("p").bounding_box()
    assert name["x"] - tab["x"] >= 6
    assert tab["x"] + tab["width"] - name["x"] - name["width"] >= 6
