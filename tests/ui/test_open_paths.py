"""Which paths there are, and that no way to write another one is one of them."""

import random
from pathlib import Path
from urllib.parse import unquote

import pytest
import streamlit

from tests.each import each
from tests.paths import CLOSED, FILES, normal, written
from ui import open_paths
from ui.course.pages import OVERVIEW, PAGES
from ui.lab_files import FILES as LAB_FILES
from ui.lab_files import PLACE as LAB_PLACE
from ui.open_paths import OPEN, is_open

STATIC = Path(streamlit.__file__).parent / "static"


@each("page", PAGES)
def test_every_page_is_open(page):
    assert is_open("/" if page is OVERVIEW else f"/{page.stem}")


def test_what_a_page_is_made_of_is_open():
    served = [path.relative_to(STATIC).as_posix() for path in STATIC.rglob("*") if path.is_file()]
    assert len(served) > 50
    assert {path for path in served if not is_open(f"/{path}")} == {"index.html"}
    assert all(
        map(is_open, ("/_stcore/health", "/_stcore/host-config", "/_stcore/stream", *(f"/{one}" for one in FILES)))
    )


def test_the_files_that_judge_a_lab_are_open_and_nothing_beside_them():
    assert all(is_open(f"{LAB_PLACE}0123456789abcdef/{name}") for name in LAB_FILES)
    for closed in ("0123456789abcdef/parts.json", "0123456789abcdef/", "editor.js", "0123456789abcdeg/editor.js"):
        assert not is_open(f"{LAB_PLACE}{closed}")
    assert not is_open(f"{LAB_PLACE}0123456789abcdef/pyodide/pyodideXjs")


def test_no_way_to_write_a_closed_path_opens_it():
    """10,000 made up by a seed: what is let through is an open path as it stands, and reads so to everybody."""
    rng, passed = random.Random(11), 0
    for _ in range(10_000):
        path = written(rng, rng.choice((*CLOSED, *FILES, "_stcore/health", "comm_cost", "favicon.png")))
        seen = unquote(path.partition("?")[0])  # as a server hands it on
        if is_open(seen):
            passed += 1
            assert is_open(f"/{normal(seen)}"), path
            assert not any(normal(seen).startswith(closed) for closed in CLOSED), path
    assert passed > 400


@pytest.mark.parametrize("path", CLOSED)
def test_what_the_app_has_not_is_closed(path):
    assert not is_open(f"/{path}")
    assert not is_open(f"/comm_cost/{path}")


def test_an_app_below_a_path_is_open_there_alone(monkeypatch):
    monkeypatch.setattr("ui.uploads.st.get_option", {"server.baseUrlPath": "labs/"}.__getitem__)
    assert is_open("/labs/comm_cost")
    assert is_open("/labs")
    assert not is_open("/comm_cost")
    assert not is_open("/labsides/comm_cost")
    assert not is_open("/labs/_stcore/metrics")


def test_the_proxy_has_the_same_list():
    rules = (Path(open_paths.__file__).parents[1] / "deploy" / "haproxy.cfg").read_text(encoding="utf-8")
    (line,) = [line for line in rules.splitlines() if line.strip().startswith("acl open ")]
    assert line.partition("-m reg ")[2] == f"'^({OPEN.pattern})$'".replace("(?:", "(").replace(r"\w", "A-Za-z0-9_")
