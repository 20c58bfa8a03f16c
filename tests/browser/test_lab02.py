"""Lab 02 in a real browser: the recorded run, and a run on this machine begun, cancelled, killed and abandoned."""

import os
import re
import signal
import sys
import time
import uuid
from pathlib import Path

import pytest

from benchmarks.served import served
from runtime.processes import tagged
from tests.browser.conftest import PATIENCE_MS, until

BENCH = "two_way_tp?real_scene=bench"
RUN = "Run it here on the CPU"
live = [
    pytest.mark.slow,
    pytest.mark.ranks,
    pytest.mark.skipif(sys.platform != "linux", reason="processes are told apart by /proc"),
]


class LiveServer:
    """A server of its own, whose runs can be told from all others by a variable that they inherit."""

    def __init__(self, url: str, mark: str) -> None:
        self.url, self.mark = url, mark

    def ranks(self) -> list[int]:
        """Processes of torchrun's that are ranks, rank 1 last."""
        found = {}
        for pid in tagged("SHARDLAB_TEST", self.mark):
            environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
            found |= {entry: pid for entry in environment if re.fullmatch(rb"RANK=\d", entry)}
        return [found[name] for name in sorted(found)]

    def run_processes(self) -> list[int]:
        """Everything that the server started and that still runs, the server itself left out."""
        pids = tagged("SHARDLAB_TEST", self.mark)
        return [p for p in pids if any(e.startswith(b"SHARDLAB_RUN=") for e in _environment(p))]

    def wait_for_none(self) -> None:
        """Fail unless every process of a run goes, long before it would end by itself."""
        deadline_s = time.monotonic() + PATIENCE_MS / 1000
        while self.run_processes() and time.monotonic() < deadline_s:
            time.sleep(0.1)
        assert self.run_processes() == []


