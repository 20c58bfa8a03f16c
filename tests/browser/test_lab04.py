"""Lab 04 in a real browser: the schedule player under keyboard and mouse, and the walk through the scenes."""

import re
from xml.etree import ElementTree

import pytest

from tests.browser.conftest import press, settle, until
from tests.browser.measures import INK

SEE = "pipeline_bubble?pipe_scene=see"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def player(app, same_page):
    """The See scene's player at its first tick, allowed to move, and the page it is on."""
    page = drawn(same_page(f"{app}/{SEE}"))
    for key in ("End", "Home"):
        page.locator("canvas.grid").press(key)
    page.evaluate("document.activeElement.blur()")
    page.emulate_media(reduced_motion="no-preference")
    return page


def drawn(page):
    """The page, once its player has drawn itself."""
    page.wait_for_selector("figure.player[data-stop]")
    return page


def tick(page) -> int:
    return int(page.locator("figure.player").get_attribute("data-stop"))


def at_rest(page) -> bool:
    return page.locator("figure.player").get_attribute("data-at-rest") == "true"


def test_the_player_is_at_rest_until_space_is_pressed_and_again_after(player):
    """Space works with nothing focused; the focus of the page decides, not a click into the figure."""
    assert (tick(player), at_rest(player)) == (0, True)
    player.keyboard.press("Space")
    until(player, lambda: tick(player) > 0)
    player.keyboard.press("Space")
    until(player, lambda: at_rest(player))
    stopped = tick(player)
    assert stopped > 0
    player.wait_for_timeout(500)
    assert tick(player) == stopped


def test_space_is_left_to_a_button_that_the_keyboard_has_reached(player):
    """On the control that asks for p, Space is the control's own."""
    player.locator(".st-key-pipe_p [role=radio]").first.focus()
    player.keyboard.press("Space")
    player.wait_for_timeout(400)
    assert at_rest(player)


def test_space_plays_after_a_click_on_a_choice(player):
    """The mouse has chosen m = 32, and the button keeps the focus: Space is the player's all the same."""
    player.locator(".st-key-pipe_m").get_by_text("32", exact=True).click()
    settle(player)
    player.keyboard.press("Space")
    until(player, lambda: not at_rest(player))
    player.keyboard.press("Space")
    until(player, lambda: at_rest(player))


def test_the_page_turns_to_other_sizes_before_the_server_answers(player):
    """The batch of 2 stages is there at once, plays on when the answer for it has come, and says so then.

    A right and a wrong run turn together.
    """
    said, canvas = player.locator("figure.player output"), player.locator("canvas.grid")
    tell = "place => dispatchEvent(new CustomEvent('live', { detail: { key: 'pipe_p', value: String(place) } }))"
    for place, ticks in ((0, 17), (3, 31), (2, 23)):
        player.evaluate(tell, place)
        assert said.inner_text() == f"{ticks} of {ticks} ticks"
    before = canvas.get_attribute("aria-label")
    player.locator(".st-key-pipe_p").get_by_text("2", exact=True).click()
    until(player, lambda: said.inner_text() == "17 of 17 ticks")
    player.keyboard.press("Space")
    until(player, lambda: canvas.get_attribute("aria-label") != before)
    until(player, lambda: tick(player) > 0)
    assert said.inner_text().endswith("of 17 ticks")
    player.locator(".st-key-pipe_p").get_by_text("8", exact=True).click()
    until(player, lambda: canvas.get_attribute("aria-label") == before)
    player.get_by_role("radio", name="Break it").click()
    settle(player)
    until(player, lambda: said.inner_text() == "23 of 23 ticks")
    height = canvas.bounding_box()["height"]
    player.evaluate(tell, 0)
    assert said.inner_text() == "17 of 17 ticks"
    assert 0 < canvas.bounding_box()["height"] < height


def test_a_step_is_announced_stage_by_stage(player):
    """After four ticks of the fill: microbatch 3 has just gone through stage 0, and stage 7 still waits."""
    player.locator("canvas.grid").focus()
    for _ in range(4):
        player.keyboard.press("ArrowRight")
    live = player.locator("figure.player .live").inner_text()
    assert live.startswith("4 of 23 ticks. stage 0: forward of microbatch 3, stage 1: forward of microbatch 2")
    assert "stage 7: idle" in live


