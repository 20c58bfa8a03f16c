"""Rooms: what a lecture's learners predicted, as counts, in the memory of this process and nowhere else.

An instructor's key opens a room; its code, which learners type, is made from the key and does not tell it. As a
machine finds another key of the same code within minutes, a room is its own key's alone. It holds numbers by voter:
a random name that a visit has in it, and no visitor's. Its learners may be the ranks of a ring, too. All of it
is bounded, and gone when nobody has asked, voted or passed a chunk on for two hours.
"""

import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from hmac import compare_digest

from runtime.room_ring import RoomRing

LETTERS = "CDFGHJKLMNPQRTVWXY34679"
"""Without vowels, which make words, and without what is read as another: 0, 1, 2, 5, 8, and S, Z, B."""
CODE_LETTERS = 8
"""The first says which process the room is in; 23^7 are left to guess, and a visit may ask for `MOST_CODES`."""
MOST_CODES = 5
MOST_ROOMS, MOST_QUESTIONS, MOST_VOTERS, MOST_VOTES = 32, 12, 500, 2
LIFE_S = 2 * 3600.0
LONGEST_ADDRESS = 1000
SEEN_S = 60.0
"""So long after its wall was last drawn a room is in use, though nobody has voted."""
LARGEST_VOTE = 1e15
"""Of what is no prediction: beyond it a heap has no place on any axis."""


@dataclass(frozen=True)
class Question:
    """What a room is asked: a page's scene, with the settings on which the answer depends, and that answer."""

    stem: str
    scene: str
    truth: float

    def agrees(self, other: "Question") -> bool:
        """Whether both ask for the same number: the settings that the answer does not depend on may differ."""
        return (self.stem, self.scene) == (other.stem, other.scene) and abs(self.truth - other.truth) < 1e-9


@dataclass(frozen=True)
class Tally:
    """One vote on a question: how many said each number, the lowest first."""

    counts: tuple[tuple[float, int], ...] = ()

    @property
    def voters(self) -> int:
        return sum(count for _, count in self.counts)


@dataclass(frozen=True)
class OpenQuestion:
    """What a room is asking now, where it is found, and whether it still takes votes."""

    question: Question
    address: tuple[tuple[str, str], ...]
    takes_votes: bool


@dataclass
class _Room:
    key: bytes
    asked: OpenQuestion | None = None
    votes: dict[Question, list[dict[str, float]]] = field(default_factory=dict)
    used_s: float = 0.0
    seen_s: float = 0.0
    ring: RoomRing | None = None
    view: str = ""
    notes: str = ""

    @property
    def last_s(self) -> float:
        """When somebody last asked, voted, or passed a chunk on."""
        return max(self.used_s, self.ring.used_s if self.ring else 0.0)

    @property
    def is_empty(self) -> bool:
        """Whether nobody has voted in it, and no phone is a rank of its ring or waits to be one."""
        return not any(map(any, self.votes.values())) and (self.ring is None or not self.ring.present())


def letter_of(server: str) -> str:
    """The letter of a server, by the name that the proxy has for it: app1, app2; the first one's for any other."""
    return {f"app{number}": letter for number, letter in enumerate(LETTERS, 1)}.get(server, LETTERS[0])


def new_key(server: str = "") -> str:
    """A key that nobody has had, to a room of a server."""
    return letter_of(server) + secrets.token_hex(8)


