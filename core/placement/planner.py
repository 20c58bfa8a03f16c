"""Every layout judged: does the model split so, does it fit, what does it give; which to take.

A plan is refused with the equation it breaks. Of those that fit the front is what no other beats in both, time
between tokens and tokens a second, over all the concurrencies that memory allows.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from core.errors import ShardlabError
from core.evidence.accuracy import Band, decode_band
from core.evidence.calibration import calibration_of, prompt_efficiency
from core.models.checkpoint import as_served
from core.placement.cluster import ClusterSpec
from core.placement.demand import Demand
from core.placement.layout import Layout, layouts
from core.placement.preflight import preflight
from core.placement.rank_memory import Budget, RankMemory, min_tp_for_fit, rank_memories
from core.placement.steps import Timing, timing
from core.remark import Remark, remark
from core.sharding_math.tp_sizes import check_tp_size
from core.specs import ModelSpec
from core.steps.model import Efficiency

HOUR_S = 3600
MILLION = 1e6
LARGEST_BATCH = 65536
WITHIN_ERROR = 0.1
"""Rates this close are no reason to choose: decode times are met to some tenths."""


@dataclass(frozen=True)
class Question:
    """All that a placement depends on. Without an `efficiency` the GPU's class has its own, and without a band."""

    model: ModelSpec
    cluster: ClusterSpec
    budget: Budget
    demand: Demand
    efficiency: Efficiency | None = None
    expert_parallel: bool = True
    context_parallel: bool = False
    own_band: Band | None = None

    @property
    def band(self) -> Band:
        """How wide a time between tokens is to be read: by published times, or by the machine's own."""
        return self.own_band or decode_band(self.cluster.gpu, self.model)

    def timing(self, layout: Layout, concurrency: int | None = None) -> Timing:
        """A layout timed at the concurrency asked, or at another."""
        card, model = self.cluster.gpu, self.model
        constants = self.efficiency or calibration_of(card, model).efficiency
        prompts = prompt_efficiency(card, model, self.efficiency)
        return timing(model, self.cluster, layout, self.demand, constants, concurrency, prompts)


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
        """Tokens of KV cache over all replicas."""
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
        quoted = next((one.text for one in preflight(model, layout, demand)), None)
        code = "placement.indivisible" if quoted is None else "placement.indivisible_quoted"
        broken = remark(code, equations="; ".join(split.broken), quoted=quoted)
        return Plan(layout, broken, splits=False, crossing=crossing)
    try:
        step_tokens = question.cluster.gpu.vllm_batched_tokens
        ranks = rank_memories(model, layout, question.budget, demand.dtype, demand.kv_dtype, step_tokens)
        timed = question.timing(layout)
    except ShardlabError as refusal:
        return Plan(layout, remark("placement.refused", error=str(refusal)), splits=False, crossing=crossing)
    here = -(-demand.concurrency // layout.attention_copies)
    shortages = (rank.shortage(here, demand.sequence_tokens) for rank in ranks)
    shortage = next((one for one in shortages if one is not None), None)
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


def crossing_notice(cluster: ClusterSpec, layout: Layout) -> Remark | None:
    """What is to be said of a layout whose groups reach over a boundary; None where none does."""
    ranks, axis = max((layout.tp_size, "TP"), (layout.ep_size, "EP"))
    if cluster.crosses(ranks):
        boundary = "domain" if cluster.domain > cluster.gpus_per_node else "node"
        return remark(f"placement.crosses_{boundary}", axis=axis, ranks=ranks, cluster=cluster)
    if ranks > cluster.domain:
        return remark("placement.leaves_domain", axis=axis, ranks=ranks, cluster=cluster)
    return None


@dataclass(frozen=True)
class CurvePoint:
    """A plan at one concurrency; its tokens a second are sustained, prompts read besides."""

    plan: int
    concurrency: int
    itl_s: float
    tokens_per_s: float


@dataclass(frozen=True)
class AtRate:
    """A plan under the rate that was asked: what all its engines can complete, and a percentile of both waits.

    Each step reads up to `chunk_tokens` of prompts.
    """

    capacity_per_s: float
    ttft_s: float
    itl_s: float
    chunk_tokens: int


@dataclass(frozen=True)
class Placement:
    """All plans of a question, in the order of their sizes, and what follows from them.

    `at_rate` is there where a rate was asked: see core.placement.under_load. `left_out` counts what was judged too
    and not kept, plans that fit and plans that do not: see core.placement.shortlist.
    """

    question: Question
    plans: tuple[Plan, ...]
    at_rate: Mapping[int, AtRate] = field(default_factory=dict)
    left_out: tuple[int, int] = (0, 0)

    @cached_property
    def fitting(self) -> tuple[int, ...]:
        """The plans that fit."""
        return tuple(index for index, plan in enumerate(self.plans) if plan.fits)

    @property
    def in_all(self) -> int:
        """All plans, kept or not."""
        return len(self.plans) + sum(self.left_out)

    @property
    def refused(self) -> int:
        """Those of them that do not fit."""
        return len(self.plans) - len(self.fitting) + self.left_out[1]

    @cached_property
    def curves(self) -> Mapping[int, tuple[CurvePoint, ...]]:
        """Each fitting plan from one sequence a copy to all that its memory holds, doubling."""
        return {index: self._curve(index) for index in self.fitting}

    @cached_property
    def front(self) -> tuple[CurvePoint, ...]:
        """The points that none beats in both, quickest first."""
        best, kept = 0.0, []
        points = (point for curve in self.curves.values() for point in curve)
        for point in sorted(points, key=lambda one: (one.itl_s, -one.tokens_per_s)):
            if point.tokens_per_s > best:
                best = point.tokens_per_s
                kept.append(point)
        return tuple(kept)

    @cached_property
    def min_tp(self) -> int | None:
        """The fewest ranks that hold the model; see `min_tp_for_fit`."""
        asked = self.question
        return min_tp_for_fit(asked.model, asked.budget, asked.demand, asked.cluster.gpu.vllm_batched_tokens)

    @cached_property
    def nearest(self) -> int | None:
        """Where none fits, the plan that is short of it by the least; None where the model splits in no way."""
        split = [index for index, plan in enumerate(self.plans) if plan.splits]
        return max(split, key=lambda index: min(rank.kv_bytes for rank in self.plans[index].ranks), default=None)

    @cached_property
    def roomiest(self) -> int | None:
        """Where none fits, the plan that holds the most sequences; None where none holds one."""
        some = [index for index, plan in enumerate(self.plans) if plan.max_concurrency]
        room = {index: (self.plans[index].max_concurrency, -self.plans[index].layout.gpus) for index in some}
        return max(some, key=room.__getitem__, default=None)

    @cached_property
    def recommended(self) -> int | None:
        """The plan to take; None where none fits.

        Without a target: the most tokens a second at the concurrency asked. With one: of those that meet it, the
        most tokens a second at any concurrency that still meets it, or the most requests a second where a rate was
        asked; where none does, the quickest. Within the model's own error, the plan that crosses nothing, with
        fewer stages and fewer ranks that must agree.
        """
        if not self.fitting:
            return None
        on_target = [index for index in self.fitting if self.meets(index)]
        if self.at_rate and on_target:
            return self._simplest({index: self.at_rate[index].capacity_per_s for index in on_target})
        target = self.question.demand.slo_itl_s
        if not on_target:
            return self._simplest({index: 1 / self.timing(index).itl_s for index in self.fitting})
        if target is None or self.at_rate:
            return self._simplest({index: self.timing(index).sustained_tokens_per_s for index in on_target})
        return self._simplest({index: self.capacity(index, target) for index in on_target})

    def meets(self, index: int) -> bool:
        """Whether a plan that fits is within every target that was set, as `judged`."""
        demand, (ttft_s, itl_s) = self.question.demand, self.judged(index)
        first = demand.slo_ttft_s is None or ttft_s <= demand.slo_ttft_s
        return first and (demand.slo_itl_s is None or itl_s <= demand.slo_itl_s)

    @property
    def met(self) -> bool:
        """Whether a plan fits that is within every target."""
        return self.recommended is not None and self.meets(self.recommended)

    def judged(self, index: int) -> tuple[float, float]:
        """The first token's time and that between tokens which targets bound: at the rate, else of a full house."""
        if index in self.at_rate:
            return self.at_rate[index].ttft_s, self.at_rate[index].itl_s
        timing = self.timing(index)
        return timing.ttft_s, timing.itl_s

    def _simplest(self, rates: Mapping[int, float]) -> int:
        """The plan with least to go wrong, of those within the error of the best that no other beats throughout."""
        close = [index for index, rate in rates.items() if rate >= (1 - WITHIN_ERROR) * max(rates.values())]
        unbeaten = [index for index in close if not any(self.beats(other, index) for other in self.fitting)]
        return min(unbeaten, key=self._complexity)

    def beats(self, index: int, other: int) -> bool:
        """Whether a plan is better than another on every axis that is shown, or as good on some."""
        pairs = list(zip(self._shown(index), self._shown(other), strict=True))
        return all(one >= its for one, its in pairs) and any(one > its for one, its in pairs)

    def _shown(self, index: int) -> tuple[float, ...]:
        """What is shown of a plan, more being better: both latencies, tokens a second, room, and GPUs left over."""
        plan, timing = self.plans[index], self.timing(index)
        target = self.question.demand.slo_itl_s
        within = () if target is None or self.at_rate else (self.capacity(index, target),)
        kept = (self.at_rate[index].capacity_per_s,) if self.at_rate else ()
        rates = (timing.sustained_tokens_per_s, *within, *kept)
        return -timing.itl_s, -timing.ttft_s, *rates, plan.max_concurrency, -plan.layout.gpus

    def _complexity(self, index: int) -> tuple[bool, int, int, int]:
        layout = self.plans[index].layout
        return bool(self.plans[index].crossing), layout.pp_size, layout.tp_size, layout.dp_size

    def capacity(self, index: int, slo_itl_s: float | None = None) -> float:
        """The most tokens a second of a plan at any concurrency that its memory, and the target, allow."""
        asked = self.timing(index)
        rates = [
            point.tokens_per_s for point in self.curves[index] if slo_itl_s is None or point.itl_s <= slo_itl_s
        ]
        meets = slo_itl_s is None or asked.itl_s <= slo_itl_s
        return max([*rates, *([asked.sustained_tokens_per_s] if meets else [])], default=0.0)

    def _curve(self, index: int) -> tuple[CurvePoint, ...]:
        plan, question = self.plans[index], self.question
        most = min(max(1, plan.max_concurrency), LARGEST_BATCH)
        copies = plan.layout.attention_copies
        sizes = sorted({min(most, copies * 2**power) for power in range(17)})
        timings = (question.timing(plan.layout, size) for size in sizes)
        return tuple(CurvePoint(index, one.concurrency, one.itl_s, one.sustained_tokens_per_s) for one in timings)

    def timing(self, index: int) -> Timing:
        """What a plan that fits gives at the concurrency asked."""
        timing = self.plans[index].timing
        assert timing is not None, "only plans that fit are timed"
        return timing


def place(question: Question) -> Placement:
    """Judge every layout of the question's cluster."""
    ways = layouts(question.model, question.cluster, question.expert_parallel, question.context_parallel)
    return Placement(question, tuple(judge(question, one) for one in ways))
