"""The orders that schedules give: which action each rank runs after which. They do not depend on costs.

Every function is `schedule(stages, microbatches, chunks) -> list[Action]`, rank by rank. `stages` counts ranks p;
each holds v = `chunks` stages, spread in a loop (stage s on rank s mod p), so that a microbatch passes p·v stages.
Letters: p ranks, m microbatches, v chunks, r a rank.
"""

from collections.abc import Callable, Iterable
from itertools import chain, repeat, zip_longest

from core.errors import OutOfRangeError
from core.pipeline_bubble.schedules.actions import Action, Kind, whole

Schedule = Callable[[int, int, int], list[Action]]


def fill_drain(stages: int, microbatches: int, chunks: int = 1) -> list[Action]:
    """Every stage takes the microbatches in order, forward only: the programs of inference, rank by rank.

    >>> [str(action) for action in fill_drain(2, 3)]
    ['0F0', '0F1', '0F2', '1F0', '1F1', '1F2']
    """
    p, m, v = _sizes(stages, microbatches, chunks)
    return [
        action for rank in range(p) for stage in range(rank, p * v, p) for action in _pass(stage, "F", range(m))
    ]


def gpipe(stages: int, microbatches: int, chunks: int = 1) -> list[Action]:
    """All forwards, then all backwards, each in order of the microbatches.

    Source: Huang et al. 2019, GPipe, figure 2.
    """
    return _breadth_first(stages, microbatches, chunks, range)


def looped_bfs(stages: int, microbatches: int, chunks: int = 1) -> list[Action]:
    """All forwards chunk by chunk, then all backwards, last chunk and last microbatch first.

    Source: Lamy-Poirier 2022, arXiv 2211.05953; PyTorch's ScheduleLoopedBFS.
    """
    return _breadth_first(stages, microbatches, chunks, lambda m: range(m - 1, -1, -1))


def one_f_one_b(stages: int, microbatches: int, chunks: int = 1) -> list[Action]:
    """One forward, one backward by turns, once p - 1 - r forwards are in. With chunks it is the interleaved one.

    Source: Narayanan et al. 2019, PipeDream; flushed as in Narayanan et al. 2021, arXiv 2104.04473.
    """
    if chunks != 1:
        return interleaved_1f1b(stages, microbatches, chunks)
    p, m, _ = _sizes(stages, microbatches, chunks)
    return [action for rank in range(p) for action in _by_turns(rank, p, m, 1, m, _distance(rank, p))]


def mismatched(stages: int, microbatches: int) -> list[Action]:
    """A bug: every rank runs 1F1B but the last, which runs GPipe. It waits for itself from the third microbatch on.

    The last rank wants all forwards before its first backward, the others a backward before their next forward.
    """
    p, m, _ = _sizes(stages, microbatches, 1)
    others = [action for action in one_f_one_b(p, m) if action.stage < p - 1]
    return others + [action for action in gpipe(p, m) if action.stage == p - 1]


def interleaved_1f1b(stages: int, microbatches: int, chunks: int = 1) -> list[Action]:
    """One forward, one backward by turns over v chunks, a round of microbatches through each chunk in turn.

    Rounds = max(1, m // p), and m must divide over them.
    Source: Narayanan et al. 2021, arXiv 2104.04473, figure 4; PyTorch's ScheduleInterleaved1F1B.
    """
    p, m, v = _sizes(stages, microbatches, chunks)
    turn = _round(p, m)
    return [
        action
        for rank in range(p)
        for action in _by_turns(rank, p, m, v, turn, (v - 1) * turn + 2 * _distance(rank, p))
    ]


