"""The journey player: one token through layers, sums and links, and what becomes of its speed.

Each choice of ranks, link and batch is a trip that core has timed; all of them come in the payload, so that
choosing another asks the server for nothing. It computes no time: it places what it is given, and moves a clock
over it that is slow in the first layer and fast in the others, which are like it.
"""

from collections.abc import Mapping
from pathlib import Path

from ui.players import kit

SCRIPTS = ("../ring_player/layout.js", "../ring_player/draw.js", "layout.js", "curve.js", "levels.js", "journey.js")
"""The ring is drawn as the ring player draws it."""
HERE = Path(__file__).parent

_player = kit.component("journey_player", HERE, SCRIPTS)


def journey_player(
    choices: Mapping[str, object],
    played: str,
    *,
    layers: int,
    key: str,
    alt: str,
    param: str,
    present: bool = False,
) -> None:
    """Show the trips, at rest at the start. What is chosen and where it stands is in the address under `param`.

    `choices` are what can be chosen, in order, and the places of what is chosen `first`; `played` is JSON,
    written once for every run, of `trips` and `programs`. Trips lie as [tp][link][batch]. A trip is one choice
    on the clock, in seconds, `told` the same in words: a layer is `attention`, a `sum`, `mlp` and a sum; a sum
    is a `launch` and `rounds` of `latency` and `bandwidth`; `rate` is tokens a second, `ideal` the same if sums
    cost nothing. Each of its `stops` is the moment at which a part ends. Its `program` says who sends to whom,
    and what every rank holds before the first round and after each.
    """
    data = {
        "name": key,
        "alt": alt,
        "param": param,
        "present": present,
        "layers": layers,
        "words": kit.words("journey"),
        "choices": choices,
        "played": played,
    }
    _player(key=key, data=data)
