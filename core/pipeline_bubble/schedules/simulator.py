"""The clock of a pipeline: every action as soon as its rank is free and its input has arrived.

Each rank runs its own actions in the order given, so the result does not depend on the order in which ranks
are looked at: any order that respects the programs and the messages gives the same times. Times are whole
numbers or fractions, so they are exact.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from operator import itemgetter
from typing import Literal

from core.errors import OutOfRangeError, require_non_negative, require_positive
from core.pipeline_bubble.schedules.actions import Action, Kind, Placement, Span, Time

Send = Literal["latency", "serial", "blocking"]

KINDS: tuple[Kind, ...] = ("F", "B", "I", "W")


@dataclass(frozen=True)
class Costs:
    """What each action and each hop takes, in any unit of time.

    A full backward is `backward_input + backward_weight`. `stage_times` gives each stage a forward time of its
    own, its backwards in proportion. `link_delays[s]` is the hop between stage s and stage s + 1, the same both
    ways; between two chunks of one rank a hop is free. `send` says what a link is: a pure delay, one that
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

    Raises OutOfRangeError for an action on a stage that no rank holds, or of a microbatch below 0.
    """
    stages = placement.stages
    by_rank: list[list[Action]] = [[] for _ in range(placement.ranks)]
    rows = [by_rank[placement.rank(stage)] for stage in range(stages)]
    for action in actions:
        stage = action[0]
        if not 0 <= stage < stages:
            raise OutOfRangeError("stage", stage, "below_stages", stages=stages)
        rows[stage].append(action)
    lowest = min(map(itemgetter(2), actions), default=0)
    if lowest < 0:
        raise OutOfRangeError("microbatch", lowest, "or_more", least=0)
    return by_rank


_Route = tuple[int | None, int | None, int | None, Time, Time, tuple[int, int]]
"""What an action of one kind on one stage needs, marks and gives; its duration; its message's hop and link.

The first three are offsets into `_Run.known`, None for nothing. A bare tuple: one is taken apart for every action,
and a named one takes three times as long.
"""


class _Run:
    """One simulation: what each rank has run so far, and what is known to have ended or arrived.

    `known` has a lane of p·v·m slots for each of: activations arrived, gradients arrived, and inputs' halves run.
    A gradient arrives only where a forward has run, so a backward need not ask for its own; on the last stage the
    forward itself is what the backward waits for.
    """

    def __init__(self, actions: Sequence[Action], placement: Placement, costs: Costs) -> None:
        self.placement, self.send = placement, costs.send
        self.programs = programs(actions, placement)
        self.microbatches = 1 + max(map(itemgetter(2), actions), default=0)
        self.known: list[Time | None] = [None] * (3 * placement.stages * self.microbatches)
        self.routes = self._routes(costs)
        self.starts: list[list[Time]] = [[] for _ in range(placement.ranks)]
        self.ends: list[list[Time]] = [[] for _ in range(placement.ranks)]
        self.links: dict[tuple[int, int], Time] = {}
        self.sleepers: dict[int, Iterator[int]] = {}

    def _routes(self, costs: Costs) -> dict[Kind, list[_Route]]:
        stages, rank, hops = self.placement.stages, self.placement.rank, costs.hops(self.placement)

        def slot(lane: int, stage: int) -> int | None:
            return (lane * stages + stage) * self.microbatches if 0 <= stage < stages else None

        def route(kind: Kind, stage: int, duration: Time) -> _Route:
            activation, gradient, half = (slot(lane, stage) for lane in range(3))
            last = stage == stages - 1
            needs, marks, gives, target = {
                "F": (activation if stage else None, None, gradient if last else slot(0, stage + 1), stage + 1),
                "B": (gradient, None, slot(1, stage - 1), stage - 1),
                "I": (gradient, half, slot(1, stage - 1), stage - 1),
                "W": (half, None, None, stage),
            }[kind]
            crosses = 0 <= target < stages and target != stage
            hop = hops[min(stage, target)] if crosses else 0
            return needs, marks, gives, duration, hop, (rank(stage), rank(target if crosses else stage))

        return {
            kind: [route(kind, stage, duration) for stage, duration in enumerate(costs.of(kind, stages))]
            for kind in KINDS
        }

    def to_the_end(self) -> Timeline:
        """Let every rank go as far as it can, and again when what it waits for has arrived."""
        awake: list[Iterator[int]] = []
        awake += [self._work_through(rank, awake) for rank in range(self.placement.ranks)]
        while awake:
            worker = awake.pop()
            slot = next(worker, None)
            if slot is not None:
                self.sleepers[slot] = worker
        cut = [(program, len(ends)) for program, ends in zip(self.programs, self.ends, strict=True)]
        return Timeline(
            self.placement,
            actions=tuple(chain.from_iterable(program[:ran] for program, ran in cut)),
            starts=tuple(chain.from_iterable(self.starts)),
            ends=tuple(chain.from_iterable(self.ends)),
            waiting=tuple(program[ran] for program, ran in cut if ran < len(program)),
        )

    def _work_through(self, rank: int, awake: list[Iterator[int]]) -> Iterator[int]:
        """Run one rank's program up to an input that is missing: yield its slot, and go on when it has been filled.

        What the rank sends wakes the one that sleeps for it. A loop that halts, not a call an action: in 1F1B two
        actions are all that runs before the next halt.
        """
        known, routes, sleepers, blocking = self.known, self.routes, self.sleepers, self.send == "blocking"
        starts, ends = self.starts[rank], self.ends[rank]
        free: Time = 0
        for stage, kind, k in self.programs[rank]:
            needs, marks, gives, duration, hop, link = routes[kind][stage]
            start = free
            if needs is not None:
                ready = known[needs + k]
                while ready is None:
                    yield needs + k
                    ready = known[needs + k]
                start = ready if ready > free else free
            free = start + duration
            starts.append(start)
            ends.append(free)
            if marks is not None:
                known[marks + k] = free
            if gives is not None:
                slot = gives + k
                known[slot] = arrival = self._cross(link, free, hop) if hop else free
                if slot in sleepers:
                    awake.append(sleepers.pop(slot))
                if blocking:
                    free = arrival

    def _cross(self, link: tuple[int, int], end: Time, hop: Time) -> Time:
        """When a message that leaves at `end` has crossed; on a serial link it queues behind the one before it."""
        if self.send != "serial":
            return end + hop
        self.links[link] = max(end, self.links.get(link, 0)) + hop
        return self.links[link]


def _require_length(name: str, values: Sequence[Time], wanted: int) -> None:
    if len(values) != wanted:
        raise OutOfRangeError(f"len({name})", len(values), "one_for_each", wanted=wanted)
