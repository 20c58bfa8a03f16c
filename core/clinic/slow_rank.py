"""A slow rank drags the ensemble: eight GPUs of a tensor-parallel group go at the pace of the slowest."""

from core.catalog import gpu, link, model
from core.clinic.case import Case, Figure, Name, Term, bars
from core.comm_cost.bill import weight_streaming_s
from core.comm_cost.kernels import sums_of
from core.steps.straggler import Lockstep, Straggler, lockstep

MODEL, GPU, LINK = "llama-3-70b", "h100-sxm", "nvlink-4"
RANKS, BATCH = 8, 8
SLOW_RANK, SLOW_PERCENT = 5, 25


def slow_rank() -> Case:
    """The case: what a profiler shows on each rank, and the lockstep behind it."""
    comm_s, half_comm_s = (sums_of(model(MODEL), ranks, BATCH, link(LINK)).total_s for ranks in (RANKS, RANKS // 2))
    compute_s = weight_streaming_s(model(MODEL), gpu(GPU), counted="read") / RANKS
    level = lockstep([compute_s] * RANKS, comm_s)
    run = lockstep(Straggler(SLOW_RANK, 1 + SLOW_PERCENT / 100).slow([compute_s] * RANKS), comm_s)
    waits = [float(wait) for wait in run.waits]
    half = lockstep([2 * compute_s] * (RANKS // 2), half_comm_s)
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
        symptom=bars("s", {f"rank {r}": {"whole": comm_s + waits[r]} for r in range(RANKS)}),
        model=bars("s", {f"rank {r}": _parts(run, r, comm_s) for r in range(RANKS)}),
        fix=bars(
            "s",
            {
                "found": _parts(run, SLOW_RANK, comm_s),
                "level": _parts(level, 0, comm_s),
                "without": _parts(half, 0, half_comm_s),
            },
        ),
    )


def _parts(step: Lockstep, rank: int, comm_s: float) -> dict[Term, float]:
    """A rank's step: its compute, its wait for the slowest, and the all-reduces themselves."""
    wait_s = float(step.waits[rank])
    return {"compute": float(step.step) - comm_s - wait_s, "waiting": wait_s, "latency": comm_s}
