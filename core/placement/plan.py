"""One layout judged: does the model split so, does it fit, what does it give, or which equation it breaks."""

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from core.errors import Remark, ShardlabError, remark
from core.evidence.accuracy import Band, decode_band
from core.evidence.calibration import calibration_of, prompt_efficiency
from core.evidence.kinds import prompt_launch_s
from core.evidence.nearest import Case
from core.models.checkpoint import as_served
from core.placement.cluster import ClusterSpec
from core.placement.demand import Demand
from core.placement.layout import Layout
from core.placement.preflight import preflight
from core.placement.preflight_checks import ENGINE_NAMES, OF_LAYOUTS, Engine, repeats_in_part
from core.placement.rank_memory import Budget, RankMemory, rank_memories
from core.placement.step_terms import Served
from core.placement.steps import Steps, Timing
from core.sharding_math.tp_sizes import check_tp_size
from core.specs import GpuSpec, ModelSpec
from core.steps.model import Efficiency

HOUR_S = 3600
MILLION = 1e6


@dataclass(frozen=True)
class Question:
    """All that a placement depends on. Without an `efficiency` the GPU's class has its own, and without a band.

    The `engine` is the one whose words a refusal quotes, whose times are told, and whose launches a prompt waits
    for; where `compiled`, steps are those of a loop that was compiled whole and schedules nothing, as gpt-fast's.
    """

    model: ModelSpec
    cluster: ClusterSpec
    budget: Budget
    demand: Demand
    efficiency: Efficiency | None = None
    expert_parallel: bool = True
    context_parallel: bool = False
    refitted_band: Band | None = None
    engine: Engine = "vllm"
    compiled: bool = False

    @property
    def timed_engine(self) -> str:
        """Whose steps the times are of, as core.evidence.calibration names it."""
        return "gpt-fast" if self.compiled else self.engine

    @property
    def band(self) -> Band:
        """How wide a time between tokens is to be read: by published times, or by the machine's own."""
        return self.refitted_band or decode_band(self.cluster.gpu, self.model)

    def timing(self, layout: Layout, concurrency: int | None = None) -> Timing:
        """A layout timed at the concurrency asked, or at another."""
        return self.steps(layout).timing(concurrency or self.demand.concurrency)

    def steps(self, layout: Layout) -> Steps:
        """A layout's steps, to be timed at many concurrencies."""
        constants = _constants(self.model, self.cluster.gpu, self.timed_engine, self.engine, self.efficiency)
        cut = layout.tp_size, layout.dp_size, layout.dcp_size
        if cut not in self._served:
            alone = replace(layout, pp_size=1, replicas=1)
            self._served[cut] = Served(self.model, self.cluster, alone, self.demand)
        return Steps(self._served[cut], layout, *constants)

    @cached_property
    def _served(self) -> dict[tuple[int, int, int], Served]:
        """What serves each cut of a layer, for all layouts that have it."""
        return {}


@lru_cache(maxsize=256)
def _constants(
    model: ModelSpec, gpu: GpuSpec, timed: str, engine: Engine, own: Efficiency | None
) -> tuple[Efficiency, Efficiency, float]:
    """Of a decode step, of a prompt, and what launching a layer of one takes: the same for every layout."""
    return (
        own or calibration_of(gpu, model, timed).efficiency,
        prompt_efficiency(gpu, model, own),
        0.0 if timed == "gpt-fast" else prompt_launch_s(engine, gpu, model),
    )


@dataclass(frozen=True)
class Plan:
    """One layout, judged. `broken` is what refuses it; `timing` is there where it fits."""

    layout: Layout
    broken: Remark | None
    splits: bool
    ranks: tuple[RankMemory, ...] = ()
    kv_tokens: int = 0
    max_concurrency: int = 0
    timing: Timing | None = None
    crossing: Remark | None = None

    @property
    def fits(self) -> bool:
        """Whether weights, overhead and the cache of all sequences fit every rank."""
        return self.broken is None

    @property
    def weights_bytes(self) -> float | None:
        """Weights of the rank that holds most of them."""
        return max(rank.weights.total_bytes for rank in self.ranks) if self.ranks else None

    @property
    def kv_tokens_in_all(self) -> int:
        return self.kv_tokens * self.layout.replicas

    @property
    def longest(self) -> int:
        """Tokens of the longest sequence that fits alone; 0 where not one does."""
        return min((rank.longest() for rank in self.ranks), default=0)

    @property
    def tokens_per_s_per_gpu(self) -> float | None:
        """Sustained, of each GPU it uses; None where it does not fit."""
        return None if self.timing is None else self.timing.sustained_tokens_per_s / self.layout.gpus

    @property
    def reason(self) -> Remark:
        """Why it is refused, and what is to be known of it either way."""
        noted = remark("placement.noted", crossing=self.crossing) if self.crossing else None
        return remark("placement.reason", verdict=self.broken or remark("placement.fits"), noted=noted)

    def usd_per_million_tokens(self, usd_per_gpu_hour: float | None) -> float | None:
        """What a million output tokens cost, prompts read besides; None without a price, or where none come."""
        if usd_per_gpu_hour is None or self.timing is None:
            return None
        return self.layout.gpus * usd_per_gpu_hour / HOUR_S / self.timing.sustained_tokens_per_s * MILLION


