"""What searches, races, traces and single scenes price, each beside the least that links and arithmetic allow.

As `shown`: the planner's engines for a rate, whole and apart; a race; a trace; lab 03's journey, drafts and shared
caches. A rate is told as the time of one request.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from core.collectives.programs import program
from core.comm_cost.bill import Step
from core.comm_cost.decode_attention import WAYS, decode_attention
from core.comm_cost.journey import journey
from core.comm_cost.kernels import picked_kernel
from core.models.kv_cache import kv_bytes_per_token, sequence_bytes
from core.models.parameters import multiplied_parameters
from core.placement.layout import Layout
from core.placement.plan import Question
from core.placement.planner import AtRate, Placement
from core.placement.sizing import Sizing
from core.serving.simulate import LoadResult
from core.specs import GpuSpec, LinkSpec, ModelSpec
from core.steps.model import ACTIVATION_BYTES, prefill_flops
from core.steps.narrow import peak_flops
from core.steps.speculation import speculation
from core.strategy.race import Race
from tests.core.referee.clock import busiest_s
from tests.core.referee.fabric import Fabric
from tests.core.referee.shown import Shown, bare, decode_least_s, fabric_of, played_s, prefill_least_s


def request_least_s(question: Question, reads: bool = True, writes: bool = True) -> float:
    """The arithmetic of one request on one GPU: its prompt but for the part that is cached, and its output."""
    model, demand = question.model, question.demand
    read = prefill_flops(model, demand.prompt_tokens - demand.cached_tokens) if reads else 0.0
    checked = (1 + demand.draft_tokens) / demand.tokens_a_step
    written = 2 * multiplied_parameters(model) * (demand.output_tokens - 1) * checked if writes else 0.0
    return (read + written) / peak_flops(question.cluster.gpu, demand.dtype)


def ports_s(question: Question, side: Layout) -> float:
    """How long a prompt's keys and values keep an engine's ports busy, while every GPU of its node sends so."""
    cluster, demand = question.cluster, question.demand
    own = sequence_bytes(question.model, side.tp_size, demand.prompt_tokens, demand.kv_dtype)
    own /= side.pp_size * side.dcp_size
    each = cluster.gpus_per_node
    fabric = fabric_of(cluster)
    if cluster.nodes == 1:
        return busiest_s([Fabric(bare(cluster.inner)).message("one", 0, 1, own)])
    fabric = replace(fabric, domain=each)
    return busiest_s(fabric.message(str(rank), rank, each + rank, own) for rank in range(each))


def searched(sizing: Sizing) -> Iterator[Shown]:
    """The fewest GPUs for a rate, or the highest rate of some: whole engines, and prefill and decode apart."""
    question = sizing.question
    for way in sizing.together:
        least_s = request_least_s(question) / way.gpus
        yield Shown("placement", "engines", way.name, 1 / way.kept_per_s, least_s)
    for pair in sizing.apart:
        sides = ((pair.prefill, True), (pair.decode, False))
        for side, reads in sides:
            link_s = ports_s(question, side) / side.replicas
            least_s = max(link_s, request_least_s(question, reads, not reads) / side.gpus)
            yield Shown("placement", "engines apart", pair.name, 1 / pair.kept_per_s, least_s)
        crossing_s = max(ports_s(question, side) for side, _ in sides)
        yield Shown("placement", "keys and values between", pair.name, pair.transfer_s, crossing_s)


def judged_at_rate(question: Question, placement: Placement) -> Iterator[Shown]:
    """Plans under a rate: what they complete, and the first token and the gap of their slow requests."""
    for index, told in (placement.at_rate or {}).items():
        layout, least_s = placement.plans[index].layout, request_least_s(question)
        yield Shown("placement", "capacity", layout.name, 1 / told.capacity_per_s, least_s / layout.gpus)
        yield from _slow(question, layout, told)


def _slow(question: Question, layout: Layout, told: AtRate) -> Iterator[Shown]:
    model, gpu, demand = question.model, question.cluster.gpu, question.demand
    ranks = layout.gpus // layout.replicas
    unread = demand.prompt_tokens - demand.cached_tokens
    first_s = prefill_least_s(model, gpu, unread, ranks, demand.dtype)
    gap_s = decode_least_s(model, gpu, 1, 0, ranks, demand.dtype, demand.kv_dtype) / demand.tokens_a_step
    yield Shown("placement", "first token at a rate", layout.name, told.ttft_s, first_s)
    yield Shown("placement", "between tokens at a rate", layout.name, told.itl_s, gap_s)


def raced(question: Question, race: Race) -> Iterator[Shown]:
    """A race: every lane's work on its GPUs, its requests' ways through the link, one answer at the least.

    All lanes serve as many requests, which is what `in_flight` holds of the lanes together.
    """
    model, gpu, demand = question.model, question.cluster.gpu, question.demand
    for lane in race.lanes:
        entrant, ways = lane.entrant, lane.ways
        name, engine = f"{entrant.kind} {entrant.layout.name}", entrant.layout.gpus // entrant.engines
        span_s = lane.end_s - min(ways.arrived)
        work_s = lane.requests * request_least_s(question) / entrant.layout.gpus
        yield Shown("strategy", "race", name, span_s, work_s, float(lane.requests))
        alone_s = prefill_least_s(model, gpu, demand.prompt_tokens, engine, demand.dtype)
        alone_s += (demand.output_tokens - 1) * decode_least_s(
            model, gpu, 1, 0, engine, demand.dtype, demand.kv_dtype
        )
        yield Shown("strategy", "an answer", name, lane.answer_s, alone_s)
        if entrant.readers:
            link_s = ports_s(question, replace(entrant.layout, replicas=1))
            crossing_s = max(ways.ready) - min(ways.first)
            fullest = -(-lane.requests // entrant.writers)
            yield Shown("strategy", "a race's link", name, crossing_s, fullest * link_s)
            yield Shown("strategy", "a race's capacity", name, 1 / entrant.capacity_per_s, link_s / entrant.readers)


def traced(question: Question, layout: Layout, run: LoadResult, output_tokens: float) -> Iterator[Shown]:
    """A trace through an engine: its tokens' arithmetic, and the first token and the gap of its median request."""
    model, gpu, demand = question.model, question.cluster.gpu, question.demand
    ranks = layout.gpus // layout.replicas
    token_s = 2 * multiplied_parameters(model) / (ranks * peak_flops(gpu, demand.dtype))
    yield Shown("placement", "a trace's tokens", layout.name, 1 / run.tokens_per_s, token_s)
    gap_s = decode_least_s(model, gpu, 1, 0, ranks, demand.dtype, demand.kv_dtype)
    _, itl_s = run.at(50)
    yield Shown("placement", "a trace's gap", layout.name, itl_s, gap_s if output_tokens > 1 else 0.0)


