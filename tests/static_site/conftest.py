"""The built folder, and pages of it in a real Chromium with every other host refused."""

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from scripts.settled import ASKED, FLAGS

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_MS = 180_000
"""A tab starts Python before it answers: on a busy machine most of a minute."""


def pytest_addoption(parser):
    whole = "hold every scene of the static site to the server's, and not a sample of them"
    parser.addoption("--whole-site", action="store_true", help=whole)


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The folder of the site, built once; in CI beforehand. Its parts come from npm and PyPI."""
    if built := os.environ.get("SHARDLAB_SITE"):
        if (why := Path(built).with_name("no-site")).is_file():
            pytest.skip(f"the site was not built: {why.read_text().strip()}")
        assert (Path(built) / "parts.json").is_file(), (
            f"there is no built site in {built}: see what .ci/site.sh said"
        )
        return Path(built)
    if not (shutil.which("node") and shutil.which("npm")):
        (pytest.fail if os.environ.get("CI") else pytest.skip)("needs node and npm")
    out = tmp_path_factory.mktemp("built") / "site"
    command = [sys.executable, "-m", "scripts.static_site", "--out", str(out)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(
            f"the site cannot be built here:\n{done.stderr[-2000:]}"
        )
    return out


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_): ...


def _serve(site, top):
    (top / "course").symlink_to(site.resolve())
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(top)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_port}/course/"


@pytest.fixture(scope="session")
def folder(site, tmp_path_factory):
    """Its address, from a plain server of files, under a prefix."""
    server, address = _serve(site, tmp_path_factory.mktemp("served"))
    yield address
    server.shutdown()


@pytest.fixture(scope="session")
def chromium(launcher):
    """A real one, headless."""
    launch, path = launcher
    browser = launch.launch(executable_path=path, args=FLAGS)
    yield browser
    browser.close()


@pytest.fixture
def page(chromium, folder):
    """A page with nothing kept. No other host may have been asked, nor anything have failed in the console."""
    with _opened(chromium, folder) as opened:
        yield opened


@pytest.fixture
def page_left_alone(chromium, site, tmp_path):
    """Such a page, and what takes its host away for good: from then on nothing answers at its address."""
    server, address = _serve(site, tmp_path)

    def leave():
        server.shutdown()
        server.server_close()

    with _opened(chromium, address) as opened:
        yield opened, leave
    leave()


@contextmanager
def _opened(chromium, folder) -> Iterator:
    strangers, errors = [], []
    opened = chromium.new_page(base_url=folder, reduced_motion="reduce")
    opened.set_default_timeout(PATIENCE_MS)
    opened.add_init_script(ASKED)

    def held(route):
        if route.request.url.startswith((folder.removesuffix("course/"), "blob:", "data:")):
            route.continue_()
        else:
            strangers.append(route.request.url)
            route.abort()

    opened.route("**/*", held)
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on("console", lambda told: told.type == "error" and errors.append(f"{told.text} {told.location}"))
    yield opened
    opened.close()
    assert not strangers
    assert not [one for one in errors if "_stcore/" not in one], errors  # asked beside a page's own address first