def judge(question: Question, layout: Layout) -> Plan:
    """One layout: split, weighed, timed."""
    model, demand = question.model, question.demand
    crossing = crossing_notice(question.cluster, layout)
    split = check_tp_size(as_served(model, demand.dtype), layout.tp_size, experts_whole=layout.ep_size > 1)
    if split.broken:
        quoted = next((one.text for one in preflight(model, layout, demand, question.engine)), None)
        code = "placement.indivisible" if quoted is None else "placement.indivisible_quoted"
        said_by = ENGINE_NAMES[question.engine]
        broken = remark(code, equations="; ".join(split.broken), quoted=quoted, engine=said_by)
        return Plan(layout, broken, splits=False, crossing=crossing)
    try:
        step_tokens = question.cluster.gpu.vllm_batched_tokens
        ranks = rank_memories(model, layout, question.budget, demand.dtype, demand.kv_dtype, step_tokens)
        timed = question.timing(layout)
    except ShardlabError as refusal:
        return Plan(layout, remark("placement.refused", error=refusal.remark), splits=False, crossing=crossing)
    here = -(-demand.concurrency // layout.attention_copies)
    shortages = (rank.shortage(here, demand.sequence_tokens) for rank in ranks)
    shortage = next((one for one in shortages if one is not None), None) or _not_run(question, layout)
    tokens = min(rank.kv_tokens(demand.sequence_tokens) for rank in ranks)
    return Plan(
        layout=layout,
        broken=shortage,
        splits=True,
        ranks=ranks,
        kv_tokens=tokens * layout.dp_size,
        max_concurrency=tokens // demand.sequence_tokens * layout.attention_copies,
        timing=None if shortage else timed,
        crossing=crossing,
    )


def _not_run(question: Question, layout: Layout) -> Remark | None:
    """Why the engine asked for runs no such layout, though it fits; None where it does."""
    engine = question.engine
    if repeats_in_part(layout, engine):
        return remark("placement.unsaid_attention", engine=ENGINE_NAMES[engine], layout=layout)
    cluster = question.cluster
    met = preflight(question.model, layout, question.demand, engine, cluster.gpu, cluster.gpus_per_node)
    quoted = next((one.text for one in met if one.refusal.code in OF_LAYOUTS), None)
    return None if quoted is None else remark("placement.quoted", engine=ENGINE_NAMES[engine], quoted=quoted)


def crossing_notice(cluster: ClusterSpec, layout: Layout) -> Remark | None:
    """What is to be said of a layout whose groups reach over a boundary; None where none does."""
    ranks, axis = max((layout.tp_size, "TP"), (layout.ep_size, "EP"))
    if cluster.crosses(ranks):
        boundary = "domain" if cluster.domain > cluster.gpus_per_node else "node"
        return remark(f"placement.crosses_{boundary}", axis=axis, ranks=ranks, cluster=cluster)
    if ranks > cluster.domain:
        return remark("placement.leaves_domain", axis=axis, ranks=ranks, cluster=cluster)
    return None


def case_of(question: Question, plan: Plan | None) -> Case:
    """What a plan has in common with published runs: its engine's ranks, its share of the sequences."""
    demand = question.demand
    copies = plan.layout.attention_copies if plan else 1
    return Case(
        model=question.model,
        gpu=question.cluster.gpu,
        tp_size=plan.layout.tp_size if plan else 1,
        batch=max(1, demand.concurrency // copies),
        prompt_tokens=demand.prompt_tokens,
        output_tokens=demand.output_tokens,
    )
