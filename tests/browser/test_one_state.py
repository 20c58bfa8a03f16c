"""What a visit asks is in its address, and the address is what is shown: links, Back, quick presses, pages, paper.

Told by what a person sees: labels, roles and the address, in which what stands at its default is absent.
"""

import re

import pytest

from tests.browser.conftest import arrive, press, settle, until
from tests.browser.seen import (
    TP,
    asks,
    field,
    follow,
    from_tools,
    go_to,
    holds,
    open_scenario,
    pick,
    query,
    row,
    select,
    shows,
)

ALPHA, BETA = "Latency a hop, µs", "Bandwidth one way, GB/s"
GOOD = {"bill_scene": "bench", "bill_alpha": "12.5", "bill_phase": "prefill", "bill_guess": "7", "tp": "4"}
REFUSED = {
    "bill_beta=-3": "is not a number from 0.001 to 100000",
    "bill_tokens=many": "is not a whole number from 1 to 1048576",
    "bill_numbers=oops": "is not one of as_measured, the_lab_s_napkin",
    "bill_view=nope": "is not one of the_bill, the_wire",
    "bill_revealed=yes": "is not true or false",
    "slow=banana": "is not a whole number from 0 to 900; 0 is used",
    "weights=fp9": "is not one of fp32, bf16, fp16, fp8, int8, mxfp4, int4; bf16 is used",
}


def test_a_link_shows_what_is_good_says_a_sentence_of_what_is_not_and_keeps_what_other_scenes_ask(app, open_page):
    """A pin, which a button writes, is kept likewise; and who comes back to a page finds it as it was left."""
    asked = "&".join([*(f"{name}={value}" for name, value in GOOD.items()), *REFUSED, "stranger=1"])
    page = open_page(f"{app}/comm_cost?{asked}")
    line = page.get_by_text("Ignored in the address").inner_text()
    for part, rule in REFUSED.items():
        assert line.count(f"{part} {rule}") == 1
    assert line.count("stranger is not a setting of this page") == 1
    assert line.count(";") == len(REFUSED) + 2, "a sentence that says what is used has one of its own"
    asks(page, **GOOD, **dict.fromkeys((part.partition("=")[0] for part in REFUSED), ""))
    holds(page, ALPHA, "12.5")
    holds(page, BETA, "1.25")
    holds(page, "Tokens in the step", "1")
    shows(page, Scenes="Bench", Numbers="modeled")
    page.get_by_role("button", name="Pin", exact=True).click()
    until(page, lambda: "bill_pin" in query(page))
    kept = {**GOOD, "bill_pin": query(page)["bill_pin"]}
    go_to(page, "See it")
    shows(page, Phase="prefill", Figure="the bill", Numbers="modeled")
    asks(page, **{**kept, "bill_scene": "see"})
    go_to(page, "Limits")
    asks(page, **{**kept, "bill_scene": "limits"})
    follow(page, "04 Pipelines", "pipeline_bubble")
    asks(page, tp="4", bill_alpha="", bill_guess="", bill_pin="")
    follow(page, "03 The bill", "comm_cost")
    asks(page, **{**kept, "bill_scene": "limits"})
    go_to(page, "Bench")
    asks(page, **kept)
    holds(page, ALPHA, "12.5")
    page.get_by_text("Pinned", exact=True).first.wait_for()


@pytest.fixture
def see(app, same_page):
    """Lab 03's See it, as it opens."""
    return same_page(f"{app}/comm_cost?bill_scene=see")


PAGES = re.compile(rb"/Type\s*/Page[^s]")
LABEL = 40
"""What is longer is no label."""


CUT_OFF = """all => all.filter(one => {
    if (!one.checkVisibility({ visibilityProperty: true })) return true;
    const end = one.getBoundingClientRect().bottom;
    for (let at = one; at; at = at.parentElement)
        if (getComputedStyle(at).overflowY !== 'visible' && at.getBoundingClientRect().bottom < end - 1)
            return true;
}).map(one => one.textContent)"""


