"""Ten kinds of machine and more, as their tools print them; a file's first line says where its form is from."""

from pathlib import Path

_FOLDER = Path(__file__).parent / "machines"
MACHINES = tuple(sorted(path.stem for path in _FOLDER.glob("*.txt")))


def printed(machine: str) -> str:
    """What a machine's tools printed."""
    return (_FOLDER / f"{machine}.txt").read_text(encoding="utf-8")
