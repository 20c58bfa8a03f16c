"""Every control of every scene: from a press to the figure that answers it, in Chromium, as a ratio to a bare page.

    python -m benchmarks.bench_controls [--only STEM[.SCENE[.CONTROL]]] [--presses 3]

What is pressed are the sliders, switches, rows of buttons, lists and steps of number fields that an open scene
shows, each option of a row in turn; over two scenes those of the scenario's panel too. The answer is what is first
drawn anew in any of the scene's figures; of a control that changes none, the first change of its words. A dash
where nothing changes within a second and a half: an option that is refused, a number that no figure in front shows,
a prediction that nobody has revealed.

`sent` and `came` are how long the press took to leave the browser, and until the first of the answer came. The bare
page is pressed before and after each control; its time is the median of the twelve presses around. The first row is
Streamlit alone where a press puts another chart in a chart's place: a browser makes that anew, whoever draws it.
"""

import argparse
import sys
import tempfile
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from textwrap import fill

from playwright.sync_api import Browser, Page, sync_playwright
from playwright.sync_api import Error as Unpressed
from playwright.sync_api import TimeoutError as Late

from benchmarks.bench_dom import AT_MOST, BARE_PAGE, HELD_MS, OPEN_SCENE, opened, press
from benchmarks.bench_hall import BARE
from benchmarks.pressed import AIM, NOTE, SINCE
from benchmarks.served import served
from scripts.settled import ASKED, FLAGS, PATIENCE_MS, find_chromium, settle
from ui.course.pages import OVERVIEW, PAGES, Entry

AT_MOST_MS, REST_MS, AROUND, UNCOUNTED = 1500, 350, 12, 2
KINDS = {
    "slider": ("stSlider", "[role=slider], input"),
    "row": ("stButtonGroup", "[role=radio]"),
    "steps": ("stNumberInput", "button"),
    "switch": ("stCheckbox", "label"),
    "list": ("stSelectbox", "input"),
}
"""What holds a widget of each kind, and what is pressed in it."""
SEEN = """([kinds, scene]) =>
  [...document.querySelectorAll(`${scene} [data-testid="stElementContainer"][class*="st-key-"]`)].flatMap(at =>
    Object.entries(kinds)
      .filter(([, [widget]]) => at.checkVisibility() && at.querySelector(`[data-testid=${widget}]`))
      .map(([kind]) => [kind, [...at.classList].find(name => name.startsWith('st-key-')).slice(7)]))"""
PANEL = ".st-key-scenario_panel"
UNDER_THE_PANEL = {("comm_cost", "see"), ("placement", "plan")}
"""Scenes over which the scenario's panel is opened too."""
ANOTHER = """
import altair as alt
import pandas as pd
import streamlit as st

which = st.segmented_control("figure", ["bars", "line"], default="bars", required=True, key="which")
chart = alt.Chart(pd.DataFrame({"x": range(8), "y": range(8)}))
st.altair_chart((chart.mark_bar() if which == "bars" else chart.mark_line()).encode(x="x:O", y="y:Q"))
"""
PARTS = ("sent", "came", "figure", "words")


@dataclass
class Found:
    """A control of a scene or of the panel, and what its presses took in ms, by what was pressed."""

    kind: str
    key: str
    place: str = OPEN_SCENE
    took: dict[str, list[dict[str, float]]] = field(default_factory=dict)

    def part(self, option: str, name: str) -> float:
        """The median of a part of what presses took; 0 where there was none."""
        return median([one[name] for one in self.took[option] if one[name]] or [0.0])


def pressed(page: Page, one: Found, turn: int) -> str:
    """Press a control once, and say what of it: another option at each turn."""
    at = page.locator(f"{one.place} .st-key-{one.key}").first
    part = at.locator(KINDS[one.kind][1])

    def aim() -> None:
        page.evaluate(
            AIM, [page.query_selector(f"{OPEN_SCENE}, body:not(:has({OPEN_SCENE}))"), at.element_handle()]
        )

    if one.kind in ("slider", "list"):
        key = ("ArrowLeft" if turn % 2 else "ArrowRight") if one.kind == "slider" else "Enter"
        if one.kind == "list":
            part.first.click()
            part.first.press("ArrowUp" if turn % 2 else "ArrowDown")
        part.first.focus()
        aim()
        part.first.press(key)
        return ""
    options = [button for button in part.all() if button.is_enabled()] or [part.first]
    others = [button for button in options if button.get_attribute("aria-checked") != "true"]
    button = options[turn % len(options)]
    if button not in others and others:
        button = others[0]
    name = button.inner_text() if one.kind == "row" else ""
    aim()
    button.click(delay=HELD_MS)
    return name


def measure(page: Page, one: Found, presses: int) -> None:
    """Press each option so often, after two rounds that do not count: a browser compiles what it runs again."""
    count = page.locator(f"{one.place} .st-key-{one.key} [role=radio]").count() if one.kind == "row" else 2
    for turn in range(1, count * (UNCOUNTED + presses) + 1):
        option = pressed(page, one, turn)
        with suppress(Late):
            page.wait_for_function("changed.figure || changed.words", timeout=AT_MOST_MS)
            page.wait_for_timeout(REST_MS)
        if turn > UNCOUNTED * count:
            one.took.setdefault(option, []).append(page.evaluate(SINCE))
        if turn == UNCOUNTED * count and not page.evaluate("changed.figure || changed.words"):
            one.took[option] = [page.evaluate(SINCE)]
            return