def test_paper_has_the_whole_scene(see):
    """Nothing of what a person reads in it is cut off, and it goes on over as many sheets as it needs."""
    assert len(PAGES.findall(see.pdf(format="A5"))) > 1
    prose = [one for one in see.get_by_test_id("stMain").locator("h1, p").element_handles() if one.is_visible()]
    prose = [one for one in prose if len(one.inner_text()) > LABEL]
    assert len(prose) > 5
    see.emulate_media(media="print")
    assert see.evaluate(CUT_OFF, prose) == []
    see.emulate_media(media="screen")


LATE = """ms => {
    const send = window.sends ??= WebSocket.prototype.send;
    WebSocket.prototype.send = function (...data) { setTimeout(() => send.apply(this, data), ms); };
}"""
"""Makes what a page asks arrive so much later."""
AT_ONCE = """([...names]) => names.map(([row, option]) =>
    [...document.querySelector(`[role=radiogroup][aria-label="${row}"]`).querySelectorAll('[role=radio]')]
        .find(one => one.textContent.trim() === option)).forEach(one => one.click())"""
"""Presses buttons of rows in one tick."""


def test_two_quick_presses_both_land(see):
    """In one tick; while the first is on its way; one of them a scene; one a number that was not yet entered."""
    see.evaluate(AT_ONCE, [["Phase", "prefill"], ["Numbers", "rough"]])
    asks(see, bill_phase="prefill", bill_numbers="the_lab_s_napkin")
    shows(see, Scenes="See it", Phase="prefill", Numbers="rough")
    see.evaluate(LATE, 600)
    pick(see, "Phase", "decode")
    pick(see, "Numbers", "modeled")
    asks(see, bill_phase="", bill_numbers="")
    settle(see)
    shows(see, Phase="decode", Numbers="modeled")
    pick(see, "Phase", "prefill")
    pick(see, "Scenes", "Bench")
    asks(see, bill_phase="prefill", bill_scene="bench")
    see.evaluate(LATE, 0)
    shows(see, Scenes="Bench")
    field(see, ALPHA).fill("20")
    pick(see, "Numbers", "rough")
    asks(see, bill_alpha="20", bill_numbers="the_lab_s_napkin")
    settle(see)
    holds(see, ALPHA, "20")
    shows(see, Numbers="rough")
    field(see, ALPHA).fill("50")
    pick(see, "Scenes", "See it")
    asks(see, bill_alpha="", bill_scene="see")
    settle(see)
    see.evaluate(AT_ONCE, [["Phase", "decode"], ["Numbers", "modeled"]])
    asks(see, bill_phase="", bill_numbers="")


SEE, COUNT = {"bill_scene": "see"}, {"bill_scene": "count"}


def test_back_and_forward_agree_with_their_address_over_scenes_controls_and_pages(see):
    """A press is written into the entry of the view it was made in, and is there when that view comes back."""
    page = see
    pick(page, "Phase", "prefill")
    asks(page, bill_phase="prefill")
    go_to(page, "Count it")
    shows(page, Phase="prefill")
    pick(page, "Numbers", "rough")
    pick(page, "Phase", "decode")
    asks(page, bill_phase="", bill_numbers="the_lab_s_napkin")
    follow(page, "04 Pipelines", "pipeline_bubble")
    pick(page, "Stages p", "4")
    asks(page, pipe_p="4", bill_numbers="")
    go_to(page, "Bench")
    asks(page, pipe_p="4", pipe_scene="bench")
    views = (
        (
            "comm_cost",
            {"Scenes": "See it", "Phase": "prefill", "Numbers": "modeled"},
            {**SEE, "bill_phase": "prefill"},
        ),
        (
            "comm_cost",
            {"Scenes": "Count it", "Phase": "decode", "Numbers": "rough"},
            {**COUNT, "bill_phase": "", "bill_numbers": "the_lab_s_napkin"},
        ),
        ("pipeline_bubble", {"Scenes": "Serve", "Stages p": "4"}, {"pipe_scene": "", "pipe_p": "4"}),
        ("pipeline_bubble", {"Scenes": "Bench"}, {"pipe_scene": "bench", "pipe_p": "4"}),
    )
    for go, there in ((page.go_back, views[2::-1]), (page.go_forward, views[1:])):
        for stem, rows, parts in there:
            go()
            arrive(page, stem)
            shows(page, **rows)
            asks(page, **parts)


