"""The puzzle board: every step with what may be placed there, and a picture of what the ranks then hold.

It follows the moves that core has worked out, adds up what they send, and keeps the answers in the address. It
knows no rule, and sends nothing to the server.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ui.players import kit

SCRIPTS = ("picture.js", "board.js", "puzzle.js")
HERE = Path(__file__).parent

_player = kit.component("puzzle_player", HERE, SCRIPTS)


def puzzle_player(puzzles: Sequence[Any], *, key: str, param: str, present: bool = False) -> None:
    """Show the puzzles, as `ui.puzzles.rows.board` has them, at the one and the answers that `param` holds."""
    _player(
        key=key,
        data={"name": key, "param": param, "present": present, "words": kit.words("puzzle"), "puzzles": puzzles},
    )
