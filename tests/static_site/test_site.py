"""The built folder: what it is made of, that a tab says what a server says, and a learner's path in a browser.

The folder is built once, by `SHARDLAB_SITE` where CI has built it. Its parts come from npm and PyPI.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from core.course.grading.tasks import LABS
from core.course.receipt import Receipt, read_receipt

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent
SENDS_NOTHING = """

def row_parallel(x, W, num_ranks, ledger=None, bias=None):
    return x @ W.T
"""
PATIENCE_MS = 90_000

pytestmark = pytest.mark.slow


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The folder of the site."""
    if built := os.environ.get("SHARDLAB_SITE"):
        return Path(built)
    if not (shutil.which("node") and shutil.which("npm")):
        (pytest.fail if os.environ.get("CI") else pytest.skip)("needs node and npm")
    out = tmp_path_factory.mktemp("built") / "site"
    command = [sys.executable, "-m", "scripts.static_site", "--out", str(out)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return out


def test_the_list_names_every_file_that_is_kept_and_their_bytes(site):
    parts = json.loads((site / "parts.json").read_text())
    assert all((site / name).is_file() for name in parts["files"])
    first = parts["core_bytes"] + parts["bytes"]["first"]
    assert first < 30e6, "zips and wheels as they are, and the machine code that a host packs to less than half"
    assert first + parts["bytes"]["figures"] < 47e6


def test_no_page_of_the_folder_names_another_host(site):
    for page in (*site.glob("*.html"), *site.glob("*/index.html")):
        text = page.read_text()
        assert 'src="http' not in text
        assert 'href="http' not in text
    for name in ("page.js", "worker.js", "service.js", "lab_worker.js"):
        assert "://" not in (site / name).read_text().replace("http://www.w3.org", "")


def test_every_scene_says_in_the_tab_what_it_says_on_a_server(site, tmp_path):
    """Each text of each scene, words of figures among them, sent by one program in Pyodide and by it here."""
    script = HERE / "walk_in_tab.py"
    command = ["node", str(HERE / "pyodide.mjs"), str(site), str(script), "1", "0"]
    tab = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    server = subprocess.run(
        [sys.executable, "-c", SERVER, str(ROOT)], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout
    out, errors = tab.communicate(timeout=800)
    assert tab.returncode == 0, errors[-3000:]
    here, there = (json.loads(one.partition("WALKED ")[2].splitlines()[0]) for one in (server, out))
    assert here.keys() == there.keys()
    assert len(here) > 70
    differ = {at: _first_difference(here[at], there[at]) for at in here if here[at] != there[at]}
    assert not {at: one for at, one in differ.items() if not is_of_the_place(at)}, differ


SERVER = """
import asyncio, os, sys
sys.path.insert(0, sys.argv[1])
os.environ["STREAMLIT_SERVER_FILE_WATCHER_TYPE"] = "none"
import streamlit as st
from tests.static_site import walk
print("WALKED", walk.told(asyncio.run(walk.walk(st.App(sys.argv[1] + "/streamlit_app.py"), walk.scenes()))))
"""
OF_THE_PLACE = ("shard_scene=build", "bill_scene=build", "pipe_scene=build", "real_scene=", "cluster_scene=ring")
"""What a tab says otherwise: the labs' editor; no live ranks; no room between devices."""


def is_of_the_place(address: str) -> bool:
    return any(one in address for one in OF_THE_PLACE)


def _first_difference(here, there):
    return next(((one, other) for one, other in zip(here, there, strict=False) if one != other), "lengths")


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_): ...


@pytest.fixture
def page(site, tmp_path):
    """A page of a real Chromium, the folder served under a prefix, and every other host refused."""
    chromium = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "google-chrome"))), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        chromium, sync_playwright = None, None
    if chromium is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("needs Chromium and playwright")
    (tmp_path / "course").symlink_to(site.resolve())
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(tmp_path)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    strangers = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        opened = browser.new_page(base_url=f"http://127.0.0.1:{server.server_port}/course/")
        opened.set_default_timeout(PATIENCE_MS)

        def held(route):
            if route.request.url.startswith((f"http://127.0.0.1:{server.server_port}/", "blob:", "data:")):
                route.continue_()
            else:
                strangers.append(route.request.url)
                route.abort()

        opened.route("**/*", held)
        yield opened
        browser.close()
    server.shutdown()
    assert not strangers


