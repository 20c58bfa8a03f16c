"""Every composition that a cluster's GPUs can train with: does it split, does it fit, how long is a step.

B sequences of S tokens a step, in microbatches of one sequence; m microbatches a data-parallel rank, p stages.
A step is its arithmetic at half of the dense FLOP/s, the pipeline's idle share of it, and what communication shows:

    step = compute · (1 + (p-1)/m) + TP + EP + PP + max(0, DP - compute)

Tensor and expert parallelism wait for each collective; gradients and gathered weights travel behind the arithmetic
as far as it goes. Ignored: a latency for each layer that FSDP gathers, smaller matrices' lower efficiency, and the
optimizer's own step. The first two make FSDP and TP dearer than said.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from core.collectives.cost import as_measured
from core.comm_cost.kernels import large_bytes_per_s
from core.errors import Remark, ShardlabError, divisors, remark, require_positive
from core.models.parameters import count_parameters
from core.placement.cluster import ClusterSpec
from core.specs import LinkSpec, ModelSpec
from core.steps.model import MFU
from core.strategy.training.layout import Recompute, Strategy
from core.strategy.training.memory import Job, TrainingMemory, training_memory
from core.strategy.training.traffic import Axis, Transfer, training_traffic
from core.units import GB

RESERVED_BYTES = 4 * GB
"""What a rank keeps for the CUDA context, NCCL's buffers and fragmentation: a round assumption, not measured."""
ACCUMULATED = 8
"""Microbatches a data-parallel rank works through where the batch may grow: what hides its gradients."""
WITHIN_ERROR = 0.1
"""Steps this close are no reason to choose: of those the simplest is taken."""
MOST_TP = 64


