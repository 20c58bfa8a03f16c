"""The clock of a pipeline: every action as soon as its rank is free and its input has arrived.

Each rank runs its own actions in the order given, so the result does not depend on the order in which ranks
are looked at: any order that respects the programs and the messages gives the same times. Times are whole
numbers or fractions, so they are exact.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import Literal

from core.errors import OutOfRangeError, require_non_negative, require_positive
from core.schedules.actions import Action, Kind, Placement, Span, Time

Send = Literal["latency", "serial", "blocking"]

KINDS: tuple[Kind, ...] = ("F", "B", "I", "W")
BEFORE: dict[Kind, Kind] = {"B": "F", "I": "F", "W": "I"}
"""What the same stage must have done first with the same microbatch."""

_Key = tuple[str, int, int]


@dataclass(frozen=True)
class Costs:
    """What each action and each hop takes, in any unit of time.

    A full backward is `backward_input + backward_weight`. `stage_times` gives each stage a forward time of its
    own, its backwards in proportion. `link_delays[s]` is the hop between stage s and stage s + 1, the same both
    ways; between two chunks of one rank a hop is free. `send` says what a link is: a pure delay, a wire that
    carries one message at a time, or a delay during which the sender cannot compute.
    """

    forward: Time = 1
    backward_input: Time = 1
    backward_weight: Time = 1
    stage_times: tuple[Time, ...] = ()
    link_delays: tuple[Time, ...] = ()
    send: Send = "latency"

    def __post_init__(self) -> None:
        require_positive(forward=float(self.forward))
        require_non_negative(backward_input=float(self.backward_input))
        require_non_negative(backward_weight=float(self.backward_weight))
        for time in self.stage_times:
            require_positive(stage_time=float(time))
        for delay in self.link_delays:
            require_non_negative(link_delay=float(delay))

    def of(self, kind: Kind, stages: int) -> list[Time]:
        """How long an action of `kind` takes on each of the stages."""
        base = {
            "F": self.forward,
            "B": self.backward_input + self.backward_weight,
            "I": self.backward_input,
            "W": self.backward_weight,
        }[kind]
        if not self.stage_times:
            return [base] * stages
        _require_length("stage_times", self.stage_times, stages)
        return [Fraction(base) * time / self.forward for time in self.stage_times]

    def hops(self, placement: Placement) -> list[Time]:
        """The delay from each stage to the next; 0 where both are on one rank."""
        boundaries = placement.stages - 1
        if not self.link_delays:
            return [0] * boundaries
        _require_length("link_delays", self.link_delays, boundaries)
        return [
            delay if placement.rank(stage) != placement.rank(stage + 1) else 0
            for stage, delay in enumerate(self.link_delays)
        ]


@dataclass(frozen=True)
class Timeline:
    """What ran when. Three columns of equal length, each rank's actions in the order they ran.

    `waiting` is empty when all of it ran. Otherwise it holds, for each rank that is stuck, the action it waits
    with: its input will never come.
    """

    placement: Placement
    actions: tuple[Action, ...]
    starts: tuple[Time, ...]
    ends: tuple[Time, ...]
    waiting: tuple[Action, ...] = ()

    @property
    def makespan(self) -> Time:
        """When the last action ends; the first starts at 0."""
        return max(self.ends, default=0)

    @property
    def busy(self) -> Time:
        """Time spent computing, over all ranks. Sending is not computing."""
        return sum(self.ends) - sum(self.starts)

    def __iter__(self) -> Iterator[Span]:
        rank = self.placement.rank
        for action, start, end in zip(self.actions, self.starts, self.ends, strict=True):
            yield Span(action, rank(action.stage), start, end)


def simulate(actions: Sequence[Action], placement: Placement, costs: Costs | None = None) -> Timeline:
    """Run each rank's actions in order, each as soon as its rank is free and its input is there.

    A schedule that waits for itself is not an error: what could run is in the timeline, and what could not is
    in its `waiting`.
    """
    return _Run(actions, placement, costs or Costs()).to_the_end()


def programs(actions: Sequence[Action], placement: Placement) -> list[list[Action]]:
    """Each rank's own actions, in the order the schedule lists them.

    Raises OutOfRangeError for an action on a stage that no rank holds.
    """
    by_rank: list[list[Action]] = [[] for _ in range(placement.ranks)]
    rank_of = [placement.rank(stage) for stage in range(placement.stages)]
    for action in actions:
        if not 0 <= action.stage < placement.stages:
            raise OutOfRangeError("stage", action.stage, f"must be below {placement.stages}, the number of stages")
        by_rank[rank_of[action.stage]].append(action)
    return by_rank


class _Run:
    """One simulation: how far each rank has come, when it is free, and what has arrived where.

    A message is named by what it lets run: ("F", stage, microbatch) an activation, ("B", ...) a gradient.
    """

    def __init__(self, actions: Sequence[Action], placement: Placement, costs: Costs) -> None:
        self.placement, self.last = placement, placement.stages - 1
        self.rank_of = [placement.rank(stage) for stage in range(placement.stages)]
        self.programs = programs(actions, placement)
        self.durations = {kind: costs.of(kind, placement.stages) for kind in KINDS}
        self.hops, self.send = costs.hops(placement), costs.send
        self.starts: list[list[Time]] = [[] for _ in range(placement.ranks)]
        self.ends: list[list[Time]] = [[] for _ in range(placement.ranks)]
        self.free: list[Time] = [0] * placement.ranks
        self.wires: dict[tuple[int, int], Time] = {}
        self.done: set[_Key] = set()
        self.arrived: dict[_Key, Time] = {}
        self.sleepers: dict[_Key, int] = {}

    def to_the_end(self) -> Timeline:
        """Let every rank go as far as it can, and again when what it waits for has arrived."""
        awake = list(range(self.placement.ranks))
        while awake:
            awake += self._advance(awake.pop())
        cut = [(program, len(ends)) for program, ends in zip(self.programs, self.ends, strict=True)]
        return Timeline(
            self.placement,
            actions=tuple(chain.from_iterable(program[:ran] for program, ran in cut)),
            starts=tuple(chain.from_iterable(self.starts)),
            ends=tuple(chain.from_iterable(self.ends)),
            waiting=tuple(program[ran] for program, ran in cut if ran < len(program)),
        )

    def _advance(self, rank: int) -> list[int]:
        """Run `rank` until its program ends or an input is missing; the ranks that this has woken."""
        starts, ends = self.starts[rank], self.ends[rank]
        woken: list[int] = []
        for action in self.programs[rank][len(ends) :]:
            ready = self._input(action, rank)
            if ready is None:
                break
            start = max(self.free[rank], ready)
            end = start + self.durations[action.kind][action.stage]
            starts.append(start)
            ends.append(end)
            self.free[rank] = self._deliver(action, end, woken)
        return woken

    def _input(self, action: Action, rank: int) -> Time | None:
        """When what `action` needs is there. None, and the rank asleep until it comes, if it is not."""
        stage, kind, microbatch = action.stage, action.kind, action.microbatch
        if kind == "F":
            if stage == 0:
                return 0
        elif (BEFORE[kind], stage, microbatch) not in self.done:
            return None
        elif kind == "W" or stage == self.last:
            return 0
        message = ("F" if kind == "F" else "B", stage, microbatch)
        if message not in self.arrived:
            self.sleepers[message] = rank
            return None
        return self.arrived[message]

    def _deliver(self, action: Action, end: Time, woken: list[int]) -> Time:
        """Send the result of `action` to the stage that needs it; when its own rank is free again."""
        stage, kind, microbatch = action.stage, action.kind, action.microbatch
        self.done.add((kind, stage, microbatch))
        target = stage + 1 if kind == "F" else stage - 1
        if kind == "W" or not 0 <= target <= self.last:
            return end
        message = ("F" if kind == "F" else "B", target, microbatch)
        self.arrived[message] = arrival = self._cross(stage, target, end)
        if message in self.sleepers:
            woken.append(self.sleepers.pop(message))
        return arrival if self.send == "blocking" else end

    def _cross(self, stage: int, target: int, end: Time) -> Time:
        """When a message that leaves at `end` has crossed; on a serial wire it queues behind the one before it."""
        hop = self.hops[min(stage, target)]
        if self.send != "serial" or not hop:
            return end + hop
        wire = (self.rank_of[stage], self.rank_of[target])
        self.wires[wire] = max(end, self.wires.get(wire, 0)) + hop
        return self.wires[wire]


def _require_length(name: str, values: Sequence[Time], wanted: int) -> None:
    if len(values) != wanted:
        raise OutOfRangeError(f"len({name})", len(values), f"must be {wanted}, one for each")
