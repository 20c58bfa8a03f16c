"""The pace player: letters typed as they came, slowed down, each with a click that can be heard.

The figure of the page draws them: it hides what is not yet typed by its parameter `live_<figure>`, which goes from
0 to 1. Sound is off until it is pressed, and made in the browser.
"""

from pathlib import Path

from ui.players import kit

SCRIPTS = ("clicks.js", "pace.js")
HERE = Path(__file__).parent

_player = kit.component("pace_player", HERE, SCRIPTS)


def pace_player(
    *,
    key: str,
    figure: str,
    slider: str,
    percent: float,
    letters: int,
    letter_s: float,
    slower: int,
    measured: bool = False,
    present: bool = False,
) -> None:
    """Show Play and Sound for a row of `letters`, each of which took `letter_s`, and one at `percent` of its pace.

    It plays so many times slower than it was, and rests at the end. Until the server has answered, `slider`, a
    control by its key, says the pace. `measured` says that the pace is the machine's.
    """
    timing = {"percent": percent, "letters": letters, "lasts": 1e3 * letters * letter_s * slower, "slower": slower}
    head = {"name": key, "figure": figure, "slider": slider, "measured": measured, "present": present}
    _player(key=key, data={**head, **timing, "words": kit.words("pace")})