def code_of(key: str) -> str:
    """The code of the room that a key opens. It begins as the key does, with the letter of the room's server.

    >>> len(code_of("a key")), code_of("Ha key")[0]
    (8, 'H')
    """
    number = int.from_bytes(sha256(_bytes(key)).digest())
    rest = (LETTERS[number // len(LETTERS) ** digit % len(LETTERS)] for digit in range(CODE_LETTERS - 1))
    return (key[:1] if key[:1] in set(LETTERS) else LETTERS[0]) + "".join(rest)


def pass_of(key: str) -> str:
    """What lets the notes follow a key's wall, and nothing else: it does not tell the key."""
    return sha256(b"notes of a room " + _bytes(key)).hexdigest()[:16]


def _digest(key: str) -> bytes:
    """What a room keeps of its key."""
    return sha256(b"key of a room " + _bytes(key)).digest()


def _bytes(text: str) -> bytes:
    """A text of any letters, half a pair of UTF-16's among them."""
    return text.encode(errors="surrogatepass")


class Rooms:
    """All rooms of a process. `clock` tells seconds; every call may come from any thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._rooms: dict[str, _Room] = {}

    def ask(self, key: str, question: Question, address: tuple[tuple[str, str], ...] = ()) -> bool:
        """Open the key's room if it is not open, and ask it; what it said before to this question is kept.

        False where there are as many rooms as there may be, where the room is another key's, and for an address
        longer than one of ours.
        """
        with self._lock:
            room = self._own(key, opens=True)
            if room is None or sum(len(name) + len(value) for name, value in address) > LONGEST_ADDRESS:
                return False
            votes = room.votes.pop(question, None) or [{}]
            room.votes[question] = votes
            for oldest in list(room.votes)[:-MOST_QUESTIONS]:
                del room.votes[oldest]
            room.asked = OpenQuestion(question, address, True)
            return True

    def ask_again(self, key: str) -> bool:
        """Begin a second vote on what is asked; the first one is kept. False where there is none to begin."""
        with self._lock:
            room = self._own(key)
            if room is None or room.asked is None:
                return False
            votes = room.votes[room.asked.question]
            if len(votes) >= MOST_VOTES or not votes[-1]:
                return False
            votes.append({})
            return True

    def take_votes(self, key: str, wanted: bool) -> None:
        """Whether what is asked takes votes from now on: none once the answer is shown."""
        with self._lock:
            room = self._own(key)
            if room is not None and room.asked is not None:
                room.asked = OpenQuestion(room.asked.question, room.asked.address, wanted)

    def vote(self, code: str, question: Question, voter: str, value: float) -> bool:
        """Count a voter's number, in place of what the same voter said before; whether it was counted."""
        with self._lock:
            room = self._room(code, uses=True)
            if room is None or room.asked is None or not room.asked.takes_votes or not abs(value) <= LARGEST_VOTE:
                return False
            if not room.asked.question.agrees(question):
                return False
            votes = room.votes[room.asked.question][-1]
            if voter not in votes and len(votes) >= MOST_VOTERS:
                return False
            votes[voter] = float(value)
            return True

    def said(self, code: str, voter: str) -> tuple[float | None, ...]:
        """What a voter said in each vote on what the room is asking; None where nothing."""
        with self._lock:
            room = self._room(code)
            votes = room.votes[room.asked.question] if room and room.asked else []
            return tuple(vote.get(voter) for vote in votes)

    def rename(self, code: str, before: str, after: str) -> None:
        """Let a voter be the one it was before a reload: its votes are that one's, and its rank.

        A page that is loaded during a second vote says the number of the first again; that is no vote.
        """
        with self._lock:
            room = self._room(code)
            for votes in room.votes.values() if room else ():
                for earlier, vote in zip(({}, *votes), votes, strict=False):
                    value = vote.pop(before, None)
                    if value is not None and (after in vote or earlier.get(after) != value):
                        vote[after] = value
            if room and room.ring:
                room.ring.leave(before)

    def asked(self, code: str) -> OpenQuestion | None:
        """What the room of a code is asking; None where there is no such room."""
        with self._lock:
            room = self._room(code)
            return room.asked if room else None

    def tallies(self, code: str) -> tuple[Tally, ...]:
        """What was said to what the room is asking: a tally for each vote, the first one first."""
        with self._lock:
            room = self._room(code)
            if room is None or room.asked is None:
                return ()
            votes = room.votes[room.asked.question]
            return tuple(Tally(tuple(sorted(Counter(vote.values()).items()))) for vote in votes)

    def show(self, key: str, view: str) -> bool:
        """Keep which view the key's wall shows, in its room, opened if need be; False where there is none."""
        with self._lock:
            room = self._own(key, opens=True)
            if room is None or len(view) > LONGEST_ADDRESS:
                return False
            room.view, room.notes = view, pass_of(key)
            return True

    def shown(self, code: str, notes: str) -> str:
        """The view that a room's wall shows, to who has the pass of its notes; nothing to others."""
        with self._lock:
            room = self._room(code)
            may = room is not None and bool(room.notes) and compare_digest(room.notes.encode(), _bytes(notes))
            return room.view if room is not None and may else ""

    def presides(self, key: str) -> bool:
        """Whether a key opened its room, or may: nobody else's is open under its code."""
        with self._lock:
            room = self._room(code_of(key))
            if room is None:
                return True
            its_own = compare_digest(room.key, _digest(key))
            room.seen_s = self._clock() if its_own else room.seen_s
            return its_own

    def ring(self, code: str) -> RoomRing | None:
        """The ring of a room, as its learners have it; None where there is none, or no such room."""
        with self._lock:
            room = self._room(code)
            return room.ring if room else None

    def ring_of_key(self, key: str) -> RoomRing | None:
        """The ring of just this key's room, to preside over: made where there is none. None where no room is."""
        with self._lock:
            room = self._own(key)
            if room is not None:
                room.ring = room.ring or RoomRing(self._clock)
            return room.ring if room else None

    def _own(self, key: str, *, opens: bool = False) -> _Room | None:
        """The room that just this key opened, or opens now."""
        room = self._room(code_of(key), _digest(key) if opens else None, uses=opens)
        return room if room is not None and compare_digest(room.key, _digest(key)) else None

    def _room(self, code: str, opens: bytes | None = None, *, uses: bool = False) -> _Room | None:
        """The room of a code; those that nobody has used for so long are gone."""
        now_s = self._clock()
        for old in [name for name, room in self._rooms.items() if now_s - room.last_s >= LIFE_S]:
            del self._rooms[old]
        room = self._rooms.get(code)
        if room is None and opens is not None:
            if len(self._rooms) >= MOST_ROOMS:
                self._let_go_of_an_empty_one()
            if len(self._rooms) < MOST_ROOMS:
                room = self._rooms[code] = _Room(opens, seen_s=now_s)
        if room is not None and uses:
            room.used_s = now_s
        return room

    def _let_go_of_an_empty_one(self) -> None:
        """The room that has been without a voter for longest makes place; one with voters never does.

        Nor does one whose wall is there: it waits for its first voter.
        """
        left_s = self._clock() - SEEN_S
        empty = [code for code, room in self._rooms.items() if room.is_empty and room.seen_s <= left_s]
        if empty:
            del self._rooms[min(empty, key=lambda code: self._rooms[code].last_s)]


ROOMS = Rooms()
"""Those of this process."""