def walked(step: Step, gpu: GpuSpec, link: LinkSpec) -> Iterator[Shown]:
    """Lab 03's journey of a token: its sums on the clock, its parts against the roofline, all of it at once."""
    told = journey(step, link)
    least_s = decode_least_s(step.model, gpu, step.tokens, 0, step.tp_size, "bf16", "bf16")
    where = f"{link.key} TP={step.tp_size}"
    computed_s = told.total_s - told.layers * told.sums * told.sum_s
    yield Shown("overview", "a journey's compute", where, computed_s, least_s)
    direct = Fabric(replace(bare(link), latency_s=0.0))
    payload = step.tokens * step.model.hidden_size * ACTIVATION_BYTES
    sum_s = played_s(direct, program("all_reduce", "in_switch", step.tp_size), payload) if told.sums else 0.0
    yield Shown("overview", "a journey's sum", where, told.sum_s, sum_s)


def drafted(step: Step, gpu: GpuSpec, link: LinkSpec, drafts: Sequence[int], acceptance: float) -> Iterator[Shown]:
    """Lab 03's drafts: a token of a pass that reads the weights once, or multiplies all that it checks."""
    for count in drafts:
        told = speculation(step, gpu, link, count, acceptance, 0.1)
        rows = step.tokens * (count + 1)
        least_s = decode_least_s(step.model, gpu, rows, 0, step.tp_size, "bf16", "bf16") / told.tokens
        yield Shown("comm_cost", "drafts", f"{link.key} {count}", told.token_s, least_s, float(step.tokens))


def shared_caches(
    model: ModelSpec, gpu: GpuSpec, link: LinkSpec, ranks: int, sequences: int, context: int
) -> Iterator[Shown]:
    """Lab 03's three ways of a decode step's attention: each cache read once by somebody, each sum on the clock."""
    fabric = Fabric(bare(link))
    cache = sequences * context * kv_bytes_per_token(model)
    read_s = cache / ranks / gpu.memory_bytes_per_s
    payload = sequences * model.hidden_size * ACTIVATION_BYTES
    ring_s = played_s(fabric, program("all_reduce", "ring", ranks), payload)
    if picked_kernel(payload, ranks, link) != "NCCL":  # its own stages are timed, not the link's hops
        ring_s = played_s(
            Fabric(replace(bare(link), latency_s=0.0)), program("all_reduce", "in_switch", ranks), payload
        )
    for way in WAYS:
        told = decode_attention(model, gpu, link, way, ranks, sequences, context)
        yield Shown("comm_cost", "attention", f"{link.key} {way}", told.read_s, read_s, float(sequences))
        least_s = 0.0 if way == "data" else model.num_hidden_layers * ring_s
        yield Shown("comm_cost", "attention's link", f"{link.key} {way}", told.cost.total_s, least_s)
