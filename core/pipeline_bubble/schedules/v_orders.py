"""The V-shaped schedules: two chunks a rank, folded so that rank 0 holds the first stage and the last.

A microbatch runs down the ranks through the first chunks and back up through the second, so the rank that starts
it also takes its loss, and no rank waits for the whole pipe to send it a gradient.
Letters: p ranks, m microbatches, r a rank.
"""

from collections import Counter, deque
from dataclasses import dataclass, field

from core.errors import OutOfRangeError
from core.pipeline_bubble.schedules.actions import Action, Kind, whole


def zbv(stages: int, microbatches: int, chunks: int = 2) -> list[Action]:
    """ZBV: halved backwards on a V, the weight's half right behind the input's half until the pipe drains.

    "Zero" is each rank's own count, from its first start to its last end, when the three times are equal. By the
    global clock the first and the last rank wait p - 1 hops at one end, and the bubble is (p - 1)/(6m + p - 1) for
    m ≥ 2p.
    Source: Qi et al. 2024, Pipeline parallelism with controllable memory, arXiv 2405.15362; PyTorch's
    ScheduleZBVZeroBubble.
    """
    p, m = _sizes(stages, microbatches, chunks)
    full = max(m, 2 * p - 1)
    return [action for rank in range(p) for action in _zbv_rank(rank, p, full) if action.microbatch < m]


def dualpipe_v(stages: int, microbatches: int, chunks: int = 2) -> list[Action]:
    """DualPipeV: a V in whose steady state each rank runs a forward of one chunk beside a backward of the other.

    An overlapped pair is listed forward first, backward behind it. What it saves is communication, which runs
    under the other half of a pair: by a clock of compute alone the pairs take the time of their parts, so its
    "zero" holds only on the clock on which a pair is one unit.
    Raises OutOfRangeError for fewer than 2p microbatches.
    Source: DeepSeek-AI, DualPipe (github.com/deepseek-ai/DualPipe); PyTorch's ScheduleDualPipeV.
    """
    p, m = _sizes(stages, microbatches, chunks)
    if m < 2 * p:
        raise OutOfRangeError("microbatches", m, "two_for_each", least=2 * p, stages=p)
    return [action for rank in range(p) for action in _dualpipe_v_rank(rank, p, m)]


@dataclass
class _Program:
    """One rank's program as it is written: the next microbatch of each stage and kind, and the weights put off."""

    actions: list[Action] = field(default_factory=list)
    next_microbatch: Counter[tuple[int, Kind]] = field(default_factory=Counter)
    put_off: deque[Action] = field(default_factory=deque)

    def add(self, *steps: tuple[int, Kind], times: int = 1) -> None:
        """Each (stage, kind) with its own next microbatch. A full backward counts as an input's half done."""
        for stage, kind in steps * times:
            counted: Kind = "I" if kind == "B" else kind
            microbatch = self.next_microbatch[stage, counted]
            self.next_microbatch[stage, counted] += 1
            self.actions.append(Action(stage, kind, microbatch))
            if kind == "I":
                self.put_off.append(Action(stage, "W", microbatch))

    def weight(self, stage: int | None = None) -> None:
        """The weight put off longest, on `stage` if one is named; nothing when there is none."""
        for action in self.put_off:
            if stage in (None, action.stage):
                self.put_off.remove(action)
                self.actions.append(action)
                return

    def count(self, stage: int, kind: Kind) -> int:
        """How many of a kind `stage` has been given."""
        return self.next_microbatch[stage, kind]


def _zbv_rank(rank: int, p: int, m: int) -> list[Action]:
    """One rank of ZBV, for m ≥ 2p - 1 microbatches: warm-up in three parts, steady state, drain."""
    down, up = rank, 2 * p - 1 - rank
    program = _Program()
    program.add((down, "F"), times=2 * (p - rank) - 1)
    program.add((up, "F"), (down, "F"), times=rank)
    for _ in range(p - rank):
        program.add((up, "F"), (up, "I"))
        program.weight()
    while program.count(up, "F") < program.count(down, "F") or program.count(down, "F") < m:
        if program.count(down, "F") < m:
            program.add((down, "F"))
        program.add((down, "I"))
        program.weight()
        program.add((up, "F"), (up, "I"))
        program.weight()
    program.add((down, "I"), (up, "I"), times=rank)
    for _ in range(p - rank):
        program.add((down, "I"))
        program.weight(down)
    for stage in (up, down):
        while any(action.stage == stage for action in program.put_off):
            program.weight(stage)
    return program.actions


def _dualpipe_v_rank(rank: int, p: int, m: int) -> list[Action]:
    """One rank of DualPipeV, for m ≥ 2p microbatches, in the eight steps of its authors."""
    down, up = rank, 2 * p - 1 - rank
    far = p - 1 - rank
    program = _Program()
    program.add((down, "F"), times=2 * far)
    program.add((down, "F"), (up, "F"), times=rank + 1)
    for _ in range(far):
        program.add((up, "I"))
        program.weight()
        program.add((up, "F"))
    program.add((down, "F"), (up, "B"), (up, "F"), (down, "B"), times=m - 2 * p + rank + 1)
    program.add((up, "B"), (up, "F"), (down, "B"), times=far)
    _drain_dualpipe_v(program, rank, down, up)
    for _ in range(far):
        program.weight()
        program.add((down, "I"))
    for _ in range(rank + 1):
        program.weight()
    return program.actions


def _drain_dualpipe_v(program: _Program, rank: int, down: int, up: int) -> None:
    """The last backwards of both chunks by turns, whole at first and halved from the middle on."""
    steps = [stage for _ in range(rank + 1) for stage in (up, down)]
    for index, stage in enumerate(steps):
        program.add((stage, "B" if index < rank + 1 else "I"))


def _sizes(stages: int, microbatches: int, chunks: int) -> tuple[int, int]:
    """Both sizes checked. One chunk, the default of a command, is read as the V's own two."""
    if whole("chunks", chunks) > 2:
        raise OutOfRangeError("chunks", chunks, "on_a_v", chunks=2)
    return whole("stages", stages), whole("microbatches", microbatches)
