"""Every layout judged: does the model split so, does it fit, what does it give; which to take.

A plan is refused with the equation it breaks. Of those that fit the front is what no other beats in both, time
between tokens and tokens a second, over all the concurrencies that memory allows.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from core.evidence.slower import Slower, timed_slower
from core.placement.layout import layouts
from core.placement.plan import Plan, Question, judge
from core.placement.rank_memory import min_tp_for_fit
from core.placement.steps import Timing

LARGEST_BATCH = 65536
WITHIN_ERROR = 0.1
"""Rates this close are no reason to choose: decode times are met to some tenths."""


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
        fewer stages and fewer ranks that must agree. A measured time goes before a modeled one: more ranks than
        somebody found slower are taken only where no other plan will do.
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

    @property
    def taken(self) -> Plan | None:
        """The plan that is recommended; None where none fits."""
        return None if self.recommended is None else self.plans[self.recommended]

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
        rates = {index: rate for index, rate in rates.items() if not self.found_slower(index)} or rates
        close = [index for index, rate in rates.items() if rate >= (1 - WITHIN_ERROR) * max(rates.values())]
        unbeaten = [index for index in close if not any(self.beats(other, index) for other in rates)]
        return min(unbeaten, key=self._complexity)

    def found_slower(self, index: int) -> Slower | None:
        """Return the published pair of times that speaks against a plan; none where the constants are one's own."""
        question, layout = self.question, self.plans[index].layout
        if question.efficiency is not None:
            return None
        held = max(1.0, question.demand.concurrency / layout.attention_copies)  # a copy at work has one
        return timed_slower(question.model, question.cluster.gpu, layout.tp_size, held)

    @cached_property
    def set_aside(self) -> tuple[int, Slower] | None:
        """The quickest plan by arithmetic of those found slower, if it beats the one taken, and its times."""
        if self.recommended is None or self.found_slower(self.recommended):
            return None
        taken_s = self.timing(self.recommended).itl_s
        found = [(index, pair) for index in self.fitting if (pair := self.found_slower(index))]
        quicker = [one for one in found if self.timing(one[0]).itl_s < taken_s]
        return min(quicker, key=lambda one: self.timing(one[0]).itl_s, default=None)

    @cached_property
    def by_rate(self) -> tuple[int, ...]:
        """The plans that fit, those that give most first."""
        return tuple(sorted(self.fitting, key=lambda index: -self.timing(index).sustained_tokens_per_s))

    @property
    def lost(self) -> tuple[int, ...]:
        """Those of them that were not taken."""
        return tuple(index for index in self.by_rate if index != self.recommended)

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
        plan = self.plans[index]
        most = min(max(1, plan.max_concurrency), LARGEST_BATCH)
        copies = plan.layout.attention_copies
        sizes = sorted({min(most, copies * 2**power) for power in range(17)})
        steps = self.timing(index).steps
        timed = ((size, steps.itl_s(size)) for size in sizes)
        return tuple(
            CurvePoint(index, size, itl_s, steps.sustained_tokens_per_s(size, itl_s)) for size, itl_s in timed
        )

    def timing(self, index: int) -> Timing:
        """What a plan that fits gives at the concurrency asked."""
        timing = self.plans[index].timing
        assert timing is not None, "only plans that fit are timed"
        return timing


def place(question: Question) -> Placement:
    """Judge every layout of the question's cluster."""
    ways = layouts(question.model, question.cluster, question.expert_parallel, question.context_parallel)
    return Placement(question, tuple(judge(question, one) for one in ways))