def zb_h1(stages: int, microbatches: int, chunks: int = 1) -> list[Action]:
    """1F1B with the backward halved: the half that others wait for at once, the weight's half r microbatches later.

    One chunk a rank; it keeps no more activations than 1F1B does. With chunks it is the interleaved one.
    Source: Qi et al. 2023, Zero bubble pipeline parallelism, arXiv 2401.10241, section 2.2.
    """
    if chunks != 1:
        return interleaved_zero_bubble(stages, microbatches, chunks)
    p, m, _ = _sizes(stages, microbatches, chunks)
    return [action for rank in range(p) for action in _by_turns(rank, p, m, 1, m, _distance(rank, p), lag=rank)]


def interleaved_zero_bubble(stages: int, microbatches: int, chunks: int = 2) -> list[Action]:
    """Interleaved 1F1B with the backward halved, in PyTorch's order: two or more chunks, short warm-up.

    PyTorch refuses a single chunk, over which there is nothing to interleave: that is ZB-H1.
    Source: PyTorch's ScheduleInterleavedZeroBubble, the ZB1P of arXiv 2401.10241 over several chunks.
    """
    p, m, v = _sizes(stages, microbatches, chunks)
    if v == 1:
        return zb_h1(p, m)
    turn = _round(p, m)
    return [
        action
        for rank in range(p)
        for action in _by_turns(rank, p, m, v, turn, (v - 1) * turn + _distance(rank, p), lag=rank)
    ]


def _by_turns(rank: int, p: int, m: int, v: int, turn: int, warm_up: int, lag: int | None = None) -> list[Action]:
    """One rank's program: `warm_up` forwards, then a forward and a backward by turns, then what is left.

    The i-th forward is of chunk (i // turn) mod v, the i-th backward of the mirrored chunk. With a `lag` backwards
    are halved, and the weight's half of a microbatch comes `lag` backwards after its input's half.
    """
    there = _passes(rank, p, m, turn, range(v), "F")
    back = _passes(rank, p, m, turn, range(v - 1, -1, -1), "B" if lag is None else "I")
    columns: list[Iterable[Action | None]] = [there[warm_up:], back]
    if lag is not None:
        columns.append(chain(repeat(None, lag), _passes(rank, p, m, turn, range(v - 1, -1, -1), "W")))
    return there[:warm_up] + [action for step in zip_longest(*columns) for action in step if action]


def _passes(rank: int, p: int, m: int, turn: int, chunks: Iterable[int], kind: Kind) -> list[Action]:
    """All of one rank's actions of a kind: `turn` microbatches on each of the chunks, then the next `turn`."""
    stages = [chunk * p + rank for chunk in chunks]
    return [
        Action(stage, kind, microbatch)
        for first in range(0, m, turn)
        for stage in stages
        for microbatch in range(first, first + turn)
    ]


def _breadth_first(
    stages: int, microbatches: int, chunks: int, backwards: Callable[[int], Iterable[int]]
) -> list[Action]:
    """All microbatches through a chunk before the next chunk, forward and then back."""
    p, m, v = _sizes(stages, microbatches, chunks)
    actions: list[Action] = []
    for rank in range(p):
        own = range(rank, p * v, p)
        for stage in own:
            actions += _pass(stage, "F", range(m))
        for stage in reversed(own):
            actions += _pass(stage, "B", backwards(m))
    return actions


def _pass(stage: int, kind: Kind, microbatches: Iterable[int]) -> list[Action]:
    return [Action(stage, kind, microbatch) for microbatch in microbatches]


def _distance(rank: int, p: int) -> int:
    """Hops from `rank` to the last rank: how many forwards must be in before its first backward can come."""
    return p - 1 - rank


def _round(p: int, m: int) -> int:
    """Microbatches that pass a chunk before the next chunk's turn.

    Raises OutOfRangeError when the rounds would not be equal.
    """
    rounds = max(1, m // p)
    if m % rounds:
        raise OutOfRangeError("microbatches", m, "rounds", rounds=rounds, stages=p)
    return m // rounds


def _sizes(stages: int, microbatches: int, chunks: int) -> tuple[int, int, int]:
    return whole("stages", stages), whole("microbatches", microbatches), whole("chunks", chunks)
