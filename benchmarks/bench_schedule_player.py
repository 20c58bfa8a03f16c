"""Frames a second of the schedule player at 64 x 1024 in headless Chromium, and what it sends while playing.

    python -m benchmarks.bench_schedule_player

The page is the bench of lab 04. Frames are counted where the browser offers them, in requestAnimationFrame, over
five seconds of play at four times the speed; a headless browser offers 60 at most.
"""

import json
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from benchmarks.served import start_server, stop_server
from scripts.settled import FLAGS, find_chromium, settle

QUERY = "pipe_scene=bench&pipe_figure=the_run&pipe_bench_p=64&pipe_bench_m=1024"
SECONDS = 5

COUNT = """seconds => new Promise(done => {
  const send = WebSocket.prototype.send;
  let frames = 0, worst = 0, sent = 0, last = performance.now();
  WebSocket.prototype.send = function (...data) { sent++; return send.apply(this, data); };
  const begun = last;
  const frame = now => {
    frames++;
    worst = Math.max(worst, now - last);
    last = now;
    if (now - begun < seconds * 1000) return requestAnimationFrame(frame);
    WebSocket.prototype.send = send;
    done({ frames_per_s: frames / (now - begun) * 1000, worst_frame_ms: worst, messages_sent: sent });
  };
  requestAnimationFrame(frame);
})"""


def measured(page: Page, url: str) -> dict[str, object]:
    """Play from the start, and count."""
    page.goto(f"{url}/pipeline_bubble?{QUERY}")
    settle(page)
    player = page.locator("figure.player")
    player.locator(".speed label").last.click()
    before = int(str(player.get_attribute("data-stop")))
    player.locator(".play").click()
    counted = dict(page.evaluate(COUNT, SECONDS))
    return {**counted, "ticks_played": int(str(player.get_attribute("data-stop"))) - before}


def main(chromium: str) -> None:
    """Serve the app, open it, count, and end both."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        server, url = start_server(Path(folder) / "log")
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        try:
            context = browser.new_context(viewport={"width": 1440, "height": 900})
            json.dump(measured(context.new_page(), url), sys.stdout, indent=2)
            print()
        finally:
            browser.close()
            stop_server(server)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else find_chromium())
