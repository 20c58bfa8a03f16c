"""Lab 01 in a real browser: the block stepper under keyboard and mouse, and the walk through the scenes."""

from xml.etree import ElementTree

import pytest

from tests.browser.conftest import open_scene, press, settle, until, wait_for_address
from tests.browser.measures import INK, TOUCH, TYPE
from tests.browser.test_every_page import lasting
from ui.sharding_math.rows import RANKS

SEE = "sharding_math?shard_scene=see"
FOUR = f"{SEE}&shard_layer=row&shard_ranks=4"
STEPS = ["whole", "shard", "local matmul", "all-reduce", "compare"]


@pytest.fixture
def stepper(app, same_page):
    """The See scene with four ranks of a row-parallel layer at its first step, allowed to move."""
    page = drawn(same_page(f"{app}/{FOUR}"))
    page.locator(".track button").first.click()
    page.evaluate("document.activeElement.blur()")
    page.emulate_media(reduced_motion="no-preference")
    return page


def drawn(page):
    """The page, once its stepper has drawn itself."""
    page.wait_for_selector(".stepper .block", state="attached")
    return page


def step(page) -> str:
    return page.locator(".track [aria-current=step]").inner_text()


def visible_values(page, row: str) -> list[str]:
    """What stands in the blocks of a row that can be seen."""
    return page.evaluate(
        """row => [...document.querySelectorAll('*')].filter(e => e.shadowRoot)
        .flatMap(e => [...e.shadowRoot.querySelectorAll(`.block[data-row="${row}"]`)])
        .filter(b => b.style.visibility === 'visible')
        .flatMap(b => [...b.querySelectorAll('.value')].map(t => t.textContent))""",
        row,
    )


def followed(page) -> str:
    return page.locator(".followed h3").inner_text()


def test_the_stepper_opens_at_rest_on_the_whole_matrices(stepper):
    assert step(stepper) == "whole"
    stepper.wait_for_timeout(2000)
    assert step(stepper) == "whole"
    assert visible_values(stepper, "dense") == ["3.19", "0.25", "0.59", "−0.42"]
    assert visible_values(stepper, "partial y") == []


def test_n_walks_the_steps_then_the_proof_and_then_the_scenes_and_b_walks_back(stepper):
    """At the last step N is the page's again: it goes on to the pair, then to the next scene, and B goes back."""
    for name in STEPS[1:]:
        stepper.keyboard.press("n")
        assert step(stepper) == name
    press(stepper, "n")
    wait_for_address(stepper, "shard_layer=mlp_pair")
    until(drawn(stepper), lambda: step(stepper) == "whole")
    walked = ["whole"]
    while walked[-1] != "compare" and len(walked) < 10:
        stepper.keyboard.press("n")
        walked.append(step(stepper))
    assert len(walked) == len(set(walked)) == 7
    press(stepper, "n")
    assert "Count" in open_scene(stepper)
    press(stepper, "b")
    until(drawn(stepper), lambda: step(stepper) == "whole")
    press(stepper, "b")
    wait_for_address(stepper, "shard_layer=row")
    until(drawn(stepper), lambda: step(stepper) == "whole")
    press(stepper, "b")
    until(drawn(stepper), lambda: step(stepper) == "whole")
    assert "shard_layer=row" not in stepper.url
    press(stepper, "b")
    assert "Question" in open_scene(stepper)


def test_arrows_walk_too(stepper):
    stepper.keyboard.press("ArrowRight")
    stepper.keyboard.press("ArrowRight")
    stepper.keyboard.press("ArrowLeft")
    assert step(stepper) == "shard"


def test_space_plays_to_the_end_and_stops_there(stepper):
    stepper.keyboard.press("Space")
    assert step(stepper) == "shard"
    until(stepper, lambda: step(stepper) == "compare")
    stepper.get_by_role("button", name="Play").wait_for()


def test_space_is_left_to_a_focused_button(stepper):
    stepper.locator(".st-key-shard_ranks [role=radio]").nth(3).focus()
    stepper.keyboard.press("Space")
    stepper.wait_for_timeout(300)
    assert step(stepper) == "whole"


