"""What may be asked of a pipe, and what follows: a run and its budget, wrong runs, two schedules, serving.

Each is a question as a frozen row, and its answers are what the row works out. Letters: p stages, m microbatches.
"""

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np

from core.pipeline_bubble.bubble import Budget, FillDrain, run_without_waiting
from core.pipeline_bubble.schedules.actions import Placement, Span, Time
from core.pipeline_bubble.schedules.families import FAMILIES, run_same_model
from core.pipeline_bubble.schedules.orders import mismatched
from core.pipeline_bubble.schedules.paths import Wait, critical_path, waits
from core.pipeline_bubble.schedules.report import Report, report
from core.pipeline_bubble.schedules.serving import (
    Pipe,
    Steady,
    Traffic,
    chunked_prefill_time,
    decode,
    filling_microbatches,
    random_traffic,
    steady_decode,
)
from core.pipeline_bubble.schedules.simulator import Costs, Timeline, simulate
from core.pipeline_bubble.schedules.validity import Violation, violations
from core.steps.straggler import Straggler
from core.text import numbers

MOST_STAGES, MOST_MICROBATCHES = 64, 1024
ROUNDS = 3
LOAD, SEQUENCES, TOKENS_EACH, SEED = Fraction(1, 2), 150, 12, 4
"""Random traffic: half of what one GPU could take, so many sequences of so many tokens, from this seed."""


@dataclass(frozen=True)
class Bench:
    """One run on the bench, and the share of time that may be idle."""

    stages: int = 8
    microbatches: int = 16
    budget_percent: int = 10

    @property
    def run(self) -> FillDrain:
        return FillDrain(self.stages, self.microbatches)

    @property
    def budget(self) -> Budget:
        return Budget(self.stages, Fraction(self.budget_percent, 100))

    def text(self) -> str:
        """The sizes as they are kept in the address: `8x16`."""
        return f"{self.stages}x{self.microbatches}"

    @classmethod
    def pinned(cls, text: str) -> "Bench | None":
        """The sizes that `text` keeps, or None where it keeps none that the bench could have asked for."""
        kept = re.fullmatch(r"(\d{1,2})x(\d{1,4})", text)
        stages, microbatches = map(numbers.whole, kept.groups()) if kept else (0, 0)
        within = 1 <= stages <= MOST_STAGES and 1 <= microbatches <= MOST_MICROBATCHES
        return cls(stages, microbatches) if within else None


