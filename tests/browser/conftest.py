"""A real server and a real Chromium. Skipped where there is no browser; failing, not skipped, in CI."""

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from benchmarks.served import proxied, served, start_server, stop_server
from scripts.settled import ASKED, FLAGS, PATIENCE_MS, settle

ROOT = Path(__file__).resolve().parents[2]

# Streamlit asks for these beside a deep link, and falls back: no fault of the page.
EXPECTED_CONSOLE = re.compile(r"/_stcore/(health|host-config)")


def pytest_collection_modifyitems(items):
    """Everything in this folder needs a browser."""
    for item in items:
        if item.nodeid.startswith("tests/browser/"):
            item.add_marker(pytest.mark.browser)


WITHOUT = "--disable-features=ScriptStreaming,PaintHolding"
"""Scripts are compiled when they are read, and not beside as well: a fifth of what opening a page takes.

The second is playwright's own wish, whose flag this one takes the place of.
"""


@pytest.fixture(scope="session")
def profile(launcher, tmp_path_factory):
    """One headless Chromium for the session, with a profile on disk: it compiles the app's scripts once.

    A page is a visit of its own.
    """
    chromium, path = launcher
    # one process for all visits: the scripts of the app are compiled once; letters as wide as with a window
    flags = [*FLAGS, "--process-per-site", "--font-render-hinting=none", WITHOUT]
    profile = chromium.launch_persistent_context(
        tmp_path_factory.mktemp("profile"), executable_path=path, args=flags
    )
    yield profile
    profile.close()


@pytest.fixture(scope="session")
def app(tmp_path_factory) -> Iterator[str]:
    """The address of a server that the whole session shares, behind the proxy of a deployment.

    So every walk through a page holds its Content-Security-Policy too: what breaks it is an error in the console.
    """
    folder = tmp_path_factory.mktemp("server")
    with served(folder / "log") as url, proxied(url, folder) as address:
        yield address


@pytest.fixture
def cold_server(tmp_path) -> Iterator[str]:
    """The address of a server that nobody has visited."""
    server, url = start_server(tmp_path / "log")
    yield url
    stop_server(server)


@contextmanager
def visiting(profile) -> Iterator[Callable]:
    """`opened(url, width=, height=, scheme=, script=)`: a settled page in a visit of its own, closed at the end.

    No visit may then have asked any other host for anything, nor left an unexpected error in the console.
    """
    visits, strangers, errors = [], [], []

    def opened(url: str, *, width: int = 1440, height: int = 900, scheme: str = "light", script: str = ""):
        if not visits:  # whether the menu is open, the theme and the room are what another test left
            health = f"{url.partition('//')[0]}//{url.split('/')[2]}/_stcore/health"
            if profile.pages[0].url != health:  # stays, and with it the process that all visits share
                profile.pages[0].goto(health)  # of this server: what is stored is each server's own
            profile.pages[0].evaluate("localStorage.clear()")
            profile.clear_cookies(name="shardlab_room")
            profile.clear_cookies(name="shardlab_phone")
        page = profile.new_page()
        page.add_init_script(f"{ASKED};{script}")
        visits.append(page)
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        page.set_default_timeout(PATIENCE_MS)
        host = url.split("/")[2]
        page.on("request", lambda request: _note_stranger(request.url, host, strangers))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda message: _note_error(message, errors))
        page.goto(url)
        settle(page)
        return page

    yield opened
    for page in visits:
        page.close()
    assert not strangers, f"asked other hosts: {strangers}"
    assert not errors, f"console: {errors}"


@pytest.fixture
def open_page(profile) -> Iterator[Callable]:
    """Opens pages for one test."""
    with visiting(profile) as opened:
        yield opened


@pytest.fixture(scope="module")
def same_page(profile) -> Iterator[Callable]:
    """`same_page(url)`: one page for all tests of a file that ask for an address, as it was when it was opened.

    Opened anew where a test has left another address; where a player stands is the test's to put back.
    """
    pages, stood = {}, {}
    with visiting(profile) as opened:

        def same(url: str):
            if url not in pages:
                page = pages[url] = opened(url)
                stood[url] = _without_step(page.url)
                return page
            page = pages[url]
            page.mouse.move(0, 0)
            page.evaluate("document.activeElement.blur()")
            page.set_viewport_size({"width": 1440, "height": 900})
            page.emulate_media(color_scheme="light", reduced_motion="reduce")
            settle(page)
            if _without_step(page.url) != stood[url]:
                page.goto(url)
                settle(page)
            return page

        yield same


def _without_step(url: str) -> str:
    """An address without the step that a player keeps there."""
    return re.sub(r"[?&]\w+_step=\w+", "", url)


def _note_stranger(url: str, host: str, strangers: list[str]) -> None:
    if not url.startswith(("data:", "blob:")) and url.split("/")[2] != host:
        strangers.append(url)


def _note_error(message, errors: list[str]) -> None:
    if message.type == "error" and not EXPECTED_CONSOLE.search(f"{message.text} {message.location.get('url', '')}"):
        errors.append(message.text)


THE_SCENES = '.stElementContainer[class*="st-key-scenes_"]'
"""Where a page names its scenes."""


def open_scene(page) -> str:
    """The scene that is open."""
    return page.locator(f"{THE_SCENES} [aria-checked=true]").inner_text()


def until(page, holds: Callable[[], bool]) -> None:
    """Wait until something holds, however late; at last it fails as an assertion does."""
    deadline_s = time.monotonic() + PATIENCE_MS / 1000
    while not holds():
        assert time.monotonic() < deadline_s, "it never came to hold"
        page.wait_for_timeout(50)


def press(page, key: str) -> None:
    """Press a shortcut and wait for what it does."""
    page.keyboard.press(key)
    page.wait_for_timeout(50)
    settle(page)


def wait_for_address(page, text: str) -> None:
    """Wait until the address holds a text: it follows what the page shows, on a busy machine after a while."""
    page.wait_for_url(lambda url: text in url)
    settle(page)


def arrive(page, stem: str) -> None:
    """Wait until the app has gone to a page by itself."""
    page.wait_for_url(lambda url: urlsplit(url).path == f"/{stem}")
    settle(page)
