"""Run files of `core`'s tests in the tab's Python: a program of `pyodide.mjs`. The `core` is the folder's."""

import os
import sys

import pytest

os.chdir("/repository")
sys.path.append("/repository")
os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
alone = ["--noconftest", "-p", "no:cacheprovider", "-c", "/dev/null", "--rootdir=/repository"]
print("ENDED", int(pytest.main(["-q", "--capture=sys", *alone, *given])))  # noqa: F821, of whoever runs this