@pytest.mark.browser
def test_a_learner_solves_a_lab_and_comes_back(page):
    """Fail task 2, read why, mend it, see the whole picture, and have all of it after a reload."""
    page.goto("sharding_math/?shard_scene=build&lang=en")
    solution = _file("solution")
    _write(page, solution + SENDS_NOTHING)
    _run(page, "3 of 4 tasks pass.")
    tasks = page.locator(".solve ol li")
    told = [tasks.nth(task).inner_text() for task in range(4)]
    assert [one[0] for one in told] == list("✓✗✓✓")
    assert "task 2" in told[1]
    assert len(told[1].splitlines()) > 1, "a task that fails has a message"
    assert page.locator(".solve .receipt").is_hidden()
    _write(page, solution)
    _run(page, "All 4 tasks pass.")
    line = page.locator(".solve .receipt code").inner_text()
    assert read_receipt(line) == Receipt("lab-01", (1, 2, 3, 4), 4, hashlib.sha256(solution.encode()).hexdigest())
    page.locator("figure.player").first.wait_for()
    page.reload()
    _run(page, "All 4 tasks pass.")
    assert page.locator(".solve .receipt code").inner_text() == line


@pytest.mark.browser
@pytest.mark.parametrize("lab", ["lab-03", "lab-04"])
def test_the_other_labs_are_solved_in_the_page(page, lab):
    page.goto(
        {"lab-03": "comm_cost/?bill_scene=build&lang=en", "lab-04": "pipeline_bubble/?pipe_scene=build&lang=en"}[
            lab
        ]
    )
    _write(page, _file("solution", lab))
    _run(page, f"All {len(LABS[lab].tasks)} tasks pass.")
    assert read_receipt(page.locator(".solve .receipt code").inner_text()).is_whole


@pytest.mark.browser
def test_code_that_does_not_end_well_ends_with_a_sentence_and_the_page_goes_on(page):
    page.goto("sharding_math/?shard_scene=build&lang=en")
    for source, said in HOSTILE.items():
        _write(page, source)
        _run(page, said)
    _write(page, _file("solution"))
    _run(page, "All 4 tasks pass.")
    page.get_by_role("radio", name="Bench").or_(page.get_by_text("Bench", exact=True)).first.click()
    page.get_by_test_id("stNumberInput").first.wait_for()


HOSTILE = {
    "raise SystemExit(3)\n": "SystemExit: 3 (line 1 of starter.py)",
    "held = []\nwhile True:\n    held.append(bytearray(10**8))\n": "MemoryError",
    "while True:\n    pass\n": "Stopped: the tests ran for more than",
    "while True:\n    print('again' * 1000)\n": "Stopped:",
    "import os\nos._exit(0)\n": "Stopped: the code",
}
"""Files of a learner, and what the page says of each."""


def _file(name, lab="lab-01"):
    return (ROOT / "labs" / LABS[lab].folder / f"{name}.py").read_text()


def _write(page, source):
    page.locator(".solve .cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(source)
    page.wait_for_timeout(500)  # until it is kept


def _run(page, said):
    page.get_by_role("button", name="Run the tests").click()
    page.wait_for_function(_SAYS, arg=said)


_SAYS = """(words) => [document, ...[...document.querySelectorAll('*')].map((one) => one.shadowRoot)]
  .map((root) => root?.querySelector('.solve'))
  .some((solve) => solve?.textContent.includes(words) && !solve.querySelector('.primary').disabled)"""
