"""The journey player: one token through layers, sums and links, and what becomes of its speed.

Each choice of ranks, link and batch is a trip that core has timed; all of them come in the payload, so that
choosing another asks the server for nothing. It computes no time: it places what it is given, and moves a clock
over it that is slow in the first layer and fast in the others, which are like it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from ui.players import kit
from ui.players.ring_player import Message

SCRIPTS = ("../ring_player/layout.js", "../ring_player/draw.js", "layout.js", "curve.js", "levels.js", "journey.js")
"""The ring is drawn as the ring player draws it."""
HERE = Path(__file__).parent

_player = kit.component("journey_player", HERE, SCRIPTS)


@dataclass(frozen=True)
class Stop:
    """A moment: which part has just ended, in which round, at what time, and that time in words."""

    moment: str
    number: int
    time: float
    text: str


@dataclass(frozen=True)
class Trip:
    """One choice on the clock, in seconds; `told` is the same in words, by name.

    A layer is `attention`, a `sum`, `mlp` and a sum; a sum is a `launch` and `rounds` of `latency` and `bandwidth`.
    `rate` is tokens a second, `ideal` the same if sums cost nothing; `program` says who sends to whom.
    """

    total: float
    attention: float
    mlp: float
    sum: float
    launch: float
    rounds: int
    latency: float
    bandwidth: float
    rate: float
    ideal: float
    program: str
    fits: bool
    told: Mapping[str, str]
    stops: tuple[Stop, ...]


@dataclass(frozen=True)
class Program:
    """A collective's rounds of messages, and what every rank holds before the first and after each."""

    ranks: int
    chunks: int
    rounds: tuple[tuple[Message, ...], ...]
    held: tuple[tuple[tuple[tuple[int, ...], ...], ...], ...]


@dataclass(frozen=True)
class Choices:
    """What can be chosen, in order, and the places of what is chosen first. Trips lie as [tp][link][batch]."""

    tp: Sequence[int]
    links: Sequence[tuple[str, str]]
    batch: Sequence[int]
    first: tuple[int, int, int]


def journey_player(
    choices: Choices,
    trips: Sequence[Trip],
    programs: Mapping[str, Program],
    *,
    layers: int,
    key: str,
    alt: str,
    param: str,
    present: bool = False,
) -> None:
    """Show the trips, at rest at the start. What is chosen and where it stands is in the address under `param`."""
    data = {
        "name": key,
        "alt": alt,
        "param": param,
        "present": present,
        "layers": layers,
        "words": kit.words("journey"),
        "choices": asdict(choices),
        "trips": [asdict(trip) for trip in trips],
        "programs": {name: asdict(program) for name, program in programs.items()},
    }
    _player(key=key, data=data)
