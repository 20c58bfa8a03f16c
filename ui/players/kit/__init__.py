"""What the players share: their controls and keys, the theme's colours, two pens, and their words.

A player is `<figure class="player">` with a `.stage` that is drawn in and `.controls` that hold its own slider or
track; the kit adds the buttons. Its scripts end in a class that extends the kit's `Player`. A component's scripts
are one string, so that nothing is fetched.
"""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from runtime import content
from runtime.quantities import style

_HERE = Path(__file__).parent
_SCRIPTS = ("colours.js", "pens.js", "words.js", "player.js", "svg_player.js")


def source(folder: Path, scripts: Sequence[str]) -> str:
    """The kit's scripts and the player's own, as the browser gets them: one module."""
    return _read(*(_HERE / name for name in _SCRIPTS), *(folder / name for name in scripts))


def component(name: str, folder: Path, scripts: Sequence[str]) -> Callable[..., Any]:
    """A player as a component: its folder's .html, the kit's style and its own, the kit's scripts and its own."""
    return st.components.v2.component(
        f"shardlab_{name}",
        html=_read(*sorted(folder.glob("*.html"))),
        css=_read(_HERE / "player.css", *sorted(folder.glob("*.css"))),
        js=source(folder, scripts),
    )


def words(player: str) -> dict[str, str]:
    """What a player says: content/<language>/players.md, what all of them say and its own, by name.

    With them the language's code and its decimal mark, `lang` and `decimal`: a script writes numbers of its own.
    """
    blocks, marks = content.load("players"), {"lang": content.language(), "decimal": style().decimal}
    own = {re.sub(f"^{player}[.]", "", name): text for name, text in blocks.items() if _is_said(name, player)}
    return own | marks


def _is_said(name: str, player: str) -> bool:
    return "." not in name or name.startswith(f"{player}.")


def _read(*paths: Path) -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in paths)