def test_each_rank_multiplies_and_the_sum_is_on_all(stepper):
    for _ in range(3):
        stepper.keyboard.press("n")
    assert visible_values(stepper, "partial y")[:4] == ["0.96", "0.08", "1.36", "−0.96"]
    assert visible_values(stepper, "y") == ["3.19", "0.25", "0.59", "−0.42"] * 4
    assert "1 all-reduce, 8\u00a0KiB" in stepper.locator("aside").inner_text()


def test_an_outputs_sum_is_written_out_for_pointer_and_keyboard_and_the_server_is_asked_nothing(app, open_page):
    """Arrow keys on an output go to its neighbour, not to the next step."""
    page = drawn(open_page(f"{app}/{FOUR}"))
    page.emulate_media(reduced_motion="no-preference")
    page.evaluate(
        "() => { WebSocket.prototype.send = (send => function (...data) { window.sent = (window.sent || 0) + 1;"
        " return send.apply(this, data); })(WebSocket.prototype.send); }"
    )
    for _ in range(3):
        page.keyboard.press("n")
    assert followed(page) == "y[2], followed"
    page.wait_for_timeout(1100)
    page.locator(".hit[data-follow][tabindex='0']").focus()
    page.keyboard.press("ArrowLeft")
    assert (followed(page), step(page)) == ("y[1], followed", "all-reduce")
    page.locator(".hit[data-follow='0']").first.hover()
    assert followed(page) == "y[0], followed"
    page.locator(".hit[data-follow='1']").first.hover()
    assert followed(page) == "y[1], followed"
    assert page.locator(".followed .number").all_inner_texts() == ["0.08", "−0.72", "−0.21", "1.10", "0.25"]
    page.keyboard.press("n")
    page.wait_for_timeout(500)
    assert page.evaluate("window.sent || 0") == 0


def test_the_step_is_in_the_address_and_a_reload_opens_there(stepper):
    for _ in range(3):
        stepper.keyboard.press("n")
    wait_for_address(stepper, "shard_step=collective")
    stepper.reload()
    drawn(stepper)
    settle(stepper)
    assert step(stepper) == "all-reduce"
    assert "Ignored in the address" not in stepper.inner_text("body")
    stepper.keyboard.press("b")
    wait_for_address(stepper, "shard_step=matmul")


def test_other_layers_and_ranks_keep_the_step(stepper):
    stepper.locator(".track button").nth(2).click()
    stepper.locator(".st-key-shard_ranks [role=radio]").nth(1).click()
    settle(stepper)
    until(stepper, lambda: len(visible_values(stepper, "partial y")) == 2 * 4)
    assert step(stepper) == "local matmul"


def test_a_rank_is_picked_by_its_name_as_a_hint_on_the_page_says(stepper):
    """The blocks of the others fade; a second press brings them back. No word said that a name can be pressed."""
    stepper.get_by_text("name to see only what it holds.").wait_for()
    stepper.locator(".track button").nth(2).click()
    opacity = "nodes => nodes.map(node => Number(node.style.opacity))"
    blocks = stepper.locator(".stepper .block[data-row='W']")
    until(stepper, lambda: blocks.evaluate_all(opacity) == [1, 1, 1, 1])
    stepper.locator(".rank-hit").nth(1).click()
    until(stepper, lambda: blocks.evaluate_all(opacity) == [0.14, 1, 0.14, 0.14])
    stepper.locator(".rank-hit").nth(1).press("Enter")
    until(stepper, lambda: blocks.evaluate_all(opacity) == [1, 1, 1, 1])


LAYERS = {
    "Attention": ["whole", "shard", "project", "attend", "output", "all-reduce", "compare"],
    "Embedding": ["whole", "shard", "look up", "all-reduce", "compare"],
    "Sequence": ["whole", "shard", "local matmul", "reduce-scatter", "all-gather", "compare"],
}


def test_every_layer_can_be_walked(app, open_page):
    page = drawn(open_page(f"{app}/{SEE}&shard_layer=attention"))
    for layer, names in LAYERS.items():
        page.locator(".st-key-shard_layer").get_by_text(layer, exact=True).click()
        settle(page)
        until(page, lambda names=names: page.locator(".track button").all_inner_texts() == names)
        page.locator(".track button").first.click()
        walked = [step(page)]
        for _ in names[1:]:
            page.keyboard.press("n")
            walked.append(step(page))
            assert page.locator(".stepper aside .step p").inner_text()
        assert walked == names


