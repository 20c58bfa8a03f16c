"""A placed plan under load: the cost of its engine's steps, and every plan judged at the rate that was asked."""

from dataclasses import dataclass, replace
from math import inf

from core.errors import OutOfRangeError
from core.placement.plan import Plan, Question
from core.placement.planner import AtRate, Placement, place
from core.serving.arrivals import poisson_arrivals, seeded
from core.serving.curve import Promise, highest_kept, load_curve
from core.serving.load import EngineCost
from core.serving.simulate import LoadResult, simulate


def engine_cost(question: Question, plan: Plan) -> EngineCost:
    """What the steps of one of a plan's engines take, at the lengths that the question asks.

    Decode is timed at 1, 2, 4, … sequences up to what its memory holds. A pipeline reads a prompt in each of its
    stages at once, and data-parallel attention one in each copy: they hold the engine for that share of a first
    token's time, and the rest is delay.

    Where memory would hold more, as many run at once as vLLM allows on such a GPU.
    Raises OutOfRangeError for a plan that does not fit.
    """
    layout, demand = plan.layout, question.demand
    one = replace(layout, replicas=1)
    most_running = min(question.cluster.gpu.vllm_sequences, plan.max_concurrency // layout.replicas)
    if most_running < 1:
        raise OutOfRangeError("max_concurrency", plan.max_concurrency, "no_room")
    batches = tuple(sorted({min(2**power, most_running) for power in range(most_running.bit_length() + 1)}))
    steps = question.steps(one)
    prefill_s = steps.ttft_s / (layout.pp_size * layout.dp_size)
    return EngineCost(
        prompt_tokens=demand.prompt_tokens,
        output_tokens=demand.output_tokens,
        prefill_s=prefill_s,
        batches=batches,
        decode_s=tuple(map(steps.itl_s, batches)),
        most_running=most_running,
        prefill_delay_s=steps.ttft_s - prefill_s,
        added_fraction=steps.added_fraction(max(1, most_running // 2)),
    )


CHUNKS = (256, 512, 1024, 2048, 4096, 8192, 16384)
"""Prompt tokens that a step may read, as `--max-num-batched-tokens` sets them."""


def chunk_tokens(question: Question, cost: EngineCost) -> int:
    """The longest piece of a prompt that a step can read beside half of what it can run, and keep the target.

    Of what is read where nobody sets it where no target bounds the time between tokens.
    """
    usual, target_s = question.cluster.gpu.vllm_batched_tokens, question.demand.slo_itl_s
    if target_s is None:
        return usual
    left_s = target_s - cost.decode_at(max(1, cost.most_running // 2))
    tokens = left_s / cost.added_s * cost.prompt_tokens
    return min(usual, max((chunk for chunk in CHUNKS if chunk <= tokens), default=CHUNKS[0]))


REQUESTS = 200
"""Requests that each engine is sent where plans are judged at a rate: two of them lie past p99."""


def place_under_load(question: Question) -> Placement:
    """Judge every layout, and where a rate was asked, each that fits under its share of it."""
    placement = place(question)
    if question.demand.requests_per_s is None:
        return placement
    return replace(
        placement, at_rate={index: at_rate(question, placement.plans[index]) for index in placement.fitting}
    )


def at_rate(question: Question, plan: Plan) -> AtRate:
    """A plan under the rate asked, spread at random over its replicas; endless waits above what they can complete.

    A step reads as much of a prompt as the target between tokens leaves time for, as where GPUs are counted.

    The same arrivals for every plan, from one seed, so that two plans differ by what they are.
    """
    demand, replicas = question.demand, plan.layout.replicas
    assert demand.requests_per_s is not None
    cost = engine_cost(question, plan)
    rate, most = demand.requests_per_s / replicas, replicas * cost.capacity_per_s
    chunk = chunk_tokens(question, cost)
    if rate >= cost.capacity_per_s:
        return AtRate(most, inf, inf, chunk)
    arrivals = poisson_arrivals(1.0, REQUESTS, seeded(0)) / rate
    return AtRate(most, *simulate(cost, arrivals, chunk).at(demand.percentile), chunk)


LADDER_REQUESTS = 1000
"""Requests of each run, fewer where prompts are long: the ladder's twelve runs take a third of a second."""


@dataclass(frozen=True)
class LoadAsk:
    """What is promised of the slowest hundredth, how much of a prompt a step reads, and which arrivals."""

    ttft_ms: float = 1000.0
    itl_ms: float = 100.0
    chunk_tokens: int = 2048
    seed: int = 0

    @property
    def promise(self) -> Promise:
        return Promise(self.ttft_ms / 1e3, self.itl_ms / 1e3)


@dataclass(frozen=True)
class Loaded:
    """A plan's engine over its ladder of rates. Those of `curve` are one engine's; `engines` share the whole."""

    plan: Plan
    ask: LoadAsk
    cost: EngineCost
    curve: tuple[LoadResult, ...]

    @property
    def engines(self) -> int:
        """Replicas that requests are distributed to at random."""
        return self.plan.layout.replicas

    @property
    def kept(self) -> LoadResult | None:
        """The highest rate that keeps both promises."""
        return highest_kept(self.curve, self.ask.promise)


def loaded(question: Question, plan: Plan, ask: LoadAsk) -> Loaded:
    """The plan's engine, run at each rate of the ladder with one seed."""
    cost = engine_cost(question, plan)
    curve = load_curve(cost, LADDER_REQUESTS, seeded(ask.seed), chunk_tokens=ask.chunk_tokens)
    return Loaded(plan, ask, cost, curve)
