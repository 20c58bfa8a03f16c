"""Lab 04's bench: what it asks of two schedules and of a pipe that serves, and the rows it draws."""

from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm

from core.errors import OutOfRangeError
from core.pipeline_bubble.layouts import GPUS_PER_NODE, Cluster, Layout, layouts
from core.pipeline_bubble.schedules.actions import Span, Time, exact
from core.pipeline_bubble.schedules.families import FAMILIES, run_same_model
from core.pipeline_bubble.schedules.grid import common_ticks
from core.pipeline_bubble.schedules.paths import critical_path
from core.pipeline_bubble.schedules.report import Report, report
from core.pipeline_bubble.schedules.serving import Pipe, decode, filling_microbatches, steady_decode
from core.pipeline_bubble.schedules.simulator import Costs, Timeline
from core.scenario import Scenario
from core.steps.straggler import Straggler
from core.units import grouped, seconds
from ui.comm_cost.rows import BillRow

COSTS = ("1 : 1 : 1", "2 : 2 : 1", "2 : 3 : 2")
HOPS = ("0", "1/4", "1/2", "1")
WAYS_BACK = ("0", "1", "2", "4")
ROUNDS = 3


@dataclass(frozen=True)
class Versus:
    """Two schedules on one model: `chunks` where a schedule takes them, the last rank a straggler."""

    first: str = "1f1b"
    second: str = "zbv"
    stages: int = 4
    microbatches: int = 8
    chunks: int = 2
    costs: str = COSTS[0]
    hop: str = HOPS[0]
    slowdown: Fraction = Fraction(1)

    def run(self, key: str) -> Timeline:
        """One of the two, timed. Raises OutOfRangeError for sizes it cannot have."""
        forward, backward_input, backward_weight = (int(part) for part in self.costs.split(" : "))
        times = _last_slow(forward, self.stages, self.slowdown)
        costs = Costs(forward, backward_input, backward_weight, times, (exact("hop", self.hop),))
        return run_same_model(FAMILIES[key], self.stages, self.microbatches, self.chunks, costs)


@dataclass(frozen=True)
class Serve:
    """A pipe that decodes: `in_flight` microbatches, the last stage a straggler."""

    stages: int = 8
    in_flight: int = 4
    hop: str = HOPS[0]
    way_back: str = WAYS_BACK[0]
    slowdown: Fraction = Fraction(1)

    @property
    def pipe(self) -> Pipe:
        """Stages of one tick, links and the way back in ticks."""
        hops = (exact("hop", self.hop),) * (self.stages - 1)
        return Pipe(_last_slow(1, self.stages, self.slowdown), hops, exact("way_back", self.way_back))


def _last_slow(time: int, stages: int, slowdown: Fraction) -> tuple[Time, ...]:
    """Stages of one time, the last one slower."""
    slowed = Straggler(stages - 1, slowdown).slow([time] * stages)
    return tuple(Fraction(stage_time) for stage_time in slowed)


@dataclass(frozen=True)
class ScheduleRow:
    """One schedule in numbers. Activations are in microbatches of a whole rank, so that chunks compare."""

    name: str
    chunks: int
    makespan: float
    bubble_fraction: float
    overhead: float
    own_bubble_fraction: float
    most_activations: float


@dataclass(frozen=True)
class HeldRow:
    """The most activations one rank holds at once under one schedule."""

    name: str
    series: str
    rank: int
    held: float


def schedule_row(key: str, timeline: Timeline) -> ScheduleRow:
    """The numbers of one run."""
    found, chunks = report(timeline), timeline.placement.chunks
    return ScheduleRow(
        FAMILIES[key].name,
        chunks,
        float(found.makespan),
        float(found.bubble_fraction),
        float(found.overhead),
        float(found.own_bubble_fraction),
        max(rank.peak_activations for rank in found.ranks) / chunks,
    )