def test_a_struck_size_says_which_equation_it_breaks(app, open_page):
    page = open_page(f"{app}/{SEE}&shard_ranks=6")
    assert "out_features=4 does not divide over num_ranks=6" in page.get_by_test_id("stAlert").inner_text()
    struck = page.locator(".st-key-shard_ranks [role=radio]").nth(4).locator("p")
    assert "line-through" in struck.evaluate("e => getComputedStyle(e).textDecorationLine")


def test_with_reduced_motion_play_shows_the_end_at_once(stepper):
    stepper.emulate_media(reduced_motion="reduce")
    stepper.keyboard.press("Space")
    assert step(stepper) == "compare"


def test_the_figure_is_saved_as_svg_as_it_stands(stepper, tmp_path):
    stepper.locator(".track button").nth(3).click()
    stepper.wait_for_timeout(1200)
    with stepper.expect_download() as download:
        stepper.get_by_label("Save the figure as SVG").click()
    saved = tmp_path / "figure.svg"
    download.value.save_as(saved)
    words = [element.text for element in ElementTree.parse(saved).getroot().iter() if element.text]
    assert words.count("3.19") == 4
    assert "partial y" in words


def test_a_phone_shows_four_ranks_and_every_rank_of_a_layer_without_scrolling_sideways(app, open_page):
    page = drawn(open_page(f"{app}/{FOUR}", width=390, height=844))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    stage = page.locator(".stepper .stage")
    assert stage.evaluate("e => e.scrollWidth <= e.clientWidth + 1")
    page.locator(".track button").nth(1).click()  # the ranks' names can be pressed now
    page.locator(".rank-hit").first.wait_for()
    assert page.evaluate(TOUCH) == []
    page.get_by_role("radio", name="Count it").click()
    settle(page)
    page.locator(".still svg text:visible").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    seen = page.locator(".still svg text:visible").all_text_contents()
    assert {"rank 0", "rank 1"} <= set(seen)
    right = max(
        box["x"] + box["width"] for box in (one.bounding_box() for one in page.locator("svg text:visible").all())
    )
    assert right <= 390


def cut(page) -> list[str]:
    """What is wrong with the projected figure as it stands: under the foot, or too small."""
    seen = page.evaluate(TYPE)
    low = [f"{seen['lowest']} is {seen['under']} px under the foot"] if seen["under"] > 0 else []
    return low + ([f"{seen['smallest']} has {seen['least']} px"] if seen["least"] < 24 else [])


def test_a_clicker_steps_every_projected_figure_and_nothing_of_it_is_ever_cut(app, open_page):
    """1280 × 720, on four ranks and two, in Spanish, whose captions are longer, and at last 1920 × 1080.

    Sequence on four ranks is 19 rows of numbers: its dense result stands in a column of its own.
    """
    page = drawn(open_page(f"{app}/{SEE}&present=true&shard_ranks=4&lang=es", width=1280, height=720, script=INK))
    layers = page.locator(".st-key-shard_layer [role=radio]")
    found = {}
    for size, ranks in (((1280, 720), 4), ((1280, 720), 2), ((1920, 1080), 4)):
        page.set_viewport_size({"width": size[0], "height": size[1]})
        page.locator(".st-key-shard_ranks [role=radio]").nth(RANKS.index(ranks)).dispatch_event("click")
        for layer in range(layers.count()):
            layers.nth(layer).dispatch_event("click")
            settle(page)
            page.locator(".track button").first.dispatch_event("click")
            for at in range(page.locator(".track button").count()):
                if at:
                    page.keyboard.press("PageDown")
                until(page, lambda at=at: page.locator(".track button").nth(at).get_attribute("aria-current"))
                found[size, ranks, layer, at] = lasting(page, cut)
    assert not {where: those for where, those in found.items() if those}
    assert "shard_scene=see" in page.url


def test_an_answer_by_hand_is_graded_with_its_unit(app, open_page):
    """8 KB is not 8 KiB, and one all-reduce a layer is half of them."""
    page = open_page(f"{app}/sharding_math?shard_scene=count&shard_count=by_hand&shard_level=blank")
    for number, (answer, said) in enumerate(
        [("8 KB", "A KB has a thousand bytes"), ("32", "This is half of it")], start=1
    ):
        box = page.locator("[data-testid=stTextInput] input:visible").nth(number)
        box.fill(answer)
        box.press("Enter")
        page.get_by_text(said).wait_for()
