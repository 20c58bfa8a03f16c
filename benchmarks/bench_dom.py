"""From a press to what it changes on the screen, in Chromium, as a ratio to a bare page; and a cold start.

    python -m benchmarks.bench_dom [--rounds 15] [--only STEM] [--starts 5]

The bare page is one slider and one chart. A press is a key on a slider or a click on a control; its answer is the
first change in the figure that the press is about: its elements, its text, its geometry, or what is drawn on its
canvas. Both times are the browser's own. One Chromium, both servers of Streamlit on this machine, a round of the
bare page between the rounds of the others, so that a busy machine is busy for all of them. `browser` are controls
that the page answers by itself; `server` those that run the script.

A cold start is from starting the server to the first words of the page, against `streamlit hello` in turns.
"""

import argparse
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import streamlit
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from benchmarks.bench_hall import BARE
from benchmarks.pressed import AIM, NOTE, SINCE
from benchmarks.served import APP, served
from scripts.settled import ASKED, FLAGS, PATIENCE_MS, find_chromium, settle

AT_MOST, IN_THE_MEDIAN = {"browser": 0.5, "server": 4.5}, 3.0
"""Times the bare page: of each press, and of those that run the script in the median."""
START_AT_MOST = 1.5
HELD_MS = 50
"""A button is down for so long, and pressed when it is let go: what pointing at it costs is over then."""
HELLO = Path(streamlit.__file__).parent / "hello" / "streamlit_app.py"

ELEMENT = "figure => figure.closest('[data-testid=\"stElementContainer\"]') ?? figure"
ANSWERED = "() => changed.figure || changed.words"
AT_ITS_END = "slider => Number(slider.value) >= Number(slider.max)"
CHART = '[data-testid="stVegaLiteChart"]'


@dataclass
class Control:
    """Something to press and the figure that answers: a slider by its keys, or several to click in turn."""

    by: str
    name: str
    address: str
    control: str
    figure: str = CHART
    clicked: bool = False
    panel: bool = False
    took_ms: list[float] = field(default_factory=list)


OPEN_SCENE = '[class*="st-key-scene_"]'
SLIDER = '[data-testid="stSlider"] input'
SCRUBBER = ".player input[type=range]"
LAB_01, LAB_04 = "sharding_math?shard_scene=see", "pipeline_bubble?pipe_scene=see"
BREAK_IT, WIDTHS = "pipeline_bubble?pipe_scene=break_it", "two_way_tp?real_scene=bench&real_figure=the_width"
OPTION = "[role=radio]"
STAGES = f".st-key-pipe_p {OPTION}"
LAB_01_WRONG, PICKER = "sharding_math?shard_scene=break_it", "strategy?strategy_scene=picker"
TURNS = ":is(.st-key-earlier, .st-key-later) button"
STEPS = ":is([data-testid=stNumberInputStepDown], [data-testid=stNumberInputStepUp])"
BARE_PAGE = Control("bare", "bare page", "", SLIDER)
CONTROLS = (
    Control("browser", "step", LAB_01, ".player .track button", ".player svg", True),
    Control("browser", "scrub", LAB_04, SCRUBBER, ".player .stage"),
    Control("browser", "phase", "comm_cost?bill_scene=see", f".st-key-bill_phase {OPTION}", clicked=True),
    Control("browser", "predict", "comm_cost?bill_scene=question", f".st-key-guess {SLIDER}"),
    Control("browser", "letter", "two_way_tp?real_scene=see", f".st-key-real_token {SLIDER}"),
    Control("browser", "stages", LAB_04, STAGES, ".player .stage", True),
    Control("browser", "both", BREAK_IT, STAGES, ".player .stage", True),
    Control("browser", "run", "two_way_tp?real_scene=count", f".st-key-real_run {OPTION}", clicked=True),
    Control("server", "wrong", BREAK_IT, f".st-key-pipe_wrong {OPTION}", ".player .stage", True),
    Control("server", "mistake", LAB_01_WRONG, f".st-key-shard_mistake {OPTION}", OPEN_SCENE, True),
    Control("server", "wire", WIDTHS, f".st-key-real_wire {OPTION}", clicked=True),
    Control("server", "alpha", "comm_cost?bill_scene=bench", f".st-key-bill_alpha {STEPS}", clicked=True),
    Control("server", "TP", "comm_cost?bill_scene=see", f".st-key-tp {STEPS}", clicked=True, panel=True),
    Control("server", "load", "placement?place_scene=plan", f".st-key-place_concurrency {STEPS}", clicked=True),
    Control("server", "purpose", PICKER, f".st-key-strategy_purpose {OPTION}", clicked=True),
    Control("server", "slow", "clinic?clinic_scene=straggler", f".st-key-_straggler {STEPS}", clicked=True),
    Control("server", "question", "quiz?quiz_at=activation_and_sum", TURNS, "h4", True),
)


