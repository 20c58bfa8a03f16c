"""The learner's file in the picture, in a real browser: save it, and the picture changes."""

import pytest

from tests.browser.conftest import start_server, stop_server

BUILD = "sharding_math?shard_scene=build"
IMPORTS = "import numpy as np\nfrom core.sharding_math.collectives import all_reduce\n"
FORGOT = """
def row_parallel(x, W, num_ranks, ledger=None, bias=None):
    return np.split(x, num_ranks, 1)[0] @ np.split(W, num_ranks, 1)[0].T
"""
RIGHT = """
def row_parallel(x, W, num_ranks, ledger=None, bias=None):
    pairs = zip(np.split(x, num_ranks, 1), np.split(W, num_ranks, 1))
    return all_reduce([x_r @ W_r.T for x_r, W_r in pairs], ledger)
"""


@pytest.fixture
def mine(tmp_path):
    """A file with the all-reduce forgotten, and a server that was started for it."""
    path = tmp_path / "mine.py"
    path.write_text(IMPORTS + FORGOT, encoding="utf-8")
    server, url = start_server(tmp_path / "log", LAB_IMPL=str(path), SHARDLAB_LIVE_RUNS="1")
    yield path, url
    stop_server(server)


def test_saving_the_file_changes_the_picture(mine, open_page):
    path, url = mine
    page = open_page(f"{url}/{BUILD}")
    page.get_by_text("gives 4 of 4 entries wrong and sends 0 collectives where 1 collective would").wait_for()
    page.wait_for_selector(".stepper .wrong", state="attached")
    assert page.locator(".stepper .bar.fault").count() == 1
    path.write_text(IMPORTS + RIGHT, encoding="utf-8")
    page.get_by_text("is right: all 4 entries, 1 collective").wait_for()
    page.wait_for_selector(".stepper .wrong", state="detached")
    assert page.locator(".stepper .bar.fault").count() == 0


def test_an_address_cannot_name_a_file(app, open_page):
    page = open_page(f"{app}/{BUILD}&LAB_IMPL=starter")
    assert page.get_by_text("start the app on your machine").is_visible()
    assert page.get_by_text("Watching").count() == 0
