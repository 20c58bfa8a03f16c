"""A ring all-reduce whose messages are passed one at a time, each when its sender gets to it.

The program is core.collectives.programs': the same messages in the same rounds, and no round for all at once.
A rank's round begins when what it is to receive in the round before has come. So a fast rank runs ahead until the
ring closes on it, and what comes early waits at the door. Times are told by whoever calls.
"""

from collections import deque
from collections.abc import Sequence

import numpy as np

from core.collectives.programs import Array, Message, ring_all_reduce
from core.errors import OutOfRangeError


class RingByHand:
    """A ring under way. `inputs[rank]` is what it adds to the sum: an array of (ranks, numbers a chunk)."""

    def __init__(self, inputs: Sequence[Array], began_s: float = 0.0) -> None:
        ranks = len(inputs)
        if ranks < 2 or any(array.shape != (ranks, *inputs[0].shape[1:]) for array in inputs):
            raise OutOfRangeError("inputs", ranks, "arrays_of_chunks", least=2)
        self.program = ring_all_reduce(ranks)  # in each round rank r's message stands in place r
        self.total: Array = np.sum(inputs, axis=0)  # (ranks, numbers)
        # a last column counts whose parts are in a chunk: it travels and adds up with the numbers
        self._held = [np.column_stack([array, np.ones(ranks)]) for array in inputs]
        self._sent, self._taken = [0] * ranks, [0] * ranks
        self._waiting: list[deque[Array]] = [deque() for _ in range(ranks)]
        self._since_s = [began_s] * ranks
        self._began_s = began_s
        self._ends_s: list[float] = []
        self._passed = [0] * len(self.program.rounds)
        self.took_s: Array = np.full((len(self.program.rounds), ranks), np.nan)
        """How long each rank had the move in each round before it sent: not a number where it has not yet."""

    @property
    def ranks(self) -> int:
        return self.program.ranks

    @property
    def rounds(self) -> int:
        """Rounds of a ring's all-reduce: 2(N-1)."""
        return len(self.program.rounds)

    @property
    def is_done(self) -> bool:
        """Whether every message has been sent, and so every rank holds the sum."""
        return len(self._ends_s) == self.rounds

    def sent(self, rank: int) -> int:
        """In how many rounds a rank has sent: the number of its next one."""
        return self._sent[rank]

    def done(self, rank: int) -> int:
        """How many rounds a rank has behind it: sent and received."""
        return min(self._sent[rank], self._taken[rank])

    def move(self, rank: int) -> Message | None:
        """What a rank may send now; None while what it waits for has not come, and once it has sent all."""
        round_ = self._sent[rank]
        if round_ == self.rounds or self._taken[rank] < round_:
            return None
        return self.program.rounds[round_][rank]

    def since_s(self, rank: int) -> float:
        """When a rank's move, or its waiting, began."""
        return self._since_s[rank]

    def numbers(self, rank: int) -> Array:
        """What a rank holds: (ranks, numbers a chunk)."""
        return self._held[rank][:, :-1]

    def parts(self, rank: int) -> Array:
        """How many ranks' parts are in each chunk that a rank holds."""
        return self._held[rank][:, -1]

    def send(self, rank: int, round_: int, now_s: float) -> bool:
        """Send a rank's chunk of a round to its neighbor; False, and nothing changes, where it is not its move."""
        message = self.move(rank)
        if message is None or self._sent[rank] != round_:
            return False
        self.took_s[round_, rank] = now_s - self._since_s[rank]
        self._waiting[message.target].append(self._held[rank][list(message.chunks)].copy())
        self._sent[rank] += 1
        self._since_s[rank] = now_s
        for affected in (rank, message.target):
            self._take(affected, now_s)
        self._passed[round_] += 1
        while len(self._ends_s) < self.rounds and self._passed[len(self._ends_s)] == self.ranks:
            self._ends_s.append(now_s)
        return True

    def _take(self, rank: int, now_s: float) -> None:
        """Add or put in its place what has come, as far as the rank's own rounds go."""
        while self._waiting[rank] and self._taken[rank] <= self._sent[rank]:
            message = self.program.rounds[self._taken[rank]][rank - 1]
            chunks, came = list(message.slots), self._waiting[rank].popleft()
            self._held[rank][chunks] = self._held[rank][chunks] + came if message.adds else came
            self._taken[rank] += 1
            if self._taken[rank] == self._sent[rank]:
                self._since_s[rank] = now_s

    @property
    def rounds_s(self) -> tuple[float, ...]:
        """How long each round took that all ranks have sent in: from the end of the one before to its own."""
        return tuple(float(took_s) for took_s in np.diff(self._ends_s, prepend=self._began_s))

    @property
    def agree(self) -> int:
        """How many ranks hold the sum of all inputs, in every chunk."""
        return sum(np.array_equal(self.numbers(rank), self.total) for rank in range(self.ranks))