def opened(visits: BrowserContext, url: str, one: Control) -> Page:
    """A settled page with the figure in sight."""
    page = visits.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.goto(f"{url}/{one.address}")
    if one is BARE_PAGE:
        page.locator("canvas, svg.marks").first.wait_for()
        page.wait_for_timeout(2000)
    else:
        settle(page)
        if one.panel:
            page.locator(".st-key-scenario button").first.click()
            settle(page)
    page.locator(one.figure).first.wait_for()
    return page


def press(page: Page, one: Control, times: int) -> None:
    """Press so often, each time when the answer before has come, and note what each took."""
    for number in range(times):
        figure = page.locator(one.figure).first.evaluate_handle(ELEMENT)
        page.evaluate(AIM, [figure, None])
        if one.clicked:
            page.locator(one.control).nth(1 - number % 2).click(delay=HELD_MS)
        else:
            control = page.locator(one.control).first
            control.focus()
            control.press("ArrowLeft" if number % 2 or control.evaluate(AT_ITS_END) else "ArrowRight")
        page.wait_for_function(ANSWERED)
        since = page.evaluate(SINCE)
        one.took_ms.append(min(since[sort] for sort in ("figure", "words") if since[sort]))
        page.wait_for_timeout(500)


def compare(visits: BrowserContext, shardlab: str, bare: str, only: str, rounds: int) -> int:
    """A row a control, the bare page pressed before and after; how many are over."""
    over, ran = 0, []
    print(f"{'by':8} {'page':16} {'control':8} {'ms':>7} {'bare ms':>8} {'ratio':>6} {'at most':>8}")
    beside = opened(visits, bare, BARE_PAGE)
    press(beside, BARE_PAGE, 2)
    for one in CONTROLS:
        if not one.address.startswith(only):
            continue
        BARE_PAGE.took_ms.clear()
        page = opened(visits, shardlab, one)
        press(page, one, 2)
        one.took_ms.clear()
        for _ in range(rounds):
            for each, where in ((BARE_PAGE, beside), (one, page)):
                where.bring_to_front()
                press(where, each, 2)
        page.close()
        took, base = median(one.took_ms), median(BARE_PAGE.took_ms)
        over += took > AT_MOST[one.by] * base
        ran += [took / base] if one.by == "server" else []
        stem = one.address.partition("?")[0]
        print(
            f"{one.by:8} {stem:16} {one.name:8} {took:7.1f} {base:8.1f} {took / base:6.2f} {AT_MOST[one.by]:8.1f}",
            flush=True,
        )
    if ran:
        print(f"what runs the script: {median(ran):.2f} in the median, at most {IN_THE_MEDIAN}")
        over += median(ran) > IN_THE_MEDIAN
    return over


def started_s(browser: Browser, script: Path | None) -> float:
    """From starting a server to the first words of its page, in seconds. None is `streamlit hello`."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, served(Path(folder) / "log", script=script or HELLO) as url:
        visits = browser.new_context()
        page = visits.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.goto(url)
        page.locator("h1").first.wait_for()
        took = time.monotonic() - began
        visits.close()
    return took


def cold_starts(browser: Browser, times: int) -> int:
    """A row for the app and for Streamlit's own, in turns; whether the app is over."""
    own, hello = [], []
    for _ in range(times):
        hello.append(started_s(browser, None))
        own.append(started_s(browser, APP))
    ratio = median(own) / median(hello)
    print(
        f"cold start to the first words: {median(own):.2f} s, `streamlit hello` {median(hello):.2f} s, {ratio:.2f}"
    )
    return int(ratio > START_AT_MOST)


def main() -> int:
    """Print the tables; 1 where something is slower than it may be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="a page's stem")
    parser.add_argument("--rounds", type=int, default=8, help="of two presses each")
    parser.add_argument("--starts", type=int, default=5, help="cold starts of each")
    asked = parser.parse_args()
    over = 0
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        (folder / "bare.py").write_text(BARE)
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
        if asked.rounds:
            with served(folder / "log") as shardlab, served(folder / "bare.log", script=folder / "bare.py") as bare:
                visits = browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
                visits.add_init_script(f"{ASKED};{NOTE}")
                over += compare(visits, shardlab, bare, asked.only, asked.rounds)
                visits.close()
        if asked.starts:
            over += cold_starts(browser, asked.starts)
        browser.close()
    return int(over > 0)


if __name__ == "__main__":
    sys.exit(main())
