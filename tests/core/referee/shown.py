"""What pages price for one scenario, each beside the least that links, memory and arithmetic allow.

The least is the data sheet's: full bandwidth, the same latency, no launch, everything that may overlap overlapped.
Links are replayed on the referee's clock, message by message, with the ports that are shared. `in_flight` is how
many sequences a time is of, by Little's law: those of one figure must agree, or the comparison is none.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from core.collectives.programs import Program, hierarchical_all_reduce, program
from core.comm_cost.bill import Step, bill, priced_ends
from core.comm_cost.expert_parallel import expected_distinct_ranks, expert_parallel_bill
from core.comm_cost.kernels import picked_bill, picked_kernel
from core.comm_cost.node_boundary import node_bill
from core.models.kv_cache import kept_tokens, kv_bytes_per_token_per_rank
from core.models.loaded_weights import stages
from core.models.parameters import multiplied_parameters
from core.models.weights import read_weight_bytes
from core.pipeline_bubble.layouts import Cluster, layouts
from core.placement.cluster import ClusterSpec
from core.placement.layout import Layout
from core.placement.plan import Plan, Question
from core.specs import GpuSpec, LinkSpec, ModelSpec
from core.steps.model import ACTIVATION_BYTES, TensorGroup, prefill_flops
from core.steps.narrow import peak_flops
from core.strategy.disaggregation import Request, handoff
from core.strategy.training.choice import transfer_link
from core.strategy.training.layout import Strategy
from core.strategy.training.memory import Job
from core.strategy.training.traffic import Transfer, training_traffic
from tests.core.referee.clock import Work, busiest_s, replay
from tests.core.referee.fabric import Fabric, around

_NAMES = {"one stage": "one_shot", "two stages": "two_shot", "half butterfly": "two_shot"}
LAPS = 6


@dataclass(frozen=True)
class Shown:
    """A time on a page, and the least it could be; `in_flight` is 0 where no sequence is served."""

    page: str
    figure: str
    row: str
    told_s: float
    least_s: float
    in_flight: float = 0.0

    @property
    def beats(self) -> bool:
        """Whether what is told is faster than what is possible; a clock that looks at no later work may lose a
        thousandth where a port is shared."""
        return self.told_s < self.least_s * (1 - 1e-3)


def bare(link: LinkSpec) -> LinkSpec:
    """A link by its data sheet: no launch, no ramp."""
    return replace(link, base_s=0.0, ramp=0.0)


def played_s(fabric: Fabric, played: Program, payload_bytes: float) -> float:
    """One collective on the clock."""
    return replay(fabric.collective(played, payload_bytes)).end_s


def picked_name(step: Step, link: LinkSpec) -> str:
    """The program of the kernel that an engine picks for a step's all-reduce."""
    return _NAMES.get(picked_kernel(step.payload_bytes, step.tp_size, link), "ring")


def picked_least_s(step: Step, link: LinkSpec) -> float:
    """The least for one such all-reduce; a kernel's own stages are timed, not the link's hops."""
    direct = Fabric(replace(bare(link), latency_s=0.0))
    return played_s(direct, program("all_reduce", picked_name(step, link), step.tp_size), step.payload_bytes)


def bills(model: ModelSpec, tp_size: int, tokens: int, link: LinkSpec) -> Iterator[Shown]:
    """Lab 03: a step's all-reduces as a ring, by the kernel an engine picks, and what the model's ends send."""
    step = Step(model, tp_size, tokens)
    fabric = Fabric(bare(link))
    ring_s = played_s(fabric, program("all_reduce", "ring", tp_size), step.payload_bytes)
    yield Shown("comm_cost", "bill", link.key, bill(step, link).comm_s, step.all_reduces * ring_s)
    told_s = picked_bill(step, link).bill.comm_s
    least_s = step.all_reduces * picked_least_s(step, link)
    yield Shown("comm_cost", "kernels", f"{link.key} {picked_name(step, link)}", told_s, least_s)
    for end in priced_ends(step, link):
        least_s = played_s(fabric, program(end.op, "ring", tp_size), end.payload_bytes)
        yield Shown("comm_cost", "ends", f"{link.key} {end.layer}", end.time_s, least_s)


