"""One rank in somebody's hands: the chunk to be sent, each of its numbers to be tapped across, and one button.

It sends the server nothing but which round was passed on; what a rank holds, and whose move it is, is told to it.
"""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ui.players import kit

SCRIPTS = ("pass.js",)
HERE = Path(__file__).parent

_player = kit.component("pass_player", HERE, SCRIPTS)


def pass_player(hand: Any, *, key: str, on_sent: Callable[[], object]) -> None:
    """Show a rank, a dataclass as runtime.room_ring has it; `on_sent` runs when its chunk is passed on."""
    _player(key=key, data={"words": kit.words("pass"), **asdict(hand)}, on_sent_change=on_sent)