@dataclass(frozen=True)
class Cheat:
    """A run that does not wait for its inputs, on every stage or on one, and the rules it breaks."""

    sizes: FillDrain
    one_early: bool = False

    @property
    def early_stage(self) -> int:
        """The stage that starts a tick early, where only one does: one in the middle, never the first."""
        return max(1, self.sizes.stages // 2 - 1)

    @cached_property
    def run(self) -> list[Span]:
        early = self.early_stage if self.one_early else None
        return run_without_waiting(self.sizes.stages, self.sizes.microbatches, early)

    @cached_property
    def broken(self) -> list[Violation]:
        """What the predicate says of it."""
        return list(violations(self.run, self.sizes.stages, self.sizes.microbatches))

    @property
    def count(self) -> int:
        return len(self.broken)

    @property
    def ticks(self) -> Time:
        return max(span.end for span in self.run)


@dataclass(frozen=True)
class Stuck:
    """1F1B on all ranks but the last, which runs GPipe: as far as it comes."""

    sizes: FillDrain

    @cached_property
    def timeline(self) -> Timeline:
        return simulate(mismatched(self.sizes.stages, self.sizes.microbatches), Placement(self.sizes.stages))

    @cached_property
    def waits(self) -> list[Wait]:
        """What each rank waits for, in the order of the ranks; nothing where the two orders agree."""
        return waits(self.timeline)

    @property
    def ran(self) -> int:
        return len(self.timeline.actions)

    @property
    def total(self) -> int:
        """Actions there are: a forward and a backward of each microbatch on each stage."""
        return 2 * self.sizes.stages * self.sizes.microbatches


@dataclass(frozen=True)
class Comparison:
    """Two schedules on one model: `chunks` where a schedule takes them, the last rank a straggler.

    `costs` are a rank's F, I and W of a microbatch.
    """

    first: str = "1f1b"
    second: str = "zbv"
    stages: int = 4
    microbatches: int = 8
    chunks: int = 2
    costs: tuple[int, int, int] = (1, 1, 1)
    hop: Time = 0
    slowdown: Fraction = Fraction(1)

    def side(self, key: str) -> "Side":
        """One of the two, timed. Raises OutOfRangeError for sizes it cannot have."""
        times = _last_slow(self.costs[0], self.stages, self.slowdown)
        costs = Costs(*self.costs, times, (self.hop,))
        run = run_same_model(FAMILIES[key], self.stages, self.microbatches, self.chunks, costs)
        return Side(FAMILIES[key].name, run, self.hop)


@dataclass(frozen=True)
class Side:
    """One schedule's run. What it holds is in microbatches of a whole rank, so that chunks compare."""

    name: str
    timeline: Timeline
    hop: Time

    @cached_property
    def report(self) -> Report:
        return report(self.timeline)

    @property
    def held(self) -> list[Fraction]:
        """The most microbatches' activations each rank holds at once."""
        return [Fraction(rank.peak_activations, self.timeline.placement.chunks) for rank in self.report.ranks]

    @property
    def most_held(self) -> Fraction:
        """On the rank that holds most."""
        return max(self.held)

    def longest_chain(self) -> list[Span]:
        """What the run was waiting for."""
        hops = (self.hop,) * (self.timeline.placement.stages - 1)
        return critical_path(self.timeline, Costs(link_delays=hops))


@dataclass(frozen=True)
class Serving:
    """A pipe that decodes: `in_flight` microbatches, the last stage a straggler."""

    stages: int = 8
    in_flight: int = 4
    hop: Time = 0
    way_back: Time = 0
    slowdown: Fraction = Fraction(1)

    @cached_property
    def pipe(self) -> Pipe:
        """Stages of one tick, links and the way back in ticks."""
        hops = (self.hop,) * (self.stages - 1)
        return Pipe(_last_slow(1, self.stages, self.slowdown), hops, self.way_back)

    @property
    def around(self) -> Time:
        """A token's way through all stages and back."""
        return self.pipe.traverse + self.pipe.return_delay

    @property
    def full(self) -> int:
        """How many in flight keep the slowest stage busy."""
        return filling_microbatches(self.pipe)

    @cached_property
    def steady(self) -> Steady:
        """The rhythm of a full pipe, with all that are in flight."""
        return steady_decode(self.pipe, self.in_flight)

    @cached_property
    def alone(self) -> Steady:
        """The rhythm with a single microbatch in flight."""
        return steady_decode(self.pipe, 1)

    @cached_property
    def best(self) -> Steady:
        """With as many as fill it."""
        return steady_decode(self.pipe, self.full)

    @property
    def busy(self) -> Fraction:
        """The share of its time for which the slowest stage works."""
        return max(self.steady.utilisation)

    def from_empty(self) -> Timeline:
        """The first rounds from an empty pipe."""
        return decode(self.pipe, self.in_flight, ROUNDS)


def _last_slow(time: int, stages: int, slowdown: Fraction) -> tuple[Time, ...]:
    """Stages of one time, the last one slower."""
    return tuple(Fraction(slowed) for slowed in Straggler(stages - 1, slowdown).slow([time] * stages))


@lru_cache(maxsize=64)
def low_traffic(stages: int) -> Traffic:
    """Random arrivals at half of what one GPU could take, met by the same model cut over `stages` GPUs.

    The unit of time is a token of one sequence on one GPU.
    """
    pipe = Pipe((Fraction(1, stages),) * stages)
    return random_traffic(pipe, float(LOAD / TOKENS_EACH), SEQUENCES, TOKENS_EACH, np.random.default_rng(SEED))


@dataclass(frozen=True)
class Prompt:
    """A long prompt on its way through stages, whole or in chunks that follow one another, in ticks."""

    stages: int
    chunks: int = 8

    @property
    def whole(self) -> int:
        """Ticks of a prompt in one piece: all of its chunks' work on every stage in turn."""
        return self.chunks * self.stages

    @property
    def chunked(self) -> int:
        """Ticks of a prompt in chunks, which follow one another through the stages."""
        return int(chunked_prefill_time(self.stages, self.chunks, 1))

    @property
    def gain(self) -> float:
        """How many times sooner its first token comes."""
        return self.whole / self.chunked
