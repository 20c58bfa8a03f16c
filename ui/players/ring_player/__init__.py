"""The ring player: chunks moving hop by hop between ranks, and a stopwatch in the bill's two colours.

It draws courses, one algorithm each, side by side on one clock. It computes no time and no sum: when a round
starts, what it carries and what every rank holds after it come in the payload, as shares of the longest course.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from runtime.kept import kept
from ui.players import kit

SCRIPTS = ("layout.js", "draw.js", "ring.js")
HERE = Path(__file__).parent

_player = kit.component("ring_player", HERE, SCRIPTS)


@dataclass(frozen=True)
class Message:
    """So many chunks from one rank to another."""

    source: int
    target: int
    chunks: int


@dataclass(frozen=True)
class Round:
    """Messages that travel at once: when they leave, and how long they cross and pour, as shares of the clock."""

    start: float
    latency: float
    bandwidth: float
    messages: tuple[Message, ...]


@dataclass(frozen=True)
class Course:
    """One algorithm. `held[k][rank][chunk]` are the ranks whose part is in that chunk after k rounds.

    `slow_rank` is told by its label. With `numbers`, as texts of the same shape as `held`, a single course is drawn
    large and each chunk has its own; `names` then say what was done last, before the first round and after each.
    """

    title: str
    detail: str
    total: str
    end: float
    ranks: int
    chunks: int
    rounds: tuple[Round, ...]
    held: tuple[tuple[tuple[tuple[int, ...], ...], ...], ...]
    slow_rank: int | None = None
    numbers: tuple[tuple[tuple[str, ...], ...], ...] = ()
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Stop:
    """A moment worth standing at, or a tick of the axis: its share of the clock, and the time in words."""

    at: float
    text: str


def ring_player(
    courses: Sequence[Course],
    stops: Sequence[Stop],
    ticks: Sequence[Stop],
    *,
    key: str,
    alt: str,
    present: bool = False,
    position: str = "",
) -> None:
    """Show courses side by side over one stopwatch, at rest at the start.

    A step goes from stop to stop; the first stop is 0, and the last 1 unless the axis is longer than the clock.
    `present` draws for a projector. `position` says where it stands in other words than the player's own.
    """
    data = {
        "name": key,
        "alt": alt,
        "present": present,
        "words": kit.words("ring") | ({"position": position} if position else {}),
        "courses": [_plain(course) for course in courses],
        "stops": [asdict(stop) for stop in stops],
        "ticks": [asdict(tick) for tick in ticks],
    }
    _player(key=key, data=data)


@kept
def _plain(course: Course) -> dict[str, object]:
    return asdict(course)
