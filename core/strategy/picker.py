"""One answer to one question: how to train or to serve a model on a cluster, with the decisions that led there.

Training is judged in core.strategy.training, serving in core.placement: the same planner that places a model.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from core.errors import Remark, remark
from core.placement.asked import usual_cache, usual_width
from core.placement.cluster import ClusterSpec
from core.placement.demand import Demand
from core.placement.layout import Layout
from core.placement.plan import Question as ServingQuestion
from core.placement.planner import WITHIN_ERROR, Placement, place
from core.placement.rank_memory import measured_budget
from core.placement.trace import decisions, taken
from core.specs import ModelSpec
from core.strategy.training.choice import TrainingChoice, TrainingDemand, choose
from core.strategy.training.layout import ZERO_NAMES, Strategy
from core.strategy.training.trace import training_decisions

Purpose = Literal["train", "serve"]
Goal = Literal["throughput", "latency"]
USUAL: Mapping[Purpose, tuple[int, int]] = {
    "train": (64, 4096),
    "serve": (Demand().concurrency, Demand().prompt_tokens),
}
"""Sequences and their tokens where nothing was said: of a training step, and what `plan` takes for granted."""
NONE = "none"
RECOMPUTED = "whole layers recomputed"
DATA_PARALLEL = (*ZERO_NAMES[:3], "FSDP")
"""Of a stage of ZeRO, the third by its name in PyTorch."""


@dataclass(frozen=True)
class Question:
    """What is to be done, on what, and what counts.

    Training for latency holds the batch; for throughput it may grow. Serving for latency wants the next token
    soonest; for throughput the most tokens a second. `sequences` is the batch, or how many are served at once; the
    widths are those of serving, where none is given the checkpoint's own.
    """

    model: ModelSpec
    cluster: ClusterSpec
    purpose: Purpose = "train"
    goal: Goal = "throughput"
    sequences: int = USUAL["train"][0]
    sequence_tokens: int = USUAL["train"][1]
    output_tokens: int = 256
    weight_dtype: str | None = None
    kv_dtype: str | None = None

    @property
    def training(self) -> TrainingDemand:
        return TrainingDemand(self.sequences, self.sequence_tokens, may_grow=self.goal == "throughput")

    @property
    def serving(self) -> ServingQuestion:
        demand = Demand(
            concurrency=self.sequences,
            prompt_tokens=self.sequence_tokens,
            output_tokens=self.output_tokens,
            dtype=self.weight_dtype or usual_width(self.model, self.cluster.gpu),
            kv_dtype=self.kv_dtype or usual_cache(self.model, self.cluster.gpu),
        )
        return ServingQuestion(self.model, self.cluster, measured_budget(self.cluster.gpu), demand)


@dataclass(frozen=True)
class Answer:
    """The strategy to take. `family` is its kind, `name` the composition, `judged` all that was."""

    question: Question
    family: str
    name: str
    judged: TrainingChoice | Placement

    @property
    def stands(self) -> bool:
        return self.family != NONE

    @cached_property
    def trace(self) -> list[Remark]:
        if isinstance(self.judged, TrainingChoice):
            return training_decisions(self.judged)
        reasons = decisions(self.judged)
        if self.question.goal == "throughput":
            return reasons
        return [_quickest(self.judged) if one.code == "placement.take" else one for one in reasons]

    @cached_property
    def why(self) -> Remark:
        """The reason for what is taken; where nothing is, what stands in the way."""
        last = next(one for one in self.trace if one.code in _CHOICES)
        reason = last.values.get("reason")
        return reason if isinstance(reason, Remark) else last


_CHOICES = (
    *("placement.take", "placement.no_fit", "placement.no_split"),
    *("strategy.take", "strategy.nothing_fits", "strategy.nothing_fits_but"),
)


def answer(question: Question) -> Answer:
    """The strategy to take for a question."""
    if question.purpose == "train":
        return _to_train(question)
    placement = _to_serve(question)
    if placement.taken is None:
        return Answer(question, NONE, NONE, placement)
    layout = placement.taken.layout
    return Answer(question, layout_family(layout), layout.name, placement)


def _to_serve(question: Question) -> Placement:
    """The planner's answer; for latency against a target that nothing meets, so that it takes the quickest."""
    placement = place(question.serving)
    if question.goal == "throughput" or not placement.fitting:
        return placement
    quickest_s = min(placement.timing(plan).itl_s for plan in placement.fitting)
    demand = replace(placement.question.demand, slo_itl_s=quickest_s / 2)
    return Placement(replace(placement.question, demand=demand), placement.plans)


def _quickest(placement: Placement) -> Remark:
    """The choice in the words of its goal, where the planner would name the target."""
    assert placement.recommended is not None
    timing = placement.timing(placement.recommended)
    return taken(placement, remark("placement.taken_for_latency", timing=timing, tie=WITHIN_ERROR))


def _to_train(question: Question) -> Answer:
    choice = choose(question.model, question.cluster, question.training)
    if choice.taken is None:
        return Answer(question, NONE, NONE, choice)
    strategy = choice.taken.strategy
    name = f"{strategy.name}, {RECOMPUTED}" if strategy.recompute == "full" else strategy.name
    return Answer(question, strategy_family(strategy), name, choice)


def layout_family(layout: Layout) -> str:
    """The kind of a layout that serves: the axes it cuts the model along, else whole replicas."""
    alone = "replicas" if layout.replicas > 1 else "one GPU"
    return _cut(layout.tp_size, layout.pp_size, layout.ep_size) or alone


def strategy_family(strategy: Strategy) -> str:
    """The kind of a composition that trains: the axes it cuts the model along, else its data parallelism."""
    alone = DATA_PARALLEL[strategy.zero] if strategy.dp_size > 1 else "one GPU"
    return _cut(strategy.tp_size, strategy.pp_size, strategy.ep_size) or alone


def _cut(tp_size: int, pp_size: int, ep_size: int) -> str:
    """The axes that a layout cuts the model along, as the field writes them: `TP × PP`; empty for none."""
    parts = (("TP", tp_size), ("PP", pp_size), ("EP", ep_size))
    return " × ".join(name for name, size in parts if size > 1)
