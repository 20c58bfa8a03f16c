"""Our schedule simulator beside PyTorch's two, on the same orders, in one run.

    python -m benchmarks.bench_schedule

PyTorch simulates a schedule in two places: `add_schedule_op_spacing`, which the visualizer draws from and which
counts in units of time as ours does (silenced here), and `_simulate_comms_compute`, which checks orders with sends
and receives for deadlock, a step at a time. Times are the best of several runs; memory is Python's own peak.
"""

import json
import sys
import time
import tracemalloc
from collections.abc import Callable

from core.pipeline_bubble.schedules.families import family
from core.pipeline_bubble.schedules.simulator import simulate

P, M, CHUNKS = 16, 256, 2
LARGE_P, LARGE_M = 64, 1024
SIMULATED = {"F", "B", "SEND_F", "RECV_F", "SEND_B", "RECV_B"}
"""What PyTorch's second simulator takes; its orders also gather and free parameters."""


def best_s(work: Callable[[], object], runs: int) -> float:
    """Seconds of the fastest of `runs`."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def against_pytorch() -> dict[str, object]:
    """Interleaved 1F1B at p = 16, m = 256, v = 2: 16,384 actions through each simulator."""
    from torch.distributed.pipelining import _schedule_visualizer as visualizer
    from torch.distributed.pipelining.schedules import _simulate_comms_compute

    visualizer.print = lambda *words: None  # a line for every rank and time step, which would be most of its time
    schedule = family("interleaved_1f1b")
    actions, placement = schedule.actions(P, M, CHUNKS), schedule.placement(P, CHUNKS)
    rows = visualizer.get_schedule_ops("Interleaved1F1B", P, M, CHUNKS)
    orders = [[op for op in row if op is not None] for row in rows]
    rows = visualizer.get_schedule_ops("Interleaved1F1B", P, M, CHUNKS, with_comms=True)
    with_comms = dict(enumerate([op for op in row if op.computation_type.value in SIMULATED] for row in rows))
    makespan = simulate(actions, placement).makespan
    ours_s = best_s(lambda: simulate(actions, placement), 15)
    spacing_s = best_s(lambda: visualizer.add_schedule_op_spacing(orders), 5)
    comms_s = best_s(lambda: _simulate_comms_compute(with_comms, lambda stage: stage % P, P * CHUNKS), 3)
    return {
        "actions": len(actions),
        "makespan": makespan,
        "ours_s": ours_s,
        "pytorch_spacing_s": spacing_s,
        "pytorch_comms_s": comms_s,
        "times_faster_than_spacing": spacing_s / ours_s,
        "times_faster_than_comms": comms_s / ours_s,
    }


def large() -> dict[str, object]:
    """1F1B at p = 64, m = 1024: 131,072 actions, built and run."""
    schedule = family("1f1b")

    def build_and_run() -> object:
        return simulate(schedule.actions(LARGE_P, LARGE_M), schedule.placement(LARGE_P))

    actions = schedule.actions(LARGE_P, LARGE_M)
    simulate_s = best_s(lambda: simulate(actions, schedule.placement(LARGE_P)), 5)
    both_s = best_s(build_and_run, 5)
    tracemalloc.start()
    build_and_run()
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return {"actions": len(actions), "simulate_s": simulate_s, "build_and_run_s": both_s, "peak_bytes": peak_bytes}


if __name__ == "__main__":
    # before torch is imported: its modules would be walked by every garbage collection of ours
    json.dump({"large": large(), "against_pytorch": against_pytorch()}, sys.stdout, indent=2)
    print()
