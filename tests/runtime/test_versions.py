"""What the app says at its start of what does not fit; and that all that is pinned does."""

import re
from importlib.metadata import PackageNotFoundError, version

import pytest

from runtime import versions
from runtime.versions import ROOT, ranges, say, unfit
from tests.each import each

PINS = {
    file: dict(re.findall(r"^([\w-]+)==([\w.]+)", (ROOT / file).read_text(), re.MULTILINE))
    for file in ("requirements.txt", "cloud/requirements.txt")
}


def test_what_is_installed_here_fits():
    assert list(unfit()) == []


@each("file", PINS)
def test_every_pin_is_in_its_range_and_everything_with_a_range_is_pinned(file):
    assert list(unfit(PINS[file].__getitem__)) == []
    assert ranges().keys() <= PINS[file].keys()


def test_every_range_is_read():
    told = re.search(r"^app = \[(.*?)\]", (ROOT / "pyproject.toml").read_text(), re.MULTILINE | re.DOTALL)[1]
    assert len(ranges()) == told.count('"') // 2 == 7


@pytest.mark.parametrize(
    ("package", "here", "fits"),
    [
        ("streamlit", "1.64.9", False),
        ("streamlit", "1.65.0", True),
        ("streamlit", "1.67.9", True),
        ("streamlit", "1.68.0", False),
        ("streamlit", "1.100", False),
        ("streamlit", "2.0.0rc1", False),
        ("uvicorn", "0.50.2", False),
        ("uvicorn", "0.52", True),
        ("websockets", "15.0.1", False),
        ("pandas", "4.0.0.dev0+12", False),
    ],
)
def test_a_version_fits_or_is_named_with_what_mends_it(package, here, fits, capsys):
    say("requirements.txt", {**PINS["requirements.txt"], package: here}.__getitem__)
    said = capsys.readouterr().err
    oldest, too_new = ranges()[package]
    mend = "python -m pip install -r requirements.txt"
    assert said == ("" if fits else f"Shardlab: {package} {here} is none of >={oldest},<{too_new}. {mend}\n")


def test_what_is_missing_is_named(capsys):
    def installed(package):
        if package == "starlette":
            raise PackageNotFoundError(package)
        return version(package)

    versions.say("cloud/requirements.txt", installed)
    assert capsys.readouterr().err.startswith("Shardlab: starlette is missing. python -m pip install -r cloud/")