def test_buttons_step_both_ways_and_stop_at_the_ends(player):
    back, step = player.get_by_label("One tick back"), player.get_by_label("One tick on")
    back.click()
    assert tick(player) == 0
    for _ in range(3):
        step.click()
    back.click()
    assert tick(player) == 2
    assert "2 of 23 ticks" in player.locator("figure.player output").inner_text()


def test_arrows_move_and_choose_when_the_figure_has_the_focus(player):
    """Left and right step, Home and End go to the ends, up and down choose the microbatch that is followed."""
    player.locator("canvas.grid").focus()
    player.keyboard.press("ArrowRight")
    player.keyboard.press("ArrowRight")
    player.keyboard.press("ArrowLeft")
    assert tick(player) == 1
    player.keyboard.press("End")
    assert tick(player) == 23
    player.keyboard.press("Home")
    assert tick(player) == 0
    live, chosen = player.locator("figure.player .live"), []
    for key in ("ArrowDown", "ArrowDown", "ArrowUp"):
        player.keyboard.press(key)
        chosen.append(int(re.search(r"following microbatch (\d+)", live.inner_text())[1]))
    assert chosen == [chosen[0], chosen[0] + 1, chosen[0]]


def test_the_slider_scrubs(player):
    player.get_by_label("Ticks done").fill("12")
    assert tick(player) == 12


def test_a_click_on_a_cell_follows_its_microbatch_and_a_second_click_lets_go(player):
    """Stage 0 at tick 2 runs microbatch 2."""
    canvas, live = player.locator("canvas.grid"), player.locator("figure.player .live")
    width = canvas.bounding_box()["width"] - 20
    where = {"x": 10 + width * 2.5 / 23, "y": 40}
    canvas.click(position=where)
    assert "following microbatch 2" in live.inner_text()
    canvas.click(position=where)
    assert "following" not in live.inner_text()


def test_a_click_on_an_idle_cell_counts_the_bubble(player):
    """56 of 184 cells at 8 stages and 16 microbatches; the next step puts the ticks back."""
    player.locator("canvas.grid").click(position={"x": 30, "y": 22 + 40 * 7.5})
    assert "56 of 184 idle" in player.locator("figure.player output").inner_text()
    player.get_by_label("One tick on").click()
    assert "1 of 23 ticks" in player.locator("figure.player output").inner_text()


BROKEN = """() => [...document.querySelectorAll('p > code')].filter((code) => {
    const letters = document.createRange();
    letters.selectNodeContents(code);
    return new Set([...letters.getClientRects()].map(({ top }) => Math.round(top))).size > 1;
}).map(({ textContent }) => textContent)"""


def test_a_formula_in_a_note_stands_on_one_line(player):
    assert "(p − 1)/m" in player.locator("p > code").all_inner_texts()
    assert player.evaluate(BROKEN) == []


def test_with_reduced_motion_play_shows_the_end_at_once(player):
    player.emulate_media(reduced_motion="reduce")
    player.keyboard.press("Space")
    assert (tick(player), at_rest(player)) == (23, True)


def test_playing_64_by_1024_sends_nothing_to_the_server(app, open_page):
    """And moves: at four times the speed the whole run lasts seven and a half seconds."""
    page = open_page(
        f"{app}/pipeline_bubble?pipe_scene=bench&pipe_figure=the_run&pipe_bench_p=64&pipe_bench_m=1024"
    )
    page.emulate_media(reduced_motion="no-preference")
    page.evaluate(
        "() => { WebSocket.prototype.send = (send => function (...data) { window.sent = (window.sent || 0) + 1;"
        " return send.apply(this, data); })(WebSocket.prototype.send); }"
    )
    drawn(page).locator("figure.player .speed label").last.click()
    page.locator("figure.player .play").click()
    until(page, lambda: tick(page) > 50)
    page.locator("figure.player .play").click()
    assert page.evaluate("window.sent || 0") == 0


def test_changing_the_theme_keeps_the_tick(player):
    player.get_by_label("Ticks done").fill("9")
    player.emulate_media(color_scheme="dark")
    player.wait_for_timeout(600)
    settle(player)
    assert tick(player) == 9


