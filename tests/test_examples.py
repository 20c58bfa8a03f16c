"""What a docstring shows behind `>>>` is what comes of it."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SHOWN = sorted(
    path.relative_to(ROOT)
    for room in ("core", "runtime", "scripts", "ui")
    for path in (ROOT / room).rglob("*.py")
    if ">>>" in path.read_text("utf-8")
)


@pytest.mark.parametrize("path", SHOWN, ids=str)
def test_an_example_of_a_docstring_is_true(path):
    done = doctest.testmod(import_module(".".join(path.with_suffix("").parts)))
    assert done.attempted
    assert not done.failed
