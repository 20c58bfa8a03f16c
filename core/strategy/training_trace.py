"""A training choice in words: what memory asks for, what each axis would pay, and why the taken one is taken."""

from dataclasses import replace

from core.models.parameters import total_parameters
from core.strategy.training import (
    ACCUMULATED,
    RESERVED_BYTES,
    WITHIN_ERROR,
    TrainingChoice,
    TrainingPlan,
    in_words,
    judge,
    room_bytes,
)
from core.training.layout import ZERO_NAMES, Strategy
from core.training.memory import model_states
from core.units import decimal_bytes, grouped, percent, significant

AXES: tuple[tuple[str, tuple[bool, bool, bool]], ...] = (
    ("TP", (True, False, False)),
    ("PP", (False, True, False)),
    ("TP × PP", (True, True, False)),
    ("EP", (False, False, True)),
)
"""Which of TP, PP and EP a kind of plan uses."""


def training_decisions(found: TrainingChoice) -> list[str]:
    """The decisions in order: room, data parallelism's stages, each other axis, the choice."""
    lines = [_room(found), *_stages(found), *_axes(found), _choice(found)]
    return [line for line in lines if line]


def _room(found: TrainingChoice) -> str:
    states = model_states(total_parameters(found.model), 0, 1).total
    gpu = found.cluster.gpu
    return (
        f"A rank may fill {decimal_bytes(room_bytes(found.cluster))} of its {gpu.name}:"
        f" {decimal_bytes(gpu.usable_memory_bytes)} usable less {decimal_bytes(RESERVED_BYTES)}."
        f" Weights, gradients and Adam's states of {found.model.key} are {decimal_bytes(states)}."
    )


def _stages(found: TrainingChoice) -> list[str]:
    """Data parallelism alone, from DDP on, as far as the first stage that fits."""
    ranks, demand = found.cluster.gpus, found.demand
    if ranks == 1:
        return []
    if not demand.microbatches(ranks):
        return [
            f"Data parallelism alone: {demand.sequences} sequences do not deal out over {ranks} ranks,"
            " so the model must be cut."
        ]
    lines = []
    for zero in range(4):
        plan = _best_alone(found, zero)
        lines.append(f"{ZERO_NAMES[zero]} over all {ranks}: {_said(plan)}.")
        if plan.fits:
            break
    return lines


def _best_alone(found: TrainingChoice, zero: int) -> TrainingPlan:
    """A stage of ZeRO over all GPUs: whole layers recomputed only where it does not fit without."""
    one = Strategy(dp_size=found.cluster.gpus, zero=zero, recompute="selective")
    plan = judge(found.model, found.cluster, found.demand, one)
    if plan.fits or plan.memory is None:
        return plan
    again = judge(found.model, found.cluster, found.demand, replace(one, recompute="full"))
    return again if again.fits else plan


def _said(plan: TrainingPlan) -> str:
    if plan.step is None:
        return f"does not fit, {plan.broken}" if plan.memory is not None else f"refused, {plan.broken}"
    recomputed = "with whole layers recomputed, " if plan.strategy.recompute == "full" else ""
    return f"fits, {recomputed}{_rate(plan.step.tokens_per_s)}, a step {in_words(plan.step)}"


def _axes(found: TrainingChoice) -> list[str]:
    """The best plan along each axis beside data parallelism, and what stops it where none fits."""
    lines = []
    for name, axes in AXES:
        best = min((plan for plan in found.plans if _axes_of(plan.strategy) == axes), key=_nearness, default=None)
        if best is not None and best is not found.taken:
            lines.append(f"{name}, at its best {best.strategy.name}: {_said(best)}.")
    return lines


def _axes_of(strategy: Strategy) -> tuple[bool, bool, bool]:
    return strategy.tp_size > 1, strategy.pp_size > 1, strategy.ep_size > 1


def _rate(plan_tokens_per_s: float) -> str:
    return (
        f"{grouped(int(significant(plan_tokens_per_s)))} tokens/s"
        if plan_tokens_per_s >= 100
        else (f"{significant(plan_tokens_per_s)} tokens/s")
    )


def _nearness(plan: TrainingPlan) -> tuple[int, float]:
    """The quickest first; of plans that do not fit, the one that needs least."""
    if plan.step is not None:
        return 0, -plan.step.tokens_per_s
    return (1, plan.memory.total) if plan.memory is not None else (2, 0.0)


def _choice(found: TrainingChoice) -> str:
    plan, demand = found.taken, found.demand
    if plan is None or plan.step is None or plan.memory is None:
        nearest = min(found.plans, key=_nearness, default=None)
        said = "" if nearest is None else f" The nearest is {nearest.strategy.name}: {nearest.broken}."
        return f"Nothing fits and keeps all {found.cluster.gpus} GPUs at work.{said}"
    batch = f"{demand.sequences} sequences a step, however many ranks"
    if demand.may_grow:
        batch = f"at least {ACCUMULATED} sequences a data-parallel rank, {grouped(plan.step.tokens)} tokens a step"
    return (
        f"Take {plan.strategy.name}: {_rate(plan.step.tokens_per_s)} with {batch}; a step is"
        f" {in_words(plan.step)}, and the fullest rank holds {decimal_bytes(plan.memory.total)}."
        f" Plans within {percent(WITHIN_ERROR, 0)} count as equal, and the simplest of them is taken."
    )
