"""What every test needs."""

import functools
import os
import sys
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path

import pytest
from hypothesis import settings

from scripts.settled import find_chromium

settings.register_profile("shardlab", deadline=None)
settings.register_profile("quick", deadline=None, max_examples=25)
settings.register_profile("sample", deadline=None, max_examples=5)
# a deadline is a timed test, and machines are noisy

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
# torch's threads spin while they wait for each other: on cores that others use, most of what a run takes

TORCH = Path(__file__).parent / "distributed"


@pytest.fixture(scope="session")
def launcher():
    """Playwright's launcher of Chromium, begun once a process, and the path of the one that is here.

    Skipped where there is none; failing, not skipped, in CI.
    """
    path = find_chromium()
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        path = None
    if path is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("needs Chromium and playwright")
    with sync_playwright() as playwright:
        yield playwright.chromium, path


def pytest_addoption(parser):
    every = "run of each test's cases the first, the last and every K-th, and few examples of what Hypothesis draws"
    parser.addoption("--sample", type=int, metavar="K", help=every)


def pytest_configure(config):
    """A quarter of the examples where the slow tier is left out, which tries all of them."""
    quick = "sample" if config.option.sample else "quick"
    settings.load_profile(quick if "not (slow" in config.option.markexpr else "shardlab")


def pytest_ignore_collect(collection_path, config):
    """Leave the tests that import torch unread where none of them would run: it alone takes seconds."""
    if collection_path == TORCH and "not (slow" in config.option.markexpr:
        return True
    return None


def pytest_collection_modifyitems(config, items):
    """Let some files compute while others wait for a browser; what needs torch is of the slow tier."""
    if every := config.option.sample:
        items[:] = [item for _, cases in groupby(items, key=function_of) for item in sampled(list(cases), every)]
    for item in items:
        if item.nodeid.startswith("tests/distributed/"):
            item.add_marker(pytest.mark.slow)
    waiting = sorted(filter(is_waiting, items), key=lambda item: "test_every_page" not in item.nodeid)
    rest = [item for item in items if not is_waiting(item)]
    files = sorted([*placed(waiting), *placed(rest)], key=itemgetter(0))
    items[:] = chain.from_iterable(those for _, those in files)


def function_of(item) -> str:
    """The test that an item is a case of."""
    return item.nodeid.partition("[")[0]


def sampled(cases: list, every: int) -> list:
    """The first of a test's cases, the last and every so many in between: no test goes without."""
    return [case for number, case in enumerate(cases) if number % every == 0 or case is cases[-1]]


def is_waiting(item) -> bool:
    """Whether a test spends its time waiting for a browser."""
    return item.nodeid.startswith("tests/browser/")


def placed(items) -> list[tuple[float, list]]:
    """The tests of each file with its place on the way from the first to the last; each walk of a page by itself.

    A file stays whole: what its tests share is made once, and made anew after a test of another file.
    """
    files = [list(those) for _, those in groupby(items, key=together)]
    return [(sum(map(len, files[:place])) / len(items), those) for place, those in enumerate(files)]


def together(item) -> str:
    """What a test is not parted from: its file, or in a file whose tests share nothing itself."""
    return item.nodeid if "test_every_page" in item.nodeid else item.nodeid.partition("::")[0]


@pytest.fixture(autouse=True)
def main_module():
    """Streamlit's AppTest puts its script in place of `__main__`; a process started later would run it again."""
    before = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = before


@pytest.fixture(autouse=True)
def components_scanned_once():
    """AppTest looks through all installed packages for components at every run, most of what a run costs."""
    scanner = sys.modules.get("streamlit.components.v2.manifest_scanner")
    if scanner and not hasattr(scanner.scan_component_manifests, "cache_info"):
        scanner.scan_component_manifests = functools.cache(scanner.scan_component_manifests)