def _environment(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []


ENDLESS = """
from ui import shell
from ui.two_way_tp import bench
if not hasattr(bench, "asked_for"):
    bench.asked_for = bench.RunRequest
    bench.RunRequest = lambda options, **limits: bench.asked_for(
        "tests.runtime.rank_stub", ("beat", "3600"), wall_s=3600, silence_s=90
    )
shell.run()
"""
"""The app, whose ranks have no model and step on for an hour: what ends such a run is what was done to it."""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    pytest.importorskip("torch")
    folder, mark = tmp_path_factory.mktemp("live"), uuid.uuid4().hex
    script = folder / "endless.py"
    script.write_text(ENDLESS)
    given = {"SHARDLAB_TEST": mark, "TMPDIR": str(folder), "SHARDLAB_LIVE_RUNS": "1"}
    with served(folder / "log", script=script, **given) as url:
        yield LiveServer(url, mark)


def begin(page) -> None:
    """Start a run and wait until its first line is on the page."""
    page.get_by_role("button", name=RUN).click()
    page.get_by_text('"event": "start"').wait_for()


def ranks_of(server) -> list[int]:
    """Both ranks, once they are there."""
    deadline_s = time.monotonic() + PATIENCE_MS / 1000
    while len(server.ranks()) < 2 and time.monotonic() < deadline_s:
        time.sleep(0.1)
    return server.ranks()


def test_a_recorded_run_has_its_verdicts_its_letters_and_offers_no_run_in_public(app, open_page):
    """Bytes, counts and tokens are met exactly, and a letter is stepped by keyboard."""
    page = open_page(f"{app}/two_way_tp?real_scene=count")
    rows = page.locator("table.log-table tbody tr")
    verdicts = {
        rows.nth(i).locator("b").inner_text().split(":")[0].strip('"'): rows.nth(i).locator(".verdict").inner_text()
        for i in range(rows.count())
    }
    assert set(verdicts) >= {"tp_size", "bytes", "bytes_per_token", "all_reduces_per_token", "identical"}
    for field in ("tp_size", "bytes", "bytes_per_token", "all_reduces_per_token", "identical"):
        assert "ok" in verdicts[field], field
    page.get_by_role("radio", name="See it", exact=True).click()
    page.get_by_role("slider", name="Letter").focus()
    page.keyboard.press("ArrowRight")
    until(page, lambda: "he went" in page.locator(".st-key-reading_see-written").inner_text())
    # the browser has every letter: both figures change with the press, though no server hears of it
    drawn = "[...document.querySelectorAll('.stVegaLiteChart svg.marks')].map((svg) => svg.outerHTML)"
    page.evaluate("() => { window.sends = WebSocket.prototype.send; WebSocket.prototype.send = () => {}; }")
    before = page.evaluate(drawn)
    assert len(before) == 2
    page.keyboard.press("ArrowRight")
    page.wait_for_function(f"before => {drawn}.every((svg, at) => svg !== before[at])", arg=before)
    page.evaluate("() => { WebSocket.prototype.send = window.sends; }")
    page.get_by_role("radio", name="Bench", exact=True).click()
    page.get_by_text("Live runs are off").first.wait_for()
    assert page.get_by_role("button", name=RUN).count() == 0


class TestLive:
    """Runs on this machine."""

    pytestmark = live

    def test_cancel_ends_the_run_and_lets_the_next_visitor_go(self, server, open_page):
        first, second = open_page(f"{server.url}/{BENCH}"), open_page(f"{server.url}/{BENCH}")
        begin(first)
        second.get_by_role("button", name=RUN).click()
        second.get_by_text("one at a time").wait_for()
        ranks_of(server)
        first.get_by_role("button", name="Cancel").click()
        first.get_by_text("The run was canceled").wait_for()
        server.wait_for_none()
        first.get_by_role("button", name=RUN).wait_for()

    def test_a_killed_rank_is_told_on_the_page(self, server, open_page):
        page = open_page(f"{server.url}/{BENCH}")
        begin(page)
        os.kill(ranks_of(server)[-1], signal.SIGKILL)
        page.get_by_text("A rank was ended from outside by SIGKILL").wait_for()
        server.wait_for_none()
        page.get_by_role("button", name=RUN).wait_for()

    def test_a_closed_browser_ends_its_run(self, server, open_page):
        page = open_page(f"{server.url}/{BENCH}")
        begin(page)
        assert len(ranks_of(server)) == 2
        page.close()
        server.wait_for_none()

    def test_leaving_the_scene_ends_the_run(self, server, open_page):
        page = open_page(f"{server.url}/{BENCH}")
        begin(page)
        ranks_of(server)
        page.get_by_role("radio", name="Limits").click()
        server.wait_for_none()


HEARD = """(() => {
    window.heard = [];
    const start = OscillatorNode.prototype.start;
    OscillatorNode.prototype.start = function (at) {
        window.heard.push([Math.round(this.frequency.value), at]);
        return start.call(this, at);
    };
})()"""
"""Run before the page: every tone that it begins, by its frequency and when."""


def test_the_letters_are_typed_on_play_and_heard_only_once_sound_is_pressed(app, open_page):
    """20 letters of one process and 4 of two at a fifth of its pace, five times as far apart."""
    page = open_page(f"{app}/two_way_tp?real_guess=20", script=HEARD)
    page.emulate_media(reduced_motion="no-preference")
    player = page.locator("figure.pace")
    player.locator("[data-do=play]").click()
    until(page, lambda: player.get_attribute("data-at-rest") == "false")
    until(page, lambda: page.locator('input[name="live_typed"]').input_value() not in ("", "0"))
    until(page, lambda: player.get_attribute("data-at-rest") == "true")
    assert page.locator('input[name="live_typed"]').input_value() == ""
    assert page.evaluate("window.heard") == []
    player.locator(".sound").click()
    until(page, lambda: len(page.evaluate("window.heard")) == 24)
    one, two = ([at for hertz, at in page.evaluate("window.heard") if hertz == pitch] for pitch in (1600, 500))
    assert (len(one), len(two)) == (20, 4)
    assert two[1] - two[0] == pytest.approx(5 * (one[1] - one[0]))
    assert player.locator(".sound").get_attribute("aria-pressed") == "true"


def test_dragging_the_pace_is_heard_and_where_nothing_may_move_all_letters_stay(app, open_page):
    page = open_page(f"{app}/two_way_tp?real_guess=20", script=HEARD)
    player = page.locator("figure.pace")
    player.locator(".sound").click()
    until(page, lambda: len(page.evaluate("window.heard")) == 24)
    assert player.get_attribute("data-at-rest") == "true"
    assert page.locator('input[name="live_typed"]').input_value() == ""
    page.evaluate("window.heard = []")
    page.locator(".st-key-real_guess input[type=range]").press("ArrowRight")
    until(page, lambda: len(page.evaluate("window.heard")) == 24)
    assert "two, at your pace: 4" in player.locator("output").inner_text()
