"""The built folder: what it is made of, and that a tab's Python says what a server's says."""

import json
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent
SAMPLED = 8
"""Of so many scenes one is held to the server's in a run, unless all are asked for."""
CORE_FILES = 12
ELSEWHERE = re.compile(
    r"^(from|import) (hypothesis|pyarrow|subprocess|tests|ui|runtime|scripts|labs)|SHARDLAB|mark[.]slow", re.M
)
"""What a tab's Python has not, and what is no part of `core`."""

pytestmark = pytest.mark.slow


def test_the_list_names_every_file_that_is_kept_and_their_bytes(site):
    parts = json.loads((site / "parts.json").read_text())
    assert all((site / name).is_file() for name in parts["files"])
    first = parts["bytes"]["first"]
    assert first < 26e6, "packs as they are, and the machine code that a host packs to less than half"
    assert first + parts["bytes"]["tables"] < 42e6


def test_no_page_of_the_folder_names_another_host(site):
    for page in (*site.glob("*.html"), *site.glob("*/index.html")):
        text = page.read_text()
        assert 'src="http' not in text
        assert 'href="http' not in text
    for name in ("page.js", "worker.js", "service.js", "lab_worker.js"):
        assert "://" not in (site / name).read_text().replace("http://www.w3.org", "")


def test_a_scene_says_in_the_tab_what_it_says_on_a_server(site, request):
    """Each text of each scene, words of figures among them, sent by one program in Pyodide and by it here."""
    step = 1 if request.config.getoption("--whole-site") else SAMPLED
    first = random.randrange(step)
    script = HERE / "walk_in_tab.py"
    command = ["node", str(HERE / "pyodide.mjs"), str(site), str(script), str(step), str(first)]
    tab = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    server = subprocess.run(
        [sys.executable, "-c", SERVER, str(ROOT), str(step), str(first)],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    ).stdout
    out, errors = tab.communicate(timeout=800)
    assert tab.returncode == 0, errors[-3000:]
    here, there = (json.loads(one.partition("WALKED ")[2].splitlines()[0]) for one in (server, out))
    assert here.keys() == there.keys()
    assert len(here) >= 70 // step
    differ = {at: _first_difference(here[at], there[at]) for at in here if here[at] != there[at]}
    assert not {at: one for at, one in differ.items() if not is_of_the_place(at)}, (first, step, differ)


def test_core_passes_its_tests_in_the_tab(site):
    """A few files of those that need nothing but pytest and `core`: a tab's integers have 32 bits."""
    plain = [
        file for file in sorted((ROOT / "tests/core").rglob("test_*.py")) if not ELSEWHERE.search(file.read_text())
    ]
    some = [str(file.relative_to(ROOT)) for file in random.sample(plain, CORE_FILES)]
    command = ["node", str(HERE / "pyodide.mjs"), str(site), str(HERE / "core_in_tab.py"), *some]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False, timeout=800)
    assert done.stdout.splitlines()[-1:] == ["ENDED 0"], (some, done.stdout[-3000:], done.stderr[-1000:])


SERVER = """
import asyncio, sys
sys.path.insert(0, sys.argv[1])
import streamlit as st
from tests.static_site import walk
step, first = map(int, sys.argv[2:4])
app = st.App(sys.argv[1] + "/streamlit_app.py")
print("WALKED", walk.told(asyncio.run(walk.walk(app, walk.scenes()[first::step]))))
"""
OF_THE_PLACE = (
    "shard_scene=build",
    "bill_scene=build",
    "pipe_scene=build",
    "real_scene=bench",
    "cluster_scene=ring",
)
"""What a tab says otherwise: the labs' editor; no live ranks; no room between devices."""


def is_of_the_place(address: str) -> bool:
    return any(one in address for one in OF_THE_PLACE)


def _first_difference(here, there):
    return next(((one, other) for one, other in zip(here, there, strict=False) if one != other), "lengths")