def test_other_sizes_come_to_rest_at_their_last_tick_along_an_axis_that_is_held(player):
    canvas = player.locator("canvas.grid")
    player.get_by_label("Ticks done").fill("9")
    player.locator(".st-key-pipe_m").get_by_text("32", exact=True).click()
    until(player, lambda: "39 of 39 ticks" in player.locator("figure.player output").inner_text())
    assert at_rest(player)
    wide = canvas.bounding_box()["width"]
    press(player, "f")
    player.get_by_role("button", name="Axes held").wait_for()
    player.locator(".st-key-pipe_m").get_by_text("16", exact=True).click()
    until(player, lambda: "23 of 23 ticks" in player.locator("figure.player output").inner_text())
    assert (canvas.bounding_box()["width"] - 20) / (wide - 20) == pytest.approx(23 / 39, rel=0.01)


def test_the_figure_is_saved_as_svg_as_it_stands(player, tmp_path):
    """23 ticks and 8 stages: every microbatch number stands in it once a stage."""
    with player.expect_download() as download:
        player.get_by_label("Save the figure as an image").click()
    saved = tmp_path / "figure.svg"
    download.value.save_as(saved)
    root = ElementTree.parse(saved).getroot()
    words = [element.text for element in root.iter(f"{SVG}text")]
    assert words.count("13") == 8
    assert "stage 7" in words
    assert sum(element.get("fill") == "url(#idle)" for element in root.iter(f"{SVG}rect")) == 56


def test_on_a_phone_a_deadlock_is_told_without_scrolling_sideways(app, open_page):
    """That there are more ticks, and eight ranks that wait, each in a line of text that ends within the screen."""
    page = drawn(
        open_page(f"{app}/pipeline_bubble?pipe_scene=break_it&pipe_wrong=a_deadlock", width=390, height=844)
    )
    lines = page.locator("figure.player .notes li")
    assert lines.count() == 9
    assert lines.first.inner_text().startswith("Swipe")
    assert lines.last.inner_text() == "rank 7: 7F2 waits for 6F2"
    assert all(line.bounding_box()["x"] + line.bounding_box()["width"] <= 390 for line in lines.all())


def test_the_straggler_set_on_the_page_is_in_the_panel_and_the_address(app, open_page):
    page = drawn(open_page(f"{app}/pipeline_bubble?pipe_scene=bench&pipe_figure=serving"))
    knob = page.locator(".st-key-_straggler input")
    knob.fill("70")
    knob.press("Enter")
    page.wait_for_url("**slow=70**")
    settle(page)
    page.get_by_text("one rank 70% slower").first.wait_for()
    page.locator(".st-key-scenario button:visible").first.click()
    page.locator(".st-key-slow").locator("input[value='70']").wait_for()


LONGER = """for (const name of ['fillText', 'measureText']) {
    const does = CanvasRenderingContext2D.prototype[name];
    CanvasRenderingContext2D.prototype[name] = function (words, ...rest) {
        return does.call(this, String(words).replace(/^stage/, 'Pipelinestufe'), ...rest);
    };
}"""
"""Run before the page: a row is called as it would be in a language of long words."""
CUT = """() => window.ink.filter(one => /^stage/.test(one.words) && one.canvas.isConnected)
    .map(one => [one.words, one.ends[1].x, one.canvas.width])"""


@pytest.mark.parametrize(("wide", "high"), [(1280, 720), (1366, 768), (390, 844)])
def test_names_of_rows_are_whole_in_a_language_of_long_words(app, open_page, wide, high):
    """They were cut at 156, 125 and 82 px, as wide as English is."""
    projected = "&present=true" if wide == 1280 else ""
    page = drawn(open_page(f"{app}/{SEE}{projected}", width=wide, height=high, script=f"{LONGER};{INK}"))
    names = page.evaluate(CUT)
    assert len(names) >= 4
    assert [(name, end, room) for name, end, room in names if end > room] == []


def test_the_word_for_speed_keeps_clear_of_the_count_however_long_it_is(app, open_page):
    page = drawn(open_page(f"{app}/{SEE}"))
    page.locator("figure.player").evaluate(
        "figure => figure.querySelector('legend').textContent = 'Geschwindigkeit'"
    )
    page.emulate_media(color_scheme="dark")  # which draws it anew
    settle(page)
    count, word = (
        page.locator(f"figure.player {part}").first.bounding_box() for part in ("output", ".speed legend")
    )
    assert count["x"] + count["width"] <= word["x"]


def test_on_paper_a_player_has_nothing_to_press(app, same_page):
    page = drawn(same_page(f"{app}/{SEE}"))
    page.emulate_media(media="print")
    assert page.locator("figure.player canvas.grid").is_visible()
    assert not page.locator("figure.player .controls").is_visible()
    page.emulate_media(media="screen")
