"""The race player: plans side by side under one stream of requests, their queues and caches over one clock.

It draws what core has counted: how many wait and how full the cache is at each sample, and at each stop the numbers
in words. It counts nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ui.players import kit

SCRIPTS = ("race.js",)
HERE = Path(__file__).parent

_player = kit.component("race_player", HERE, SCRIPTS)


@dataclass(frozen=True)
class Lane:
    """One plan: requests that wait and the share of the cache that is held, by sample; its numbers by stop.

    `verdict` stands under its name once the race is over: `first`, if it won. `named` is the one that was guessed.
    """

    title: str
    detail: str
    waiting: Sequence[int]
    fill: Sequence[float]
    standings: Sequence[Mapping[str, str]]
    verdict: str
    first: bool = False
    named: bool = False


def race_player(
    lanes: Sequence[Lane], times: Sequence[str], *, most_waiting: int, key: str, alt: str, present: bool = False
) -> None:
    """Show the lanes, at rest at the start. A step goes from stop to stop; `times` are the stops in words.

    Samples lie evenly between stops. The queues of all lanes are drawn to one height, `most_waiting`.
    """
    head = {"name": key, "alt": alt, "present": present, "mostWaiting": most_waiting, "words": kit.words("race")}
    _player(key=key, data={**head, "lanes": [vars(lane) for lane in lanes], "times": list(times)})
