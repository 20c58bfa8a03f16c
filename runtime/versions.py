"""Which versions of what the app stands on it is tried with, and what of the installed ones does not fit.

The ranges stand in `pyproject.toml` alone, as its extra `app`. CI tries both ends of each.

    python -m runtime.versions oldest          what installs one end: `streamlit==1.65 uvicorn==0.52 ...`
"""

import re
import sys
import tomllib
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MEND = "python -m pip install -r {}"


def ranges() -> dict[str, tuple[str, str]]:
    """By package the oldest version and the first that is too new."""
    told = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    pattern = re.compile(r"(?<![\w-])([\w-]++)>=([\d.]++),<([\d.]++)")
    found = (pattern.fullmatch(one) for one in told["project"]["optional-dependencies"]["app"])
    return {one[1]: (one[2], one[3]) for one in found if one}


def unfit(installed: Callable[[str], str] = version) -> Iterator[str]:
    """Yield what does not fit, each with the range that does."""
    for package, (oldest, too_new) in ranges().items():
        try:
            here = installed(package)
        except PackageNotFoundError:
            yield f"{package} is missing"
            continue
        if not _parts(oldest) <= _parts(here) < _parts(too_new):
            yield f"{package} {here} is none of >={oldest},<{too_new}"


def _parts(text: str) -> list[int]:
    """The numbers of a version, by which it is compared: those that stand before a name of any kind."""
    return [int(one) for one in re.match(r"[\d.]*", text)[0].strip(".").split(".")]  # type: ignore[index]


def say(requirements: str, installed: Callable[[str], str] = version) -> None:
    """Write one line that names what does not fit and how to mend it; nothing where all does."""
    if faults := list(unfit(installed)):
        print(f"Shardlab: {'; '.join(faults)}. {MEND.format(requirements)}", file=sys.stderr, flush=True)


def requirements(end: str) -> list[str]:
    """What installs the oldest of every range, or its newest."""
    return [
        f"{name}=={low}" if end == "oldest" else f"{name}>={low},<{top}" for name, (low, top) in ranges().items()
    ]


if __name__ == "__main__":
    print(*requirements(sys.argv[1]))
