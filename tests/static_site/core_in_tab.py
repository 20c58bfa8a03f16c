"""Run files of `core`'s tests in the tab's Python: a program of `pyodide.mjs`, which tests the `core` of the folder."""

import os
import sys

import pytest

os.chdir("/repository")
sys.path.append("/repository")
os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
options = [
    "-q",
    "--capture=sys",
    "--noconftest",
    "-p",
    "no:cacheprovider",
    "-c",
    "/dev/null",
    "--rootdir=/repository",
]
print("ENDED", int(pytest.main([*options, *given])))  # noqa: F821, of whoever runs this