def predicted(page, value: str, *, shown: bool) -> None:
    """Wait until the question's slider has this value, and the answer is shown or not."""
    slider, answer = page.get_by_role("slider"), page.get_by_text("times as fast")
    until(page, lambda: slider.count() == 1 and slider.input_value() == value)
    until(page, lambda: bool(answer.count()) == shown)


def test_a_guess_and_its_answer_survive_scenes_and_a_copy_of_the_address(app, open_page):
    """And another scenario asks anew, there as here; what was answered stays counted."""
    page = open_page(f"{app}/comm_cost?tp=4")
    slider = page.get_by_role("slider")
    slider.focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    asks(page, bill_guess="5", bill_revealed="")
    predicted(page, "5", shown=False)
    page.get_by_role("button", name="Reveal").click()
    said = {"bill_guess": "5", "bill_revealed": "true", "done": "bill.question", "tp": "4"}
    asks(page, **said)
    predicted(page, "5", shown=True)
    go_to(page, "Count it")
    asks(page, **said)
    go_to(page, "Question")
    predicted(page, "5", shown=True)
    copy = open_page(page.url)
    predicted(copy, "5", shown=True)
    assert query(copy) == query(page)
    open_scenario(copy)
    field(copy, TP).fill("8")
    field(copy, TP).press("Enter")
    asks(copy, tp="8")
    copy.get_by_role("button", name="Done", exact=True).click()
    copy.get_by_role("button", name="Predict again").click()
    predicted(copy, "0", shown=False)
    asks(copy, bill_guess="", bill_revealed="", done="bill.question", tp="8")
    assert copy.get_by_role("button", name="Reveal").is_disabled()


def test_presenting_adds_one_word_to_the_address_and_leaving_takes_it_away(app, open_page):
    """Its projected twin, opened by its own link, shows the same; a guess that is out of sight there is kept."""
    asked = (
        "bill_scene=see&bill_phase=prefill&bill_numbers=the_lab_s_napkin&bill_guess=40&bill_alpha=12.5&tp=4&path=50"
    )
    rows = {"Scenes": "See it", "Phase": "prefill", "Numbers": "rough"}
    page = open_page(f"{app}/comm_cost?{asked}", width=1920, height=1080)
    before, read = query(page), page.get_by_role("heading", level=1).inner_text()
    press(page, "p")
    until(page, lambda: query(page) == before | {"present": "true"})
    shows(page, **rows)
    row(page, "Scenes").get_by_role("radio", name="Question", include_hidden=True).dispatch_event("click")
    shows(page, Scenes="Question")
    predicted(page, "40", shown=False)
    press(page, "v")
    asks(page, bill_guess="40", bill_revealed="true")
    page.get_by_role("slider").wait_for(state="hidden")
    page.get_by_role("button", name="Hide").click()
    asks(page, bill_guess="40", bill_revealed="")
    predicted(page, "40", shown=False)
    press(page, "Escape")
    asks(page, **{**before, "bill_scene": "", "present": ""})
    predicted(page, "40", shown=False)
    page.goto(f"{app}/comm_cost?{asked}&present=true")
    settle(page)
    shows(page, **rows)
    assert query(page) == before | {"present": "true"}
    assert page.get_by_role("heading", level=1).inner_text() == read
    assert not page.get_by_role("link", name="04 Pipelines").filter(visible=True).count()
    press(page, "p")
    until(page, lambda: query(page) == before)
    shows(page, **rows)
    page.get_by_role("link", name="04 Pipelines").wait_for()


