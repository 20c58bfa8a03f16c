"""A training choice, reason by reason: what memory asks for, what each axis would pay, and what is taken."""

from dataclasses import replace

from core.errors import Remark, remark
from core.models.parameters import total_parameters
from core.strategy.training.choice import (
    ACCUMULATED,
    RESERVED_BYTES,
    WITHIN_ERROR,
    StepTime,
    TrainingChoice,
    TrainingPlan,
    judge,
    room_bytes,
)
from core.strategy.training.layout import ZERO_NAMES, Strategy
from core.strategy.training.memory import model_states
from core.units import SIZES, addends, seconds

AXES: tuple[tuple[str, tuple[bool, bool, bool]], ...] = (
    ("TP", (True, False, False)),
    ("PP", (False, True, False)),
    ("TP × PP", (True, True, False)),
    ("EP", (False, False, True)),
)
"""Which of TP, PP and EP a kind of plan uses."""


def training_decisions(choice: TrainingChoice) -> list[Remark]:
    """The decisions in order: room, data parallelism's stages, each other axis, the choice."""
    room = remark(
        "strategy.room",
        room=room_bytes(choice.cluster),
        reserved=RESERVED_BYTES,
        gpu=choice.cluster.gpu,
        model=choice.model.key,
        states=model_states(total_parameters(choice.model), 0, 1).total,
    )
    return [room, *_stages(choice), *_axes(choice), _choice(choice)]


def _stages(choice: TrainingChoice) -> list[Remark]:
    """Data parallelism alone, from DDP on, as far as the first stage that fits."""
    ranks, demand = choice.cluster.gpus, choice.demand
    if ranks == 1:
        return []
    if not demand.microbatches(ranks):
        return [remark("strategy.must_be_cut", demand=demand, ranks=ranks)]
    reasons = []
    for zero in range(4):
        plan = _best_alone(choice, zero)
        reasons.append(remark("strategy.stage", name=ZERO_NAMES[zero], ranks=ranks, verdict=_verdict(plan)))
        if plan.fits:
            break
    return reasons


def _best_alone(choice: TrainingChoice, zero: int) -> TrainingPlan:
    """A stage of ZeRO over all GPUs: whole layers recomputed only where it does not fit without."""
    one = Strategy(dp_size=choice.cluster.gpus, zero=zero, recompute="selective")
    plan = judge(choice.model, choice.cluster, choice.demand, one)
    if plan.fits or plan.memory is None:
        return plan
    again = judge(choice.model, choice.cluster, choice.demand, replace(one, recompute="full"))
    return again if again.fits else plan


def _verdict(plan: TrainingPlan) -> Remark:
    if plan.step is None:
        return remark("strategy.no_fit" if plan.memory is not None else "strategy.not_possible", broken=plan.broken)
    code = "strategy.fits_recomputed" if plan.strategy.recompute == "full" else "strategy.fits"
    return remark(code, timed=plan.step, step=_step(plan.step))


def _step(step: StepTime) -> Remark:
    """A step and its parts, as they add up."""
    unit = seconds(step.total_s).rpartition(" ")[2]
    shares = addends([part_s for _, part_s in step.parts], SIZES[unit])
    parts = tuple(
        remark(
            f"strategy.part_{name}",
            time_s=part_s,
            time_share=float(share) if "." in share else int(share),
            unit=unit,
        )
        for (name, part_s), share in zip(step.parts, shares, strict=True)
    )
    return remark("strategy.step", time_s=step.total_s, parts=parts)


def _axes(choice: TrainingChoice) -> list[Remark]:
    """The best plan along each axis beside data parallelism, and what stops it where none fits."""
    reasons = []
    for name, axes in AXES:
        best = min((plan for plan in choice.plans if _axes_of(plan.strategy) == axes), key=_nearness, default=None)
        if best is not None and best is not choice.taken:
            reasons.append(remark("strategy.axis", axis=name, plan=best.strategy, verdict=_verdict(best)))
    return reasons


def _axes_of(strategy: Strategy) -> tuple[bool, bool, bool]:
    return strategy.tp_size > 1, strategy.pp_size > 1, strategy.ep_size > 1


def _nearness(plan: TrainingPlan) -> tuple[int, float]:
    """The quickest first; of plans that do not fit, the one that needs least."""
    if plan.step is not None:
        return 0, -plan.step.tokens_per_s
    return (1, plan.memory.total) if plan.memory is not None else (2, 0.0)


def _choice(choice: TrainingChoice) -> Remark:
    plan, demand = choice.taken, choice.demand
    if plan is None or plan.step is None or plan.memory is None:
        nearest = min(choice.plans, key=_nearness, default=None)
        if nearest is None:
            return remark("strategy.nothing_fits", gpus=choice.cluster.gpus)
        return remark(
            "strategy.nothing_fits_but", gpus=choice.cluster.gpus, plan=nearest.strategy, broken=nearest.broken
        )
    batch = remark("strategy.batch_held", demand=demand)
    if demand.may_grow:
        batch = remark("strategy.batch_grows", accumulated=ACCUMULATED, tokens=plan.step.tokens)
    reason = remark(
        "strategy.taken",
        timed=plan.step,
        batch=batch,
        step=_step(plan.step),
        memory=plan.memory,
        tie=WITHIN_ERROR,
    )
    return remark("strategy.take", plan=plan.strategy, reason=reason)
