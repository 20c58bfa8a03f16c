"""What every test needs."""

import sys

import pytest
from hypothesis import settings

settings.register_profile("shardlab", deadline=None)
settings.load_profile("shardlab")
# a deadline is a timed test, and machines are noisy


@pytest.fixture(autouse=True)
def main_module():
    """Streamlit's AppTest puts its script in place of `__main__`; a process started later would run it again."""
    before = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = before