class Scan:
    """Scenes one after another, the bare page beside them."""

    def __init__(self, browser: Browser, url: str, bare: str, presses: int) -> None:
        self._visits = browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
        self._visits.add_init_script(f"{ASKED};{NOTE}")
        self._url, self._presses = url, presses
        self._beside = opened(self._visits, bare, BARE_PAGE)
        self._bare_ms: deque[float] = deque(maxlen=AROUND)
        self.ratios: dict[str, float] = {}
        """Of each option that is answered."""
        for _ in range(AROUND):
            self._press_bare()

    def _press_bare(self) -> None:
        BARE_PAGE.took_ms.clear()
        self._beside.bring_to_front()
        press(self._beside, BARE_PAGE, 2)
        self._bare_ms.extend(BARE_PAGE.took_ms)

    def another_chart(self, url: str) -> None:
        """A row of Streamlit alone: a page whose one control puts another chart in the place of one."""
        page, one = opened(self._visits, url, BARE_PAGE), Found("row", "which", "body")
        page.bring_to_front()
        measure(page, one, self._presses)
        page.close()
        self._press_bare()
        self._tell("bare page", one)

    def scene(self, entry: Entry, name: str, only: str = "", place: str = OPEN_SCENE) -> None:
        """A row an option of each control that the scene shows as it opens, or that the panel over it does."""
        page = self._visits.new_page()
        page.set_default_timeout(PATIENCE_MS)
        self._open(page, entry, name, place)
        for one in [Found(*pair, place) for pair in page.evaluate(SEEN, [KINDS, place])]:
            if only not in ("", one.key):
                continue
            page.bring_to_front()
            if not page.locator(f"{place} .st-key-{one.key}").first.is_visible():  # hidden by what was pressed
                self._open(page, entry, name, place)
            try:
                measure(page, one, self._presses)
            except Unpressed as fault:
                print(f"{entry.stem} {name} {one.key}: {str(fault).splitlines()[0]}", flush=True)
                self._open(page, entry, name, place)
            self._press_bare()
            self._tell(f"{entry.stem} {'panel' if place == PANEL else name}", one)
        page.close()

    def _open(self, page: Page, entry: Entry, name: str, place: str) -> None:
        page.goto(f"{self._url}/{entry.stem}?{entry.prefix}_scene={name}")
        settle(page)
        if place == PANEL:
            page.locator(".st-key-scenario button").first.click()
            settle(page)

    def _tell(self, scene: str, one: Found) -> None:
        bare = median(self._bare_ms)
        for option in one.took:
            sent, came, figure, words = (one.part(option, part) for part in PARTS)
            took, answer = (figure, "figure") if figure else (words, "words" if words else "-")
            what = " ".join(f"{one.key} {option}".split())
            print(f"{scene:26} {what:44.44} {answer:6} {sent:6.1f} {came:6.1f} {took:6.1f} {bare:6.1f}", end=" ")
            print(f"{took / bare:6.2f}", flush=True)
            if took and scene != "bare page":
                self.ratios[f"{scene}, {what}"] = took / bare

    def summary(self) -> str:
        """How many options are within what runs the script may take, the median, and those that are over."""
        most = AT_MOST["server"]
        over = {what: ratio for what, ratio in self.ratios.items() if ratio > most}
        dearest = sorted(over, key=over.__getitem__, reverse=True)
        told = "; ".join(f"{what} {over[what]:.2f}" for what in dearest) or "none"
        kept = f"{len(self.ratios) - len(over)} of {len(self.ratios)} options within {most} × the bare page"
        return fill(f"{kept}, median {median(self.ratios.values() or [0.0]):.2f}; over: {told}", 110)


def main() -> int:
    """Print the table; 1 where something is slower than what runs the script may be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="a page's stem, a scene's name, a control's key")
    parser.add_argument(
        "--presses", type=int, default=3, help="of each option, or of each way of a field or a slider"
    )
    asked = parser.parse_args()
    stem, scene, key = (*asked.only.split("."), "", "")[:3]
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        (folder / "bare.py").write_text(BARE)
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
        (folder / "another.py").write_text(ANOTHER)
        with (
            served(folder / "log") as shardlab,
            served(folder / "bare.log", script=folder / "bare.py") as bare,
            served(folder / "another.log", script=folder / "another.py") as another,
        ):
            scan = Scan(browser, shardlab, bare, asked.presses)
            heads = " ".join(f"{name:>6}" for name in ("sent", "came", "ms", "bare", "ratio"))
            print(f"{'scene':26} {'pressed':44} {'answer':6} {heads}")
            scan.another_chart(another)
            for entry in PAGES:
                for one in entry.names if entry is not OVERVIEW and stem in ("", entry.stem) else ():
                    if scene in ("", one):
                        scan.scene(entry, one, key)
                    if scene in ("", "panel") and (entry.stem, one) in UNDER_THE_PANEL:
                        scan.scene(entry, one, key, PANEL)
        browser.close()
    print(scan.summary())
    return int(any(ratio > AT_MOST["server"] for ratio in scan.ratios.values()))


if __name__ == "__main__":
    sys.exit(main())
