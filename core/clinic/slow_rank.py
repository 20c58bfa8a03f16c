"""A slow rank drags the ensemble: eight GPUs of a tensor-parallel group go at the pace of the slowest."""

from collections.abc import Sequence

from core.catalog import gpu, model
from core.clinic.case import Bars, Case, Figure, Name, Segment
from core.comm_cost.bill import all_reduces_per_step
from core.comm_cost.measured import MeasuredPoint, measured_time_s, series_of
from core.models.weights import read_weight_bytes
from core.steps.straggler import Lockstep, Straggler, lockstep

MODEL, GPU, SERIES = "llama-3-70b", "h100-sxm", "h100-nccl"
RANKS, BATCH = 8, 8
SLOW_RANK, SLOW_PERCENT = 5, 25


def slow_rank(points: Sequence[MeasuredPoint]) -> Case:
    """The case: what a profiler shows on each rank, and the lockstep behind it."""
    compute_s, comm_s = _compute_s(RANKS), _comm_s(points, RANKS)
    level = lockstep([compute_s] * RANKS, comm_s)
    run = lockstep(Straggler(SLOW_RANK, 1 + SLOW_PERCENT / 100).slow([compute_s] * RANKS), comm_s)
    waits = [float(wait) for wait in run.waits]
    half = lockstep([_compute_s(RANKS // 2)] * (RANKS // 2), _comm_s(points, RANKS // 2))
    step_s, level_s = float(run.step), float(level.step)
    return Case(
        key="slow_rank",
        truth="slow_rank",
        candidates=("network", "algorithm", "slow_rank", "batch"),
        figures=(
            Figure("ranks", RANKS, "count"),
            Figure("slow_rank", SLOW_RANK, "count"),
            Figure("batch", BATCH, "count"),
            Figure("step", step_s),
            Figure("step_before", level_s),
            Figure("longer", step_s / level_s - 1, "fraction"),
            Figure("comm", comm_s),
            Figure("others_in_kernels", comm_s + max(waits)),
            Figure("others_share", (comm_s + max(waits)) / step_s, "fraction"),
            Figure("slow_share", comm_s / step_s, "fraction"),
            Figure("compute", compute_s),
            Figure("slow_compute", step_s - comm_s),
            Figure("slowdown", SLOW_PERCENT / 100, "fraction"),
            Figure("mean_slowdown", SLOW_PERCENT / 100 / RANKS, "fraction"),
            Figure("lost_gpus", RANKS * (1 - level_s / step_s), "plain"),
            Figure("half_step", float(half.step)),
        ),
        names=(Name("gpu", "H100"),),
        symptom=Bars("s", tuple(Segment(f"rank {r}", "whole", comm_s + waits[r]) for r in range(RANKS))),
        model=Bars("s", tuple(part for r in range(RANKS) for part in _parts(f"rank {r}", run, r, comm_s))),
        fix=Bars(
            "s",
            (
                *_parts("found", run, SLOW_RANK, comm_s),
                *_parts("level", level, 0, comm_s),
                *_parts("without", half, 0, _comm_s(points, RANKS // 2)),
            ),
        ),
    )


def _compute_s(ranks: int) -> float:
    """One rank's share of a decode step: its weights once through its memory."""
    return read_weight_bytes(model(MODEL)) / ranks / gpu(GPU).memory_bytes_per_s


def _comm_s(points: Sequence[MeasuredPoint], ranks: int) -> float:
    payload_bytes = BATCH * model(MODEL).hidden_size * 2
    one_s = measured_time_s(series_of(points, SERIES, ranks), payload_bytes)
    return all_reduces_per_step(model(MODEL), ranks) * one_s


def _parts(name: str, step: Lockstep, rank: int, comm_s: float) -> tuple[Segment, ...]:
    """A rank's step: its compute, its wait for the slowest, and the all-reduces themselves."""
    wait_s = float(step.waits[rank])
    compute_s = float(step.step) - comm_s - wait_s
    parts = (
        Segment(name, "compute", compute_s),
        Segment(name, "waiting", wait_s),
        Segment(name, "latency", comm_s),
    )
    return tuple(part for part in parts if part.amount > 0)
