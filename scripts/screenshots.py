"""Photograph every page and scene: laptop, projector and phone, light and dark.

python -m scripts.screenshots [--out screenshots] [--only STEM] [--size laptop] [--theme light]
"""

import argparse
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from runtime.files import ROOT
from scripts.settled import FLAGS, find_chromium, picture, screens, visit
from ui.course.pages import PAGES, entry

SIZES = {"laptop": (1440, 900), "projector": (1920, 1080), "phone": (390, 844)}
THEMES = ("light", "dark")
GUESSES = {"sharding_math": "32", "comm_cost": "15", "pipeline_bubble": "15", "two_way_tp": "160"}
"""A prediction for each question, so that its error is in the picture."""


@dataclass(frozen=True)
class Shot:
    """One view: where it is, and the name of its picture without size and theme."""

    name: str
    path: str


def shots(only: str | None = None) -> list[Shot]:
    """Every scene of every page, a lab's with its prediction made and revealed, and the overview."""
    views = [Shot("overview", "")]
    for page in PAGES[1:]:
        for number, scene in enumerate(page.names, 1):
            views.append(Shot(f"{page.stem}-{number}-{scene}", f"{page.stem}?{urlencode(page.scene(scene))}"))
    for stem, guess in GUESSES.items():
        prefix = entry(stem).prefix
        query = {**entry(stem).scene("question"), f"{prefix}_guess": guess, f"{prefix}_revealed": "true"}
        views.append(Shot(f"{stem}-1-question-revealed", f"{stem}?{urlencode(query)}"))
    return [view for view in views if only is None or view.name.startswith(only)]


@contextmanager
def server() -> Iterator[str]:
    """The app on a free port, up to its health check."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "streamlit_app.py", "--server.port", str(port)]
    command += ["--server.headless", "true", "--server.address", "127.0.0.1", "--server.fileWatcherType", "none"]
    app = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300):
            try:
                urllib.request.urlopen(f"{url}/_stcore/health", timeout=2).close()
                break
            except OSError:
                time.sleep(0.1)
        yield url
    finally:
        app.terminate()
        app.wait()


def photograph(browser: Any, url: str, view: Shot, size: str, theme: str, out: Path, lang: str = "") -> list[Path]:
    """One picture, of the whole page on a laptop or phone; of every screen when projected."""
    query = {**({"present": "true"} if size == "projector" else {}), **({"lang": lang} if lang else {})}
    joint = "&" if "?" in view.path else "?"
    page = visit(browser, f"{url}/{view.path}{joint}{urlencode(query)}", SIZES[size], theme)
    shown = list(screens(page)) if size == "projector" else [picture(page, whole=True)]
    page.context.close()
    paths = []
    for number, png in enumerate(shown, 1):
        paths.append(out / f"{view.name}-{size}-{theme}{f'-{number}' if number > 1 else ''}.png")
        paths[-1].write_bytes(png)
    return paths


@contextmanager
def browsing() -> Iterator[tuple[Any, str]]:
    """A browser, and the app's address. Ends the program where this machine has no browser."""
    path = find_chromium()
    if path is None:
        print("no Chromium found; install it, or name it in CHROMIUM", file=sys.stderr)
        sys.exit(2)
    from playwright.sync_api import sync_playwright

    with server() as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser, url
        browser.close()


def main() -> None:
    """Take the pictures that were asked for, and print the path of each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "screenshots")
    parser.add_argument("--only", help="views whose name begins so, such as comm_cost or comm_cost-2")
    parser.add_argument("--size", choices=SIZES, action="append")
    parser.add_argument("--lang", default="", help="the language's folder, such as es")
    parser.add_argument("--theme", choices=THEMES, action="append")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    with browsing() as (browser, url):
        for view in shots(asked.only):
            for size in asked.size or SIZES:
                for theme in asked.theme or THEMES:
                    print(*photograph(browser, url, view, size, theme, asked.out, asked.lang), sep="\n")


if __name__ == "__main__":
    main()
