"""A room that is a ring of ranks: who holds which rank, whose move it is, and how long each round took.

A rank is a phone's, or simulated: then its messages go out when they are due, worked out whenever somebody looks,
with no thread and no timer. All of it is numbers in memory, for as long as the room.
"""

import threading
from collections.abc import Callable

import numpy as np

from core.collectives.programs import Array
from core.course.cluster.by_hand import RingByHand
from core.course.cluster.standing import WAIT_S, Hand, Rank, Run, Standing

FEWEST, MOST = 2, 64
SIZES = (1, 2, 4)
"""How many numbers a chunk may have."""
LARGEST_PART = 9
AT_RANDOM = -1
"""In place of the rank that is told to be slow."""
SILENT_S, GONE_S = 10.0, 60.0
"""Without a word for so long a phone may be passed for; and it is no longer of the room."""
SIMULATED_ALPHA_S, SIMULATED_S_PER_NUMBER = 1.0, 0.5
MOST_RUNS, MOST_PRESENT = 5, 200


class RoomRing:
    """The ring of one room. `clock` tells seconds; every call may come from any thread."""

    def __init__(self, clock: Callable[[], float], rng: np.random.Generator | None = None) -> None:
        self._clock, self._rng = clock, rng or np.random.default_rng()
        self._lock = threading.Lock()
        self._seen_s: dict[str, float] = {}
        self._seats: list[str] = []
        self._ring: RingByHand | None = None
        self._simulated_s: list[float] = []
        self._numbers, self._number, self._noted, self._began_s = 1, 0, 0, 0.0
        self._slow: int | None = None
        self.used_s = clock()
        self._runs: list[Run] = []

    # Who presides

    def start(self, ranks: int, numbers: int, slow_rank: int | None = None) -> bool:
        """Begin an all-reduce: the phones that came first take its ranks, simulated ones the rest.

        `AT_RANDOM` tells one of the phones to be slow, or a simulated rank where there is none. False, and nothing
        happens, for a ring that is too small or too large, and while one is under way.
        """
        fits = FEWEST <= ranks <= MOST and numbers in SIZES
        fits = fits and (slow_rank in (None, AT_RANDOM) or 0 <= (slow_rank or 0) < ranks)
        with self._lock:
            now_s = self._look()
            if not fits or (self._ring is not None and not self._ring.is_done):
                return False
            present = [who for who in self._seen_s if not self._is_silent(who, now_s)][:ranks]
            self._seats = present + [""] * (ranks - len(present))
            self._simulated_s = [now_s] * ranks
            inputs = self._rng.integers(1, LARGEST_PART, (ranks, ranks, numbers), endpoint=True).astype(float)
            self._ring = RingByHand(list(inputs), now_s)
            chosen = int(self._rng.integers(len(present) or ranks)) if slow_rank == AT_RANDOM else slow_rank
            self._numbers, self._slow, self._began_s, self.used_s = numbers, chosen, now_s, now_s
            self._number += 1
            return True

    def stop(self) -> None:
        """Leave an all-reduce that is under way; what it took is not kept."""
        with self._lock:
            self._ring = None

    def pass_for_silent(self) -> None:
        """From now on the ranks of phones that have fallen silent are simulated ones."""
        with self._lock:
            now_s = self._look()
            self._simulate({who for who in self._seats if who and self._is_silent(who, now_s)}, now_s)

    def standing(self) -> Standing | None:
        """The ring that is under way, or has ended; None before the first."""
        with self._lock:
            now_s, ring = self._look(), self._ring
            if ring is None:
                return None
            ranks = tuple(
                Rank(
                    ring.done(rank),
                    ring.move(rank) is not None,
                    not who,
                    bool(who) and self._is_silent(who, now_s),
                    tuple(map(int, ring.parts(rank))),
                    int(ring.numbers(rank).sum()),
                )
                for rank, who in enumerate(self._seats)
            )
            done = len(ring.rounds_s)
            passed_s = sum(ring.rounds_s) if ring.is_done else now_s - self._began_s
            sums = _whole(ring.total) if ring.is_done else ()
            return Standing(
                self._number, ring.rounds, done, self._numbers, self._slow, passed_s, ranks, ring.agree, sums
            )

    def runs(self) -> tuple[Run, ...]:
        """The all-reduces that have ended, the first one first."""
        with self._lock:
            self._look()
            return tuple(self._runs)

    def present(self) -> int:
        with self._lock:
            now_s = self._look()
            return sum(not self._is_silent(who, now_s) for who in self._seen_s)

    # With a phone

    def here(self, who: str) -> Hand | None:
        """A phone is here: the rank that it holds, or None where it watches."""
        with self._lock:
            now_s = self._look()
            if who in self._seen_s or len(self._seen_s) < MOST_PRESENT:
                self._seen_s[who] = now_s
            return self._hand(who, now_s)

    def leave(self, who: str) -> None:
        """A phone leaves: its rank is passed for from now on."""
        with self._lock:
            now_s = self._look()
            self._seen_s.pop(who, None)
            self._simulate({who}, now_s)

    def send(self, who: str, run: int, round_: int) -> bool:
        """Pass the chunk of a round on; False, and nothing happens, where that is not this phone's move."""
        with self._lock:
            now_s = self._look()
            if not who or self._ring is None or run != self._number or who not in self._seats:
                return False
            self._seen_s[who] = self.used_s = now_s
            rank = self._seats.index(who)
            waited = now_s >= self._ring.since_s(rank) + (WAIT_S if rank == self._slow else 0.0)
            sent = waited and self._ring.send(rank, round_, now_s)
            self._look()
            return sent

    def _hand(self, who: str, now_s: float) -> Hand | None:
        ring = self._ring
        if not who or ring is None or who not in self._seats:
            return None
        rank = self._seats.index(who)
        message, done = ring.move(rank), ring.done(rank)
        came = next((m for m in ring.program.rounds[done - 1] if m.target == rank), None) if done else None
        return Hand(
            self._number,
            rank,
            ring.ranks,
            ring.sent(rank),
            ring.rounds,
            _whole(ring.numbers(rank)),
            tuple(map(int, ring.parts(rank))),
            message.chunks[0] if message else None,
            max(0.0, ring.since_s(rank) + WAIT_S - now_s) if rank == self._slow and message else 0.0,
            came.slots[0] if came else None,
            came is not None and came.adds,
        )

    # Inside the lock

    def _is_silent(self, who: str, now_s: float) -> bool:
        return now_s - self._seen_s.get(who, -GONE_S) >= SILENT_S

    def _look(self) -> float:
        """What has happened by now: simulated ranks send what was due, one after another, each at its own time."""
        now_s, ring = self._clock(), self._ring
        for who in [who for who, seen_s in self._seen_s.items() if now_s - seen_s >= GONE_S]:
            del self._seen_s[who]
        if ring is None:
            return now_s
        dues_s = [self._due_s(ring, rank) for rank in range(ring.ranks)]
        while (due_s := min(dues_s)) <= now_s:
            rank = dues_s.index(due_s)
            ring.send(rank, ring.sent(rank), due_s)
            for affected in (rank, (rank + 1) % ring.ranks):
                dues_s[affected] = self._due_s(ring, affected)
        if ring.is_done and self._noted != self._number:
            self._noted = self._number
            means = tuple(map(float, np.mean(ring.took_s, axis=0)))
            self._runs = [*self._runs, Run(ring.ranks, self._numbers, self._slow, ring.rounds_s, means)][
                -MOST_RUNS:
            ]
        return now_s

    def _due_s(self, ring: RingByHand, rank: int) -> float:
        """When a simulated rank sends; never for one that waits, or is a phone's."""
        if self._seats[rank] or ring.move(rank) is None:
            return float("inf")
        since_s = max(ring.since_s(rank) + (WAIT_S if rank == self._slow else 0.0), self._simulated_s[rank])
        return since_s + SIMULATED_ALPHA_S + self._numbers * SIMULATED_S_PER_NUMBER

    def _simulate(self, gone: set[str], now_s: float) -> None:
        """Phones that have gone leave their ranks to be simulated from now on: what has been is not changed."""
        for rank, who in enumerate(self._seats):
            if who in gone:
                self._seats[rank], self._simulated_s[rank] = "", now_s


def _whole(numbers: Array) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(map(int, chunk)) for chunk in numbers)