def over_nodes(
    model: ModelSpec, tp_size: int, tokens: int, gpus_per_node: int, inside: LinkSpec, network: LinkSpec
) -> Iterator[Shown]:
    """Lab 03's node boundary, lab 04's and the planner's all-reduce over nodes."""
    step = Step(model, tp_size, tokens)
    local, nodes = min(tp_size, gpus_per_node), max(1, tp_size // gpus_per_node)
    fabric = Fabric(bare(inside), local, bare(network))
    least_s = played_s(fabric, hierarchical_all_reduce(local, nodes), step.payload_bytes)
    told = node_bill(step, gpus_per_node, inside, network)
    where = f"{inside.key} {network.key} TP={tp_size}"
    yield Shown("comm_cost", "nodes", where, told.whole.comm_s, step.all_reduces * least_s)
    group = TensorGroup(tp_size, inside, gpus_per_node, network)
    if not group.crosses:
        least_s = picked_least_s(step, inside)
    yield Shown("placement", "all-reduce", where, group.all_reduce_s(step.payload_bytes), least_s)


def experts(model: ModelSpec, tokens: int, ranks: int, link: LinkSpec) -> Iterator[Shown]:
    """Lab 03: dispatch and combine of one layer, direct, each rank a share of the rows."""
    told = expert_parallel_bill(model, tokens, ranks, link)
    rows = tokens / ranks * told.copies
    payload = rows * model.hidden_size * ACTIVATION_BYTES
    least_s = played_s(Fabric(bare(link)), program("all_to_all", "direct", ranks), payload)
    yield Shown("comm_cost", "experts", link.key, told.comm_s, 2 * told.layers * least_s)


def handed_over(request: Request, link: LinkSpec) -> Iterator[Shown]:
    """Prefill apart: each rank's keys and values to its counterpart, the ranks of a node all at once."""
    ranks, domain = request.group.tp_size, min(request.group.tp_size, request.group.gpus_per_node)
    own = request.prompt_tokens * kv_bytes_per_token_per_rank(request.model, ranks, request.kv_dtype)
    apart = -(-ranks // domain) * domain if link.reach == "network" else ranks
    inside = Fabric(bare(link)) if link.reach == "node" else Fabric(bare(link), domain, bare(link))
    works = [inside.message(str(rank), rank, apart + rank, own) for rank in range(ranks)]
    told = handoff(request, link)
    yield Shown("strategy", "hand-over", f"{link.key} TP={ranks}", told.transfer_s, replay(works).end_s)
    least_s = prefill_least_s(request.model, request.gpu, request.prompt_tokens, ranks, "bf16")
    yield Shown("strategy", "prefill", f"TP={ranks}", told.prefill_s, least_s)
    context = request.prompt_tokens + request.output_tokens / 2
    least_s = decode_least_s(
        request.model, request.gpu, request.sequences, context, ranks, "bf16", request.kv_dtype
    )
    yield Shown("strategy", "step", f"TP={ranks}", told.decode_step_s, least_s)


def plans(question: Question, judged: Sequence[Plan]) -> Iterator[Shown]:
    """The planner: every plan that fits, its pipeline on the clock with bare links and the roofline's stages."""
    for plan in judged:
        if plan.timing is None:
            continue
        timing, layout = plan.timing, plan.layout
        step_s, first_s, hops = _pipeline(question, layout, timing.concurrency)
        microbatches = min(layout.pp_size, max(1, timing.concurrency // layout.attention_copies))
        around_s = _cycle_s(step_s, hops, microbatches) / question.demand.tokens_a_step
        in_flight = timing.tokens_per_s * timing.itl_s
        yield Shown("placement", "between tokens", layout.name, timing.itl_s, around_s, in_flight)
        yield Shown("placement", "first token", layout.name, timing.ttft_s, first_s)
        checked = (1 + question.demand.draft_tokens) / question.demand.tokens_a_step
        arithmetic_s = checked * 2 * multiplied_parameters(question.model) / (
            layout.gpus * peak_flops(question.cluster.gpu, question.demand.dtype)
        )  # fmt: skip
        yield Shown("placement", "a token", layout.name, 1 / timing.tokens_per_s, arithmetic_s)
        yield Shown(
            "placement", "sustained", layout.name, 1 / timing.sustained_tokens_per_s, 1 / timing.tokens_per_s
        )


def transfers(model: ModelSpec, strategy: Strategy, cluster: ClusterSpec, job: Job) -> Iterator[Shown]:
    """The strategies: a training step's collectives over data-parallel ranks, all groups of a node at once."""
    fabric = fabric_of(cluster)
    for transfer in training_traffic(model, strategy, job):
        if transfer.axis != "dp" or transfer.ranks != strategy.dp_size:
            continue
        least_s = transfer.count * _rings_s(fabric, transfer, strategy)
        told_s = transfer.cost(transfer_link(transfer, cluster, strategy)).total_s
        yield Shown("strategy", "data parallel", f"{strategy.name} {transfer.why}", told_s, least_s)


def _rings_s(fabric: Fabric, transfer: Transfer, strategy: Strategy) -> float:
    """Every tensor-parallel rank's rings over its data-parallel peers, all at the same time.

    A group has as many rings as members in a domain, each of which leaves the domain at another of them. No order
    of so many is the best, so the least is what the fullest port is busy for.
    """
    tp, played = strategy.tp_size, program(transfer.op, "ring", transfer.ranks)
    members = max(1, min(transfer.ranks, fabric.domain // tp))
    rings = members if transfer.ranks > members else 1
    works = [
        work
        for lane in range(tp)
        for turn in range(rings)
        for work in _placed(fabric, played, transfer.payload_bytes / rings, _Place(lane, tp, turn, members))
    ]
    return busiest_s(works)


class _Place(NamedTuple):
    """Which GPU a ring's rank is: of tensor-parallel `lane`, and `turn` places on within its domain."""

    lane: int
    stride: int
    turn: int
    members: int

    def gpu(self, rank: int) -> int:
        domain, member = divmod(rank, self.members)
        return self.lane + self.stride * (domain * self.members + (member + self.turn) % self.members)


def _placed(fabric: Fabric, played: Program, payload_bytes: float, place: _Place) -> Iterator[Work]:
    """A ring's messages between the GPUs it is placed on, named apart from those of other rings."""
    mark = f"{place.lane}.{place.turn}:"
    rounds = tuple(
        tuple(replace(one, source=place.gpu(one.source), target=place.gpu(one.target)) for one in messages)
        for messages in played.rounds
    )
    for work in fabric.collective(replace(played, ranks=played.ranks * place.stride, rounds=rounds), payload_bytes):
        yield replace(work, name=mark + work.name, after=tuple(mark + before for before in work.after))


def fabric_of(cluster: ClusterSpec) -> Fabric:
    """A cluster's links as they are: a node's NICs as one port, where they are fewer than its GPUs."""
    network, nics = bare(cluster.network), cluster.nics_per_node
    if nics is not None and nics < cluster.gpus_per_node:
        each = network.bandwidth_bytes_per_s
        network = replace(network, scope="node", bandwidth_bytes_per_s=nics * each)
    inside = bare(cluster.link if cluster.domain >= cluster.gpus_per_node else cluster.inner)
    return Fabric(inside, cluster.island, network)


def _pipeline(
    question: Question, layout: Layout, concurrency: int
) -> tuple[list[float], float, list[tuple[float, float]]]:
    """The least a stage's decode step takes, a prompt's way through all, and the hops as (bytes, latency)."""
    model, demand, cluster = question.model, question.demand, question.cluster
    tp, gpu, fabric = layout.tp_size, question.cluster.gpu, fabric_of(question.cluster)
    per_copy = max(1.0, concurrency / layout.attention_copies)
    batch = per_copy / min(layout.pp_size, int(per_copy))
    shares = [stage.layers / model.num_hidden_layers for stage in stages(model, layout.pp_size)]

    # every weight is read by one rank of the group at the least, and every copy of attention has its own tokens
    together = layout.dp_size
    cache = kv_bytes_per_token_per_rank(model, tp, demand.kv_dtype) / layout.dcp_size
    cache_s = batch * kept_tokens(model, demand.mean_context) * cache / gpu.memory_bytes_per_s
    # a draft's tokens go through the layers beside the one that is kept anyway
    rows = batch * (1 + demand.draft_tokens)
    decode_s = decode_least_s(model, gpu, together * rows, 0, tp * together, demand.dtype, demand.kv_dtype)
    decode_s = max(decode_s, cache_s) + _links_s(model, fabric, layout, rows)
    unread = demand.prompt_tokens - demand.cached_tokens
    prompts = prefill_least_s(model, gpu, unread, tp * together, demand.dtype, together)
    prefill_s = prompts + _links_s(model, fabric, layout, float(unread))
    hops, prompt_hops_s = [], 0.0
    for boundary in range(layout.pp_size - 1):
        link = bare(cluster.hop(tp, boundary))
        # a rank may send a slice alone, and the next stage gathers it
        row_s = model.hidden_size * ACTIVATION_BYTES / tp / link.bandwidth_bytes_per_s
        hops.append((batch * row_s, link.latency_s))
        prompt_hops_s += unread * row_s + link.latency_s
    return [share * decode_s for share in shares], prefill_s + prompt_hops_s, hops


def _links_s(model: ModelSpec, fabric: Fabric, layout: Layout, tokens: float) -> float:
    """What a step's layers send, `tokens` rows on each copy of attention: all-reduces, or dispatch and combine."""
    row = model.hidden_size * ACTIVATION_BYTES
    if layout.ep_size > 1 and model.moe is not None:
        sent = tokens / layout.tp_size * expected_distinct_ranks(model.moe, layout.ep_size) * row
        works = fabric.collective(program("all_to_all", "direct", layout.ep_size), sent)
        return 2 * (model.num_hidden_layers - model.moe.first_k_dense_replace) * busiest_s(works)
    if layout.tp_size == 1:
        return 0.0
    local, nodes = min(layout.tp_size, fabric.domain), max(1, layout.tp_size // fabric.domain)
    one_s = played_s(fabric, hierarchical_all_reduce(local, nodes), tokens * row)
    return 2 * model.num_hidden_layers * one_s


def _cycle_s(stage_s: Sequence[float], hops: Sequence[tuple[float, float]], microbatches: int) -> float:
    """The time between two tokens of the first microbatch, once the pipe is full."""
    ran = replay(around(stage_s, hops, microbatches, LAPS)).ran
    last = len(stage_s) - 1
    return (ran[f"token {LAPS - 1}.0.{last}"].end_s - ran[f"token 1.0.{last}"].end_s) / (LAPS - 2)


def decode_least_s(
    model: ModelSpec, gpu: GpuSpec, batch: float, context: float, ranks: int, dtype: str, kv_dtype: str
) -> float:
    cache = batch * kept_tokens(model, context) * kv_bytes_per_token_per_rank(model, ranks, kv_dtype)
    read_s = (read_weight_bytes(model, dtype, batch) / ranks + cache) / gpu.memory_bytes_per_s
    return max(read_s, 2 * multiplied_parameters(model) * batch / ranks / peak_flops(gpu, dtype))


def prefill_least_s(model: ModelSpec, gpu: GpuSpec, tokens: int, ranks: int, dtype: str, prompts: int = 1) -> float:
    read_s = read_weight_bytes(model, dtype, prompts * tokens) / ranks / gpu.memory_bytes_per_s
    return max(read_s, prefill_flops(model, tokens, prompts) / ranks / peak_flops(gpu, dtype))


def compositions(
    model: ModelSpec, gpu: GpuSpec, link: LinkSpec, network: LinkSpec, gpus: int, sequences: int, prompt_tokens: int
) -> Iterator[Shown]:
    """Lab 04: every TP × PP of some GPUs, with so many sequences, one alone, and one prompt."""
    for one in layouts(model, Cluster(gpu, link, network), gpus, sequences=sequences, prompt_tokens=prompt_tokens):
        microbatches = min(one.pp_size, sequences)
        least_s = decode_least_s(model, gpu, sequences / microbatches, 0, one.tp_size, "bf16", "bf16")
        stage_s = [least_s / one.pp_size] * one.pp_size
        cycle_s = _cycle_s(stage_s, [(0.0, 0.0)] * (one.pp_size - 1), microbatches)
        in_flight = one.tokens_per_s * one.itl_full_s
        yield Shown("pipeline_bubble", "all", one.name, one.itl_full_s, cycle_s, in_flight)
        alone_s = decode_least_s(model, gpu, 1, 0, one.tp_size, "bf16", "bf16")
        yield Shown("pipeline_bubble", "alone", one.name, one.itl_alone_s, alone_s, 1.0)
        first_s = prefill_least_s(model, gpu, prompt_tokens, one.tp_size, "bf16")
        yield Shown("pipeline_bubble", "first token", one.name, one.ttft_s, first_s)


def step(model: ModelSpec, gpu: GpuSpec, told: Step, prompts: int = 0) -> Shown:
    """Lab 03: what a rank computes in a step over so many rows, of so many prompts where it is a prefill."""
    if prompts:
        least_s = prefill_least_s(model, gpu, told.tokens // prompts, 1, "bf16", prompts)
    else:
        least_s = decode_least_s(model, gpu, told.tokens, 0, 1, "bf16", "bf16")
    return Shown("comm_cost", "step", f"{told.tokens} rows", told.compute_s, least_s, told.sequences or 0)
