"""What a low wall, 1280 × 720, has on the first screen of a scene, without turning to another."""

import pytest

from scripts.settled import SCREEN
from tests.browser.conftest import settle, until

IN_SIGHT = """places => places.map(place => {
    const found = [...document.querySelectorAll(place)].find(e => e.getBoundingClientRect().height > 0);
    if (!found) return `${place}: not there`;
    const { top, bottom, left, right } = found.getBoundingClientRect();
    const foot = document.querySelector('.st-key-foot').getBoundingClientRect().top;
    const isSeen = found.checkVisibility({ visibilityProperty: true });
    const isIn = top >= 0 && bottom <= foot && left >= 0 && right <= innerWidth;
    return isSeen && isIn ? null : `${place}: ${[top, bottom, foot]}`;
}).filter(Boolean)"""
"""What of these is not wholly on the screen, over the foot."""
BOARDS = (".st-key-side_right", ".st-key-side_wrong", "h1")
FIRST = {
    "sharding_math?shard_scene=break_it": BOARDS,
    "sharding_math?shard_scene=break_it&shard_mistake=kv_uncut": BOARDS,
    "sharding_math?shard_scene=break_it&shard_mistake=row_then_column": BOARDS,
    "comm_cost?bill_scene=see": (
        '[data-testid="stVegaLiteChart"]',
        ".st-key-reading_see-reading_decode",
        ".st-key-bill_phase",
    ),
    "comm_cost?bill_scene=see&bill_view=the_wire": (
        ".st-key-wire",
        ".st-key-bill_wire_n",
        ".st-key-bill_wire_link",
        '[class*="st-key-reading_see-reading_wire"]',
    ),
    "comm_cost?bill_scene=see&bill_view=the_wire&bill_phase=prefill&bill_wire_n=8&slow=50": (
        ".st-key-wire",
        ".st-key-bill_wire_n",
        ".st-key-bill_phase",
    ),
    "pipeline_bubble?pipe_scene=break_it": (".st-key-broken", ".st-key-reading_break_it-reading_nobody"),
    "pipeline_bubble?pipe_scene=break_it&pipe_wrong=one_stage_a_tick_early": (
        ".st-key-broken",
        ".st-key-reading_break_it-reading_early",
    ),
    "two_way_tp?real_guess=20": (".st-key-guess", ".st-key-predicted", ".st-key-real_pace"),
}


@pytest.fixture(scope="module")
def low_wall(app, same_page):
    """One visit that goes from scene to scene."""

    def opened(path):
        page = same_page(f"{app}/sharding_math")
        page.set_viewport_size({"width": 1280, "height": 720})
        page.goto(f"{app}/{path}&present=true")
        settle(page)
        return page

    return opened


@pytest.mark.parametrize("path", FIRST)
def test_what_belongs_together_stands_on_one_screen(low_wall, path):
    assert low_wall(path).evaluate(IN_SIGHT, list(FIRST[path])) == []


@pytest.mark.parametrize("language", ["en", "es"])
def test_the_overview_has_its_player_and_what_plays_it(low_wall, language):
    """It has no foot and no second screen."""
    page = low_wall(f"?lang={language}")
    controls = page.locator("figure.journey .controls").bounding_box()
    assert controls["y"] + controls["height"] <= 720
    assert page.locator("h1").evaluate("h1 => h1.clientHeight < 2 * parseFloat(getComputedStyle(h1).lineHeight)")


def test_two_boards_stand_side_by_side_and_the_second_has_the_names_of_the_first(low_wall):
    page = low_wall("sharding_math?shard_scene=break_it")
    right, wrong = (page.locator(f".st-key-side_{side} svg").first.bounding_box() for side in ("right", "wrong"))
    assert right["x"] + right["width"] <= wrong["x"]
    names = [page.locator(f".st-key-side_{side} svg tspan.name").count() for side in ("right", "wrong")]
    assert names[0] >= 5
    assert names[1] == 0


def test_the_rule_stands_over_the_bars_that_show_it(low_wall):
    page = low_wall("comm_cost?bill_scene=see")
    rule = page.locator("p", has_text="Keep").first.bounding_box()
    chart = page.locator('[data-testid="stVegaLiteChart"]').bounding_box()
    assert rule["y"] + rule["height"] <= chart["y"]


def test_a_player_that_needs_a_whole_screen_has_the_first_and_the_title_gives_way(low_wall):
    """It is made as high as what the foot leaves: with the title over it, it has no room."""
    page = low_wall("pipeline_bubble?pipe_scene=see")
    room = page.evaluate("document.querySelector('.st-key-foot').getBoundingClientRect().top")
    page.locator("figure.player").first.evaluate("(e, px) => { e.style.minHeight = `${px}px`; }", room - 60)
    until(page, lambda: "/" in page.evaluate(SCREEN))
    settle(page)
    figure = page.locator("figure.player").first
    assert figure.evaluate("e => e.checkVisibility({ visibilityProperty: true })")
    assert figure.bounding_box()["y"] >= 0
    assert figure.bounding_box()["y"] < 200
    assert page.evaluate(SCREEN).strip('"').startswith(" · 1/")
