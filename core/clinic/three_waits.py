"""One slow rank, three ways to wait for it: the scenario's step under TP, a prompt's ring, and a pipeline.

Whoever waits for the slow one's compute is longer by that share of the step; a ring by the share that is bytes; a
full pipeline by all of it, and one sequence in it by one stage of many.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from core.clinic.case import Bars, bars
from core.collectives.cost import as_measured, ring_all_reduce
from core.comm_cost.bill import Step, allreduce_payload_bytes
from core.comm_cost.kernels import picked_bill
from core.scenario import Scenario
from core.steps.batch_sweep import batched_decode_step_s
from core.steps.straggler import Straggler, lockstep, pipeline_rate, slowed_link, uneven_ring_all_reduce

MOST_DRAWN = 8
"""Ranks, hops or stages a figure shows; more of them are all alike."""

TP, RING, PIPELINE, ONE_TOKEN = "TP step", "ring, a prompt's bytes", "pipeline, full", "pipeline, one sequence"


@dataclass(frozen=True)
class Response:
    """By how much one kind of work takes longer when one rank is slower, both in per cent."""

    kind: str
    slow_percent: float
    longer_percent: float


@dataclass(frozen=True)
class Knob:
    """The scenario with the sizes the straggler scene needs: at least two ranks and two stages."""

    scenario: Scenario

    @property
    def ranks(self) -> int:
        """Ranks of the lockstep and of the ring: the scenario's TP, or two where it is one."""
        return max(2, self.scenario.tp)

    @property
    def stages(self) -> int:
        """The scenario's stages, or four where it has no pipeline."""
        return self.scenario.pp if self.scenario.pp > 1 else 4

    @property
    def slowdown(self) -> Fraction:
        """The slow rank's time over the others'."""
        return self.scenario.slowdown

    @cached_property
    def compute_s(self) -> float:
        """One rank's share of a decode step, undisturbed."""
        scenario = self.scenario
        gpu, dtype = scenario.gpu_spec, scenario.weight_dtype
        return batched_decode_step_s(scenario.model_spec, gpu, scenario.batch, dtype) / self.ranks

    @cached_property
    def comm_s(self) -> float:
        """The all-reduces of a decode step on the scenario's link, by the kernel that an engine picks."""
        step = Step(self.scenario.model_spec, self.ranks, self.scenario.batch)
        return picked_bill(step, self.scenario.link_spec).bill.comm_s

    @property
    def prompt_bytes(self) -> float:
        """What an all-reduce of a prefill carries: enough for the bytes to show."""
        tokens = self.scenario.batch * self.scenario.prompt_tokens
        return allreduce_payload_bytes(tokens, self.scenario.model_spec.hidden_size)

    def step_s(self, slowdown: Fraction | float) -> float:
        """A decode step in lockstep with the last rank slow."""
        times = Straggler(self.ranks - 1, float(slowdown)).slow([self.compute_s] * self.ranks)
        return float(lockstep(times, self.comm_s).step)

    def ring_s(self, slowdown: Fraction | float) -> float:
        """One all-reduce of a prompt with the last hop's link narrowed."""
        link = as_measured(self.scenario.link_spec)
        hops = [link] * (self.ranks - 1) + [slowed_link(link, slowdown)]
        return uneven_ring_all_reduce(self.prompt_bytes, hops).total_s

    def stage_times(self, slowdown: Fraction | float) -> tuple[float, ...]:
        """Each stage's time for one token, the last one's stretched."""
        stage_s = self.compute_s * self.ranks
        times = Straggler(self.stages - 1, float(slowdown)).slow([stage_s / self.stages] * self.stages)
        return tuple(float(time) for time in times)

    def cycle_s(self, slowdown: Fraction | float) -> float:
        """What each further token takes in a full pipeline."""
        return 1 / float(pipeline_rate(self.stage_times(slowdown)))


def responses(knob: Knob, *slow_percents: float) -> list[Response]:
    """What each slowdown makes of each kind of work."""
    even = _works_s(knob, 1)
    return [
        Response(kind, slow_percent, 100 * (slowed_s / even[kind] - 1))
        for slow_percent in slow_percents
        for kind, slowed_s in _works_s(knob, 1 + slow_percent / 100).items()
    ]


def _works_s(knob: Knob, slowdown: float) -> dict[str, float]:
    """How long each kind of work takes with one rank so much slower."""
    return {
        TP: knob.step_s(slowdown),
        RING: knob.ring_s(slowdown),
        PIPELINE: knob.cycle_s(slowdown),
        ONE_TOKEN: sum(knob.stage_times(slowdown)),
    }


def response_lines(knob: Knob) -> list[Response]:
    """The responses from no slowdown to 100 %, or to the scenario's own where it is more."""
    most = max(100, knob.scenario.slow_percent)
    return responses(knob, *(most * share / 10 for share in range(11)))


def tp_bars(knob: Knob) -> Bars:
    """The ranks of a step: compute, waiting for the slow one, the all-reduces."""
    times = Straggler(knob.ranks - 1, float(knob.slowdown)).slow([knob.compute_s] * knob.ranks)
    step = lockstep(times, knob.comm_s)
    return bars(
        "s",
        {
            f"rank {rank}": {
                "compute": float(times[rank]),
                "waiting": float(step.waits[rank]),
                "latency": knob.comm_s,
            }
            for rank in _drawn(knob.ranks)
        },
    )


def ring_bars(knob: Knob) -> Bars:
    """The hops of one prompt's all-reduce: waits, bytes, and standing idle for the slow hop."""
    whole_s = knob.ring_s(knob.slowdown)
    link = as_measured(knob.scenario.link_spec)
    own = [ring_all_reduce(knob.prompt_bytes, knob.ranks, link)] * (knob.ranks - 1)
    own.append(ring_all_reduce(knob.prompt_bytes, knob.ranks, slowed_link(link, knob.slowdown)))
    return bars(
        "s",
        {
            f"hop {hop} → {(hop + 1) % knob.ranks}": {
                "latency": own[hop].latency_s + own[hop].base_s,
                "bandwidth": own[hop].bandwidth_s,
                "waiting": whole_s - own[hop].total_s,
            }
            for hop in _drawn(knob.ranks)
        },
    )


def pipeline_bars(knob: Knob) -> Bars:
    """The stages of a full pipeline in one cycle: at work, and waiting for the slowest."""
    times, cycle_s = knob.stage_times(knob.slowdown), knob.cycle_s(knob.slowdown)
    return bars(
        "s",
        {
            f"stage {stage}": {"compute": times[stage], "waiting": cycle_s - times[stage]}
            for stage in _drawn(knob.stages)
        },
    )


def _drawn(count: int) -> list[int]:
    """The first ones, and the last, which is the slow one."""
    return list(range(count)) if count <= MOST_DRAWN else [*range(MOST_DRAWN - 1), count - 1]
