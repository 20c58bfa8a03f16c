"""Check a reading room against its release: `python -m scripts.reading_rooms vllm path/to/vllm-0.33.0`.

The folder is an unpacked release, the one that holds the room's root. Exit 0 when every name is there, else 1.
"""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.course.reading_rooms import ROOMS, Room, places
from core.errors import OutOfRangeError
from scripts.terminal import OFF, Parser, answer, print_aligned, run


@dataclass(frozen=True)
class Found:
    """A place and whether its file defines its name."""

    file: str
    symbol: str
    there: bool


def main(arguments: Sequence[str] | None = None) -> int:
    """Print every place of a room and whether it is there."""
    parser = make_parser()
    options = parser.parse_args(arguments)

    def compute() -> Mapping[str, object]:
        room = next(room for room in ROOMS if room.key == options.room)
        if not (options.folder / room.root).is_dir():
            raise OutOfRangeError("folder", options.folder, f"holds no {room.root}: name an unpacked release")
        found = look_up(room, options.folder)
        if not options.json:
            print_aligned([("there" if place.there else "MISSING", place.file, place.symbol) for place in found])
        return {
            "room": room.key,
            "release": room.release,
            "places": found,
            "all_there": all(p.there for p in found),
        }

    return answer(parser, options, compute, table=False, status=lambda said: OFF if said["missing"] else 0)


def look_up(room: Room, folder: Path) -> list[Found]:
    """Every place of a room, in an unpacked release."""
    return [
        Found(place.file, place.symbol, _defines(folder / room.root / place.file, place.symbol))
        for place in places(room)
    ]


def _defines(path: Path, symbol: str) -> bool:
    """Whether a module defines a function, a class, or a method of a class."""
    if not path.is_file():
        return False
    body: list[ast.stmt] = ast.parse(path.read_text(encoding="utf-8")).body
    for name in symbol.split("."):
        named = (ast.ClassDef, ast.FunctionDef)
        match = next((node for node in body if isinstance(node, named) and node.name == name), None)
        if match is None:
            return False
        body = match.body
    return True


def make_parser() -> Parser:
    """What it takes."""
    parser = Parser(prog="reading_rooms", description="Check a reading room against its release.")
    parser.add_argument("room", choices=[room.key for room in ROOMS])
    parser.add_argument("folder", type=Path, help="an unpacked release")
    parser.add_argument("--json", action="store_true")
    return parser


if __name__ == "__main__":
    run(main)
