"""One answer to one question: how to train or to serve a model on a cluster, with the decisions that led there.

Training is judged in core.strategy.training, serving in core.placement: the same planner that places a model.
"""

from dataclasses import dataclass, replace
from typing import Literal

from core.placement.cluster import ClusterSpec
from core.placement.layout import Layout
from core.placement.planner import WITHIN_ERROR, Placement, place
from core.placement.planner import Question as ServingQuestion
from core.placement.rank_memory import measured_budget
from core.placement.steps import Demand
from core.placement.trace import decisions
from core.specs import ModelSpec
from core.strategy.training import TrainingChoice, TrainingDemand, choose
from core.strategy.training_trace import training_decisions
from core.training.layout import ZERO_NAMES, Strategy
from core.units import percent, seconds, significant

Purpose = Literal["train", "serve"]
Goal = Literal["throughput", "latency"]
NONE = "none"


@dataclass(frozen=True)
class Question:
    """What is to be done, on what, and what counts.

    Training for latency holds the batch; for throughput it may grow. Serving for latency wants the next token
    soonest; for throughput the most tokens a second. `sequences` is the batch, or how many are served at once; the
    widths are those of serving.
    """

    model: ModelSpec
    cluster: ClusterSpec
    purpose: Purpose = "train"
    goal: Goal = "throughput"
    sequences: int = 64
    sequence_tokens: int = 4096
    output_tokens: int = 256
    weight_dtype: str = "bf16"
    kv_dtype: str = "bf16"

    @property
    def training(self) -> TrainingDemand:
        """As a step is asked for."""
        return TrainingDemand(self.sequences, self.sequence_tokens, may_grow=self.goal == "throughput")

    @property
    def serving(self) -> ServingQuestion:
        """As a placement is asked for."""
        demand = Demand(
            concurrency=self.sequences,
            prompt_tokens=self.sequence_tokens,
            output_tokens=self.output_tokens,
            dtype=self.weight_dtype,
            kv_dtype=self.kv_dtype,
        )
        return ServingQuestion(self.model, self.cluster, measured_budget(self.cluster.gpu), demand)


@dataclass(frozen=True)
class Answer:
    """The strategy to take. `family` is its kind, `name` the composition, `found` all that was judged."""

    question: Question
    family: str
    name: str
    found: TrainingChoice | Placement

    @property
    def stands(self) -> bool:
        """Whether anything fits."""
        return self.family != NONE

    @property
    def trace(self) -> list[str]:
        """The decisions in words, with their numbers."""
        if isinstance(self.found, TrainingChoice):
            return training_decisions(self.found)
        lines = decisions(self.found)
        if self.question.goal == "throughput":
            return lines
        return [_quickest(self.found) if line.startswith("Take ") else line for line in lines]


def answer(question: Question) -> Answer:
    """The strategy to take for a question."""
    if question.purpose == "train":
        return _to_train(question)
    found = _to_serve(question)
    if found.recommended is None:
        return Answer(question, NONE, NONE, found)
    layout = found.plans[found.recommended].layout
    return Answer(question, layout_family(layout), layout.name, found)


def _to_serve(question: Question) -> Placement:
    """The planner's answer; for latency against a target that nothing meets, so that it takes the quickest."""
    found = place(question.serving)
    if question.goal == "throughput" or not found.fitting:
        return found
    quickest_s = min(found.timing(plan).itl_s for plan in found.fitting)
    demand = replace(found.question.demand, slo_itl_s=quickest_s / 2)
    return Placement(replace(found.question, demand=demand), found.plans)


def _quickest(found: Placement) -> str:
    """The choice in the words of its goal, where the planner would name the target."""
    assert found.recommended is not None
    timed = found.timing(found.recommended)
    return (
        f"Take {found.plans[found.recommended].layout.name}: {seconds(timed.itl_s)} between tokens,"
        f" {significant(timed.sustained_tokens_per_s)} tokens/s; the quickest, or the simplest of those within"
        f" {percent(WITHIN_ERROR, 0)} of it."
    )


def _to_train(question: Question) -> Answer:
    found = choose(question.model, question.cluster, question.training)
    if found.taken is None:
        return Answer(question, NONE, NONE, found)
    own = found.taken.strategy
    recomputed = ", whole layers recomputed" if own.recompute == "full" else ""
    return Answer(question, strategy_family(own), own.name + recomputed, found)


def layout_family(layout: Layout) -> str:
    """The kind of a layout that serves: the axes it cuts the model along, else whole replicas."""
    alone = "replicas" if layout.replicas > 1 else "one GPU"
    return _cut(layout.tp_size, layout.pp_size, layout.ep_size) or alone


def strategy_family(strategy: Strategy) -> str:
    """The kind of a composition that trains: the axes it cuts the model along, else its data parallelism."""
    alone = data_parallel_name(strategy.zero) if strategy.dp_size > 1 else "one GPU"
    return _cut(strategy.tp_size, strategy.pp_size, strategy.ep_size) or alone


def _cut(tp_size: int, pp_size: int, ep_size: int) -> str:
    """The axes that a layout cuts the model along, as the field writes them: `TP × PP`; empty for none."""
    parts = (("TP", tp_size), ("PP", pp_size), ("EP", ep_size))
    return " × ".join(name for name, size in parts if size > 1)


def data_parallel_name(zero: int) -> str:
    """DDP, ZeRO-1, ZeRO-2, and the third stage by its name in PyTorch."""
    return "FSDP" if zero == 3 else ZERO_NAMES[zero]