TOPOLOGY = """\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity
GPU0\t X \tNV4\t0-15\t0
GPU1\tNV4\t X \t0-15\t0
"""
LOG = """\
INFO 10-01 10:00:30 [gpu_worker.py:773] Available KV cache memory: 9.0 GiB
INFO 10-01 10:00:30 [kv_cache_utils.py:1147] GPU KV cache size: 63,760 tokens
"""
MACHINE, STARTUP, LINK = (
    "What nvidia-smi topo -m prints",
    "A startup log of vLLM, SGLang or TensorRT-LLM, as it is: prefixes and colors do not matter",
    "Link inside a node",
)
OWN = "own_1.203_279.5_0_8"


def paste(page, label: str, text: str) -> None:
    field(page, label).fill(text)
    page.keyboard.press("Control+Enter")
    settle(page)


def test_what_is_pasted_lives_in_the_visit_over_scenes_and_pages_and_a_link_of_ones_own_stays_offered(
    app, open_page
):
    """And never in the address; a reload is a visit of its own."""
    page = open_page(f"{app}/placement?tp=4&link={OWN}")
    seen = page.get_by_text("From your machine: 2 GPUs")
    page.get_by_text("Bring your own config.json").click()
    paste(page, MACHINE, TOPOLOGY)
    seen.wait_for()
    go_to(page, "Limits")
    from_tools(page, "Read a log", "startup_log")
    paste(page, STARTUP, LOG)
    go_to(page, "Limits")
    follow(page, "01 Sharding", "sharding_math")
    page.go_back()
    arrive(page, "startup_log")
    go_to(page, "Read")
    holds(page, STARTUP, LOG)
    open_scenario(page)
    select(page, LINK, "nvlink-4")
    asks(page, link="nvlink-4")
    from_tools(page, "Place a model", "placement")
    shows(page, Scenes="Limits")
    go_to(page, "Plan")
    seen.wait_for()
    assert query(page) == {"tp": "4", "link": "nvlink-4"}
    from_tools(page, "Read a log", "startup_log")
    holds(page, STARTUP, LOG)
    select(page, LINK, OWN)
    asks(page, link=OWN, tp="4")
    page.reload()
    settle(page)
    holds(page, STARTUP, "")
    asks(page, link=OWN, tp="4")


def test_what_all_pages_share_goes_over_languages_and_pages(app, open_page):
    """Progress, the room, the path and its place; another language keeps them, and what the page itself asks."""
    shared = {"tp": "4", "path": "80", "done": "bill.question", "room": "CDFGHJ", "keys": "false"}
    before = {"bill_scene": "bench", "bill_alpha": "12.5", **shared}
    page = open_page(f"{app}/comm_cost?{'&'.join(map('='.join, before.items()))}")
    asks(page, **before)
    page.get_by_text("There is no room CDFGHJ").wait_for()
    page.get_by_text("14 of 21,").first.wait_for()
    page.get_by_role("button", name="ES", exact=True).click()
    until(page, lambda: query(page) == before | {"lang": "es"})
    shows(page, Escenas="Banco de pruebas")
    holds(page, "Latencia por salto, µs", "12.5")
    page.get_by_text("14 de 21,").first.wait_for()
    page.get_by_role("button", name="EN", exact=True).click()
    until(page, lambda: query(page) == before | {"lang": "en"})
    holds(page, ALPHA, "12.5")
    page.get_by_role("button", name=re.compile("^Next: 04 Pipelines")).click()
    arrive(page, "pipeline_bubble")
    asks(page, **shared, lang="en", pipe_scene="question", bill_alpha="")
    page.get_by_text("15 of 21,").first.wait_for()
    follow(page, "Overview", "")
    asks(page, **shared, lang="en", pipe_scene="")
    page.get_by_text("answered: 1").wait_for()
    page.get_by_text("There is no room CDFGHJ").wait_for()
