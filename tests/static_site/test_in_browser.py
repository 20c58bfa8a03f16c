"""The built folder in a real Chromium: every scene as a server shows it, and a learner who solves a lab there."""

import hashlib
import random
import time
import urllib.request
from pathlib import Path

import pytest

from benchmarks.served import proxied, served
from core.course.grading.tasks import LABS
from core.course.receipt import Receipt, read_receipt
from scripts.settled import ASKED, settle
from tests.static_site.test_site import is_of_the_place
from tests.static_site.walk import scenes

ROOT = Path(__file__).resolve().parents[2]
SENDS_NOTHING = """

def row_parallel(x, W, num_ranks, ledger=None, bias=None):
    return x @ W.T
"""
HALF_THE_SUMS = """

def tp_comm_time_per_step(model, tokens, tp_size, link):
    payload_bytes = allreduce_payload_bytes(tokens, model.hidden_size)
    return model.num_hidden_layers * allreduce_time_s(payload_bytes, tp_size, link)
"""
PATIENCE_S = 15
SAMPLED = 10
"""Of so many scenes one is opened in a run, unless all are asked for."""

pytestmark = pytest.mark.browser

GO = """(address) => {
  history.pushState({}, '', address);
  window.dispatchEvent(new PopStateEvent('popstate', { state: {} }));
}"""
TEXTS = """() => {
  const said = [];
  const read = (node) => {
    if (node.nodeType === Node.TEXT_NODE) { if (node.data.trim()) said.push(node.data.trim()); return; }
    if (['STYLE', 'SCRIPT'].includes(node.tagName)) return;
    if (node.shadowRoot) read(node.shadowRoot);
    node.childNodes.forEach(read);
  };
  read(document.querySelector('[data-testid="stMain"]'));
  return said.map((text) => text.replace(/^http:[^ ]*[/]/, ''));
}"""
"""What the page's middle says, in figures and in their tables' words too; of its own address, the page."""


def test_a_scene_is_drawn_in_the_tab_as_from_a_server(page, chromium, folder, tmp_path, request):
    """Two pages go through the same scenes side by side: one of the folder, one of a server."""
    step = 1 if request.config.getoption("--whole-site") else SAMPLED
    addresses = scenes()[random.randrange(step) :: step]
    with served(tmp_path / "log") as url:
        other = chromium.new_page(base_url=url, reduced_motion="reduce")
        other.add_init_script(ASKED)
        page.goto("?lang=en")
        other.goto("/?lang=en")
        settle(other)
        page.wait_for_function("window.shardlab_stages.whole")
        settle(page)
        differ = {}
        for stem, query in addresses:
            page.evaluate(GO, f"{folder}{stem}?{query}")
            other.evaluate(GO, f"/{stem}?{query}")
            settle(other)
            assert len(other.evaluate(TEXTS)) > 10, stem
            if not is_of_the_place(query) and not _come_to_agree(page, other):
                differ[f"{stem}?{query}"] = _first_difference(page.evaluate(TEXTS), other.evaluate(TEXTS))
        other.close()
    assert not differ


def _come_to_agree(page, other):
    """Wait until both say the same: a tab's run is told whole, at its end, and a figure's words come last."""
    deadline_s = time.monotonic() + PATIENCE_S
    while (alike := page.evaluate(TEXTS) == other.evaluate(TEXTS)) is False and time.monotonic() < deadline_s:
        page.wait_for_timeout(50)
    return alike


def _first_difference(here, there):
    return next(((one, other) for one, other in zip(here, there, strict=False) if one != other), "lengths")


KEPT = """async () => {
  const { files } = await (await fetch(new URL('parts.json', window.shardlab_base))).json();
  const kept = await Promise.all(files.map((name) => caches.match(new URL(name, window.shardlab_base))));
  return kept.every(Boolean);
}"""
"""Whether the service worker has all that a visit needs."""


def test_a_learner_solves_a_lab_and_comes_back_without_a_network(page_left_alone):
    """Fail task 2, read why, mend it, see the whole picture, and have all of it after a reload, the host gone."""
    page, leave = page_left_alone
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
    page.wait_for_function(KEPT, polling=500)
    leave()
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(page.url)
    page.reload()
    _run(page, "All 4 tasks pass.")
    assert page.locator(".solve .receipt code").inner_text() == line


def test_what_tables_need_is_brought_as_the_first_is_opened(page):
    """A figure needs none of it. The page says meanwhile that it is on the way."""
    page.goto("comm_cost/?bill_scene=bench&lang=es")
    page.locator("canvas, svg.marks").first.wait_for()
    page.wait_for_function(KEPT, polling=500)
    page.get_by_text("La figura como tabla").first.click()
    page.locator("#later", has_text="tablas").wait_for()
    page.get_by_test_id("stDataFrame").wait_for()
    assert page.locator("#later").count() == 0


def test_the_other_labs_are_solved_in_the_page(page, folder):
    page.goto("comm_cost/?bill_scene=build&lang=en")
    _solve(page, "lab-03")
    page.get_by_text("Your code bills this step as the reference does").wait_for()
    page.evaluate(GO, f"{folder}pipeline_bubble?pipe_scene=build&lang=en")
    _solve(page, "lab-04")
    page.locator("figure.player").first.wait_for()


def test_a_servers_visitor_solves_a_lab_too(chromium, site, tmp_path):
    """Behind the proxy and its policy: Python is fetched at the first run, from that server alone."""
    asked, errors = [], []
    with served(tmp_path / "log", SHARDLAB_LAB_FILES=str(site)) as url, proxied(url, tmp_path) as address:
        page = chromium.new_page(base_url=address, reduced_motion="reduce")
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto("/comm_cost?bill_scene=build&lang=en")
        page.locator(".solve .cm-content").wait_for()
        assert not [one for one in asked if "pyodide" in one]
        _write(page, _file("solution", "lab-03") + HALF_THE_SUMS)
        _run(page, "9 of 10 tasks pass.")
        page.get_by_text("Your code and the reference bill this step differently.").wait_for()
        assert [one for one in asked if one.endswith("pyodide.asm.wasm")]
        assert all(one.startswith((address, "blob:", "data:", address.replace("http", "ws"))) for one in asked)
        assert not errors
        page.close()


def _solve(page, lab):
    page.locator(".solve .cm-content", has_text=f"Lab {lab[-2:]}").wait_for()  # and not the lab's before
    _write(page, _file("solution", lab))
    _run(page, f"All {len(LABS[lab].tasks)} tasks pass.")
    receipt = read_receipt(page.locator(".solve .receipt code").inner_text())
    assert receipt.is_whole
    assert receipt.is_of(_file("solution", lab))


def test_code_that_does_not_end_well_ends_with_a_sentence_and_the_page_goes_on(page, request):
    page.goto("sharding_math/?shard_scene=build&lang=en")
    most = len(HOSTILE) if request.config.getoption("--whole-site") else 2  # some run until their time is over
    for source, said in random.sample(list(HOSTILE.items()), most):
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
