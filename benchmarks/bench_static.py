"""How long the static site takes in a real Chromium, what it moves and what it holds: one line a figure.

python -m benchmarks.bench_static [--site dist] [--visits 3]

The folder is served here, on localhost, each visit with an empty profile and then once more with what it kept.
Bytes are the files as gzip would send them. Run it on a machine at rest: it measures the processor above all. Where
other work shares it, read the ratios: before each visit Pyodide is started alone, from the same folder.
"""

import argparse
import math
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time
import zlib
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from typing import Any

from playwright.sync_api import sync_playwright

PRESSED = "comm_cost/?bill_scene=bench&lang=en"
PATIENCE_MS = 300_000
COMPARED = ("first page alive", "a lab by its address, first figure", "second visit alive")
BARE = """(url) => new Promise((done, failed) => {
  const program = `importScripts('${url}pyodide/pyodide.js');
    const began = performance.now();
    loadPyodide({ indexURL: '${url}pyodide/' })
      .then((python) => { python.runPython('1'); postMessage(performance.now() - began); })`;
  const worker = new Worker(URL.createObjectURL(new Blob([program])));
  worker.onmessage = ({ data }) => done(data / 1e3);
  worker.onerror = ({ message }) => failed(new Error(message));
})"""


class Counted(SimpleHTTPRequestHandler):
    """Serves the folder, and notes what was asked."""

    asked: list[tuple[float, str]] = []  # noqa: RUF012, of all requests together, each with its time

    def log_message(self, *_: object) -> None:
        self.asked.append((time.time(), self.path.partition("?")[0]))


def served(site: Path) -> ThreadingHTTPServer:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Counted, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def packed(site: Path, until_s: float = math.inf) -> float:
    """The megabytes of the files that were asked up to a time, each once, as gzip."""
    files = {site / path.strip("/") for when_s, path in Counted.asked if when_s <= until_s}
    return sum(len(zlib.compress(one.read_bytes(), 6)) for one in files if one.is_file()) / 1e6


def resident_mb() -> float:
    """The largest of this program's browser's processes that draw a page. Linux."""
    sizes = [0.0]
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            drawn = b"--type=renderer" in (status.parent / "cmdline").read_bytes()
            if drawn and os.getpid() in _ancestors(int(status.parent.name)):
                sizes.append(int(re.search(r"VmRSS:\s+(\d+)", status.read_text())[1]) / 1e3)  # type: ignore[index]
        except OSError:
            continue
    return max(sizes)


def _ancestors(process: int) -> Iterator[int]:
    while process > 1:
        told = Path(f"/proc/{process}/status").read_text()
        process = int(re.search(r"PPid:\s+(\d+)", told)[1])  # type: ignore[index]
        yield process


def visits(site: Path, count: int) -> Iterator[dict[str, float]]:
    """The figures of one first visit and what follows it, in seconds, milliseconds and megabytes."""
    chromium = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium"))))
    server = served(site)
    url = f"http://127.0.0.1:{server.server_port}/"
    with sync_playwright() as playwright:
        for _ in range(count):
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            bare_s = started_bare(browser.new_page(), url)
            browser.close()
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
                context = playwright.chromium.launch_persistent_context(
                    profile, executable_path=chromium, args=["--no-sandbox"]
                )
                figures = dict(measured(context.new_page(), url, site))
                shares = {f"{name}, in starts of Pyodide": figures[f"{name}, s"] / bare_s for name in COMPARED}
                yield {"Pyodide alone, s": bare_s, **figures, **shares}
                context.close()
    server.shutdown()


def started_bare(page: Any, url: str) -> float:
    """Seconds that Pyodide takes alone, in a worker of a page with nothing else."""
    page.goto(f"{url}parts.json")
    return float(page.evaluate(BARE, url))


def measured(page: Any, url: str, site: Path) -> Iterator[tuple[str, float]]:
    page.set_default_timeout(PATIENCE_MS)
    Counted.asked.clear()
    page.goto(url, wait_until="commit")
    page.wait_for_selector("#still h1")
    yield (
        "first picture, s",
        page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime / 1e3"),
    )
    page.wait_for_function("window.shardlab_stages?.alive")
    yield "first page alive, s", page.evaluate("window.shardlab_stages.alive / 1e3")
    yield (
        "MB before the first page",
        packed(site, page.evaluate("performance.timeOrigin + window.shardlab_stages.alive") / 1e3),
    )
    page.wait_for_function("window.shardlab_stages?.whole")
    yield "memory at the first page, MB", resident_mb()
    page.goto(url + PRESSED, wait_until="commit")
    page.wait_for_function("window.shardlab_stages?.alive")
    page.locator("canvas, svg.marks").first.wait_for()
    yield "a lab by its address, first figure, s", page.evaluate("performance.now() / 1e3")
    yield "MB in all", packed(site)
    yield "a press, median ms", median(pressed(page) for _ in range(5))
    yield "memory with figures, MB", resident_mb()
    page.locator('[data-testid="stExpander"] summary', has_text="as a table").first.click()
    began_s = time.monotonic()
    page.get_by_test_id("stDataFrame").first.wait_for()
    yield "the first table, s", time.monotonic() - began_s
    yield "memory with a table, MB", resident_mb()
    page.wait_for_function("caches.keys().then((names) => names.length > 0)")
    page.wait_for_timeout(15_000)  # the service worker keeps the rest
    Counted.asked.clear()
    page.reload(wait_until="commit")
    page.wait_for_function("window.shardlab_stages?.alive")
    yield "second visit alive, s", page.evaluate("window.shardlab_stages.alive / 1e3")
    yield "files asked at the second visit", sum("service.js" not in path for _, path in Counted.asked)


PRESS = """() => new Promise((done) => {
  const button = document.querySelector('[data-testid="stNumberInputStepUp"]');
  const began = performance.now();
  const main = document.querySelector('[data-testid="stMain"]');
  let last = 0;
  const watch = new MutationObserver((changes) => {
    const own = button.closest('[data-testid="stNumberInput"]');
    if (changes.some(({ target }) => !own.contains(target))) last ||= performance.now();
  });
  watch.observe(main, { childList: true, subtree: true, characterData: true, attributes: true });
  button.click();
  setTimeout(() => { watch.disconnect(); done(last ? last - began : NaN); }, 3000);
})"""


def pressed(page: Any) -> float:
    """Milliseconds from a press to the first change of the page outside what was pressed."""
    return float(page.evaluate(PRESS))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--site", type=Path, default=Path("dist"))
    parser.add_argument("--visits", type=int, default=3)
    asked = parser.parse_args()
    rows = list(visits(asked.site, asked.visits))
    print(subprocess.run(["uptime"], capture_output=True, text=True, check=False).stdout.strip())
    for name in rows[0]:
        values = sorted(row[name] for row in rows)
        print(f"{name:<56} {median(values):8.1f}   {values[0]:.1f} to {values[-1]:.1f}")


if __name__ == "__main__":
    main()
