"""The `lab` fixture: the implementation under grading, from the test file's own folder.

`LAB_IMPL` chooses it: `solution` (default), `starter`, or the path of any other file. Labs repeat their file
names, so a module is loaded from its path, under a name that no other lab has.
"""

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def lab(request: pytest.FixtureRequest) -> ModuleType:
    """The module that the tests of one lab grade."""
    return load(request.path.parent, os.environ.get("LAB_IMPL", "solution"))


def load(folder: Path, implementation: str) -> ModuleType:
    """A lab's `solution`, `starter`, or the file at a path, as a fresh module."""
    path = folder / f"{implementation}.py" if implementation in ("solution", "starter") else Path(implementation)
    if not path.is_file():
        pytest.fail(
            f"LAB_IMPL={implementation}: there is no {path}; use solution, starter or a file", pytrace=False
        )
    name = f"{folder.name.replace('-', '_')}_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