def held_rows(key: str, series: str, timeline: Timeline) -> list[HeldRow]:
    """What each rank holds at most."""
    found: Report = report(timeline)
    return [
        HeldRow(FAMILIES[key].name, series, rank, peak.peak_activations / timeline.placement.chunks)
        for rank, peak in enumerate(found.ranks)
    ]


def shared_ticks(*timelines: Timeline) -> int:
    """The fewest ticks a unit on which all of them can be drawn."""
    return lcm(*(common_ticks(timeline) for timeline in timelines))


def longest_chain(versus: Versus, timeline: Timeline) -> list[Span]:
    """What the run was waiting for."""
    hops = (exact("hop", versus.hop),) * (timeline.placement.stages - 1)
    return critical_path(timeline, Costs(link_delays=hops))


@dataclass(frozen=True)
class ServePoint:
    """Steady decode at one number of microbatches in flight."""

    in_flight: int
    throughput: float
    token_time: float


def serve_curve(serve: Serve) -> list[ServePoint]:
    """Throughput and the time of a token from one microbatch to twice what fills the pipe."""
    most = max(2 * filling_microbatches(serve.pipe), serve.in_flight)
    settled = [(m, steady_decode(serve.pipe, m)) for m in range(1, most + 1)]
    return [ServePoint(m, float(steady.items_per_time), float(steady.cycle)) for m, steady in settled]


def served(serve: Serve) -> Timeline:
    """The first rounds of decode from an empty pipe."""
    return decode(serve.pipe, serve.in_flight, ROUNDS)


@dataclass(frozen=True)
class Compose:
    """Every TP x PP of some GPUs, priced on the page's scenario."""

    gpus: int = 8
    sequences: int = 64


def layout_rows(scenario: Scenario, compose: Compose, beside_one: bool = True) -> list[BillRow]:
    """One bar a composition, and one GPU beside them: a token of one sequence, in compute, waiting and bytes."""
    found = scenario_layouts(scenario, compose) + ([one_gpu(scenario, compose)] if beside_one else [])
    return [_layout_row(layout, compose.sequences) for layout in found]


def one_gpu(scenario: Scenario, compose: Compose) -> Layout:
    """What one GPU that held the whole model would take."""
    return scenario_layouts(scenario, replace(compose, gpus=1))[0]


def scenario_layouts(scenario: Scenario, compose: Compose) -> list[Layout]:
    """The compositions that the scenario's model allows."""
    cluster = Cluster(scenario.gpu_spec, scenario.link_spec, scenario.network_spec)
    found = layouts(
        scenario.model_spec,
        cluster,
        compose.gpus,
        sequences=compose.sequences,
        prompt_tokens=scenario.prompt_tokens,
    )
    if not found:
        raise OutOfRangeError("gpus", compose.gpus, f"cannot be split evenly over the layers of {scenario.model}")
    return found


def _layout_row(found: Layout, sequences: int) -> BillRow:
    crossing = "" if found.tp_size <= GPUS_PER_NODE else ", all-reduces over the network"
    over = f", {found.network_handoffs} over the network" if found.network_handoffs else ""
    handed = f"{found.pp_size - 1} hand-over{'s' if found.pp_size > 2 else ''}{over}"
    detail = f"{handed if found.pp_size > 1 else 'no hand-over'}{crossing}"
    each = f"each of {sequences} gets one every {seconds(found.itl_full_s)}"
    flowing = f"{each}, {grouped(round(found.tokens_per_s))} tokens/s in all"
    return BillRow(
        name=found.name if found.tp_size * found.pp_size > 1 else "one GPU",
        detail=f"{detail}; first token after {seconds(found.ttft_s)}; {flowing}",
        compute_ms=1e3 * found.compute_s,
        latency_ms=1e3 * found.latency_s,
        bandwidth_ms=1e3 * found.bandwidth_s,
        compute=seconds(found.compute_s),
        waiting=seconds(found.latency_s),
        in_words=f"{seconds(found.itl_alone_s)} a token",
    )