@dataclass(frozen=True)
class TrainingDemand:
    """What is asked of a step: `sequences` of `sequence_tokens`.

    Where the batch may grow, every data-parallel rank gets at least ACCUMULATED microbatches.
    """

    sequences: int = 64
    sequence_tokens: int = 4096
    may_grow: bool = False

    def __post_init__(self) -> None:
        require_positive(sequences=self.sequences, sequence_tokens=self.sequence_tokens)

    def grown(self, gpus: int) -> "TrainingDemand":
        """The batch that ACCUMULATED microbatches on every GPU make, where it may grow and is smaller."""
        if not self.may_grow:
            return self
        return replace(self, sequences=gpus * max(ACCUMULATED, -(-self.sequences // gpus)))

    def microbatches(self, dp_size: int) -> int:
        """Of one sequence each, on every data-parallel rank; 0 where there are more ranks than sequences."""
        if self.may_grow:
            return max(ACCUMULATED, -(-self.sequences // dp_size))
        return self.sequences // dp_size if self.sequences % dp_size == 0 else 0


@dataclass(frozen=True)
class StepTime:
    """A training step by its parts. `hidden_s` is data parallelism's traffic behind the arithmetic."""

    tokens: int
    compute_s: float
    bubble_s: float
    tp_s: float
    ep_s: float
    pp_s: float
    dp_s: float
    hidden_s: float

    @property
    def exposed_s(self) -> float:
        """Communication that the arithmetic waits for."""
        return self.tp_s + self.ep_s + self.pp_s + self.dp_s - self.hidden_s

    @property
    def total_s(self) -> float:
        return self.compute_s + self.bubble_s + self.exposed_s

    @property
    def parts(self) -> tuple[tuple[str, float], ...]:
        """What the step is made of, without what three figures do not show."""
        parts = (
            ("compute", self.compute_s),
            ("idle", self.bubble_s),
            ("tp", self.tp_s),
            ("ep", self.ep_s),
            ("pp", self.pp_s),
            ("dp", self.dp_s - self.hidden_s),
        )
        return tuple((name, part_s) for name, part_s in parts if part_s > self.total_s / 2000)

    @property
    def tokens_per_s(self) -> float:
        return self.tokens / self.total_s


@dataclass(frozen=True)
class TrainingPlan:
    """One composition, judged. `broken` is what refuses it; `memory` is its fullest rank's."""

    strategy: Strategy
    broken: Remark | None = None
    memory: TrainingMemory | None = None
    step: StepTime | None = None

    @property
    def fits(self) -> bool:
        """Whether it splits, has work for every rank, and fits."""
        return self.broken is None

    @property
    def simplicity(self) -> tuple[int, int, int, int, bool]:
        """What can go wrong, to be compared: axes beside data parallelism, ZeRO's stage, stages, TP."""
        own = self.strategy
        axes = (own.tp_size > 1) + (own.pp_size > 1) + (own.ep_size > 1)
        return axes, own.zero, own.pp_size, own.tp_size, own.recompute == "full"


@dataclass(frozen=True)
class TrainingChoice:
    """All plans of one demand on one cluster, and which to take."""

    model: ModelSpec
    cluster: ClusterSpec
    demand: TrainingDemand
    plans: tuple[TrainingPlan, ...]

    @cached_property
    def taken(self) -> TrainingPlan | None:
        """Of the plans within the error of the most tokens a second, the simplest; None where none fits."""
        timed = [(plan, plan.step.tokens_per_s) for plan in self.plans if plan.step is not None]
        best = max((rate for _, rate in timed), default=0.0)
        close = [(plan, rate) for plan, rate in timed if rate >= (1 - WITHIN_ERROR) * best]
        if not close:
            return None
        return min(close, key=lambda one: (one[0].simplicity, -one[1]))[0]


def choose(model: ModelSpec, cluster: ClusterSpec, demand: TrainingDemand) -> TrainingChoice:
    """Judge the cluster's compositions: of each TP × PP × EP, the stages of ZeRO up to the first that fits.

    A higher stage would send as much or more; whole layers are recomputed only where plain DDP does not fit. A
    batch that may grow is grown once, so that every composition's step is of as many sequences.
    """
    demand = demand.grown(cluster.gpus)
    plans = [plan for one in cuts(model, cluster.gpus) for plan in _until_it_fits(model, cluster, demand, one)]
    return TrainingChoice(model, cluster, demand, tuple(plans))


def cuts(model: ModelSpec, gpus: int) -> Iterator[Strategy]:
    """Every TP × PP × data parallelism that uses all GPUs, and EP for a mixture, as DDP.

    TP brings sequence parallelism along; scores are never kept, as FlashAttention does.
    """
    experts = model.moe.num_experts if model.moe is not None else 1
    for tp_size in (size for size in divisors(gpus) if size <= MOST_TP):
        for pp_size in divisors(gpus // tp_size):
            dp_size = gpus // (tp_size * pp_size)
            if model.num_attention_heads % tp_size or model.num_hidden_layers % pp_size:
                continue
            for ep_size in (size for size in divisors(dp_size) if experts % size == 0):
                yield Strategy(
                    dp_size=dp_size,
                    tp_size=tp_size,
                    sequence_parallel=tp_size > 1,
                    pp_size=pp_size,
                    ep_size=ep_size,
                    recompute="selective",
                )


def _until_it_fits(
    model: ModelSpec, cluster: ClusterSpec, demand: TrainingDemand, cut: Strategy
) -> Iterator[TrainingPlan]:
    recomputed: tuple[Recompute, ...] = ("selective", "full")
    for recompute in recomputed:
        for zero in range(4 if cut.dp_size > 1 else 1):
            plan = judge(model, cluster, demand, replace(cut, zero=zero, recompute=recompute))
            yield plan
            if plan.memory is None or (plan.fits and zero == 0):
                return
            if plan.fits:
                break


def judge(model: ModelSpec, cluster: ClusterSpec, demand: TrainingDemand, strategy: Strategy) -> TrainingPlan:
    """One composition: has every rank work, does it fit, how long is its step."""
    microbatches = demand.microbatches(strategy.dp_size)
    if not microbatches:
        return TrainingPlan(strategy, remark("strategy.too_few", demand=demand, ranks=strategy.dp_size))
    job = Job(sequence_tokens=demand.sequence_tokens, microbatches=microbatches)
    try:
        memory = fullest_rank(model, strategy, job)
    except ShardlabError as refusal:
        return TrainingPlan(strategy, remark("strategy.refused", error=refusal.remark))
    if memory.total > (room := room_bytes(cluster)):
        return TrainingPlan(strategy, remark("strategy.too_much", needed=memory.total, room=room), memory)
    return TrainingPlan(strategy, None, memory, step_time(model, cluster, strategy, job))


def room_bytes(cluster: ClusterSpec) -> float:
    """What a training rank may fill of its GPU: usable - reserved"""
    return cluster.gpu.usable_memory_bytes - RESERVED_BYTES


def fullest_rank(model: ModelSpec, strategy: Strategy, job: Job) -> TrainingMemory:
    """The memory of the stage that holds most: the first, with most in flight, or the last, with the head."""
    ends = {0, strategy.pp_size - 1}
    return max((training_memory(model, strategy, job, stage) for stage in ends), key=lambda held: held.total)


def step_time(model: ModelSpec, cluster: ClusterSpec, strategy: Strategy, job: Job) -> StepTime:
    """A step's parts, on a rank of the first stage; see the module for what is ignored."""
    tokens = job.tokens * job.microbatches * strategy.dp_size
    compute_s = training_flops(model, strategy, job) * tokens / (strategy.world_size * cluster.gpu.bf16_flops * MFU)
    transfers = training_traffic(model, strategy, job)
    dp_s = axis_s(transfers, "dp", cluster, strategy)
    return StepTime(
        tokens=tokens,
        compute_s=compute_s,
        bubble_s=compute_s * (strategy.pp_size - 1) / job.microbatches,
        tp_s=axis_s(transfers, "tp", cluster, strategy),
        ep_s=axis_s(transfers, "ep", cluster, strategy),
        pp_s=axis_s(transfers, "pp", cluster, strategy),
        dp_s=dp_s,
        hidden_s=min(dp_s, compute_s),
    )


def training_flops(model: ModelSpec, strategy: Strategy, job: Job) -> float:
    """Operations a token: two a parameter forward, twice that backward, the forward again where recomputed.

        (6 or 8) · P_active + (6 or 8) · L · h · hd · S

    The second term is causal attention.
    """
    passes = 8 if strategy.recompute == "full" else 6
    width = model.num_attention_heads * model.head_dim
    attention = model.num_hidden_layers * width * job.sequence_tokens
    return passes * (count_parameters(model).active + attention)


def axis_s(transfers: Iterable[Transfer], axis: Axis, cluster: ClusterSpec, strategy: Strategy) -> float:
    """What one axis' transfers take one after another, each on its own link."""
    own = (transfer for transfer in transfers if transfer.axis == axis)
    return sum(transfer.cost(transfer_link(transfer, cluster, strategy)).total_s for transfer in own)


def transfer_link(transfer: Transfer, cluster: ClusterSpec, strategy: Strategy) -> LinkSpec:
    """The slowest link of a transfer's group, with the share of it that the group has.

    A ring passes a node's edge once, so the members it has in that node may use their NICs' shares together:

        β = min(link, port · members in a node)
    """
    span = transfer.group_span
    if transfer.axis == "pp":
        return as_measured(cluster.hop(strategy.tp_size * strategy.dp_size, 0))
    if not cluster.crosses(span):
        return as_measured(cluster.slowest_link(span))
    port, inner = as_measured(cluster.port), as_measured(cluster.inner)
    if transfer.op == "all_to_all":
        return port
    members = max(1, cluster.island * transfer.ranks // span)
    together = min(large_bytes_per_s(members, inner), members * port.bandwidth_bytes_per_s)
    return replace(port, bandwidth_bytes_per_s=max(port.bandwidth_bytes_per_s, together))
