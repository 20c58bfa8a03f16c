"""What every test needs."""

import sys
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("shardlab", deadline=None)
settings.load_profile("shardlab")
# a deadline is a timed test, and machines are noisy

ONE_RUN_A_HOST = {"test_torchrun.py", "test_lab02.py", "test_run_ending.py"}
"""Files that start ranks under the host's one lock: side by side they would refuse each other."""


def pytest_collection_modifyitems(items):
    """Keep on one worker what must not run side by side."""
    for item in items:
        if Path(item.fspath).name in ONE_RUN_A_HOST:
            item.add_marker(pytest.mark.xdist_group("one run a host"))


@pytest.fixture(autouse=True)
def main_module():
    """Streamlit's AppTest puts its script in place of `__main__`; a process started later would run it again."""
    before = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = before
