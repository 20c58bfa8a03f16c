"""Decode models of four widths on one process and on two: where TP begins to pay on this machine.

    torchrun --standalone --nproc-per-node=2 -m distributed.run_curve --json PATH [--backend gloo|shm]

Rank 0 prints progress as JSON lines and writes one object to PATH: the sweep of idle sums, the speed of memory read
by one process and by all at once, and both arms at every width. A width that would not fit half of the free memory
is left out, and said.
"""

import argparse
import json
import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import torch

from core.models.weights import held_weight_bytes
from core.two_way_tp.predictions import WIDTHS
from distributed import collectives, machine
from distributed.baseline import arms_of_one_process
from distributed.collectives import Group
from distributed.decoder import Decoder
from distributed.experiments import everyone
from distributed.job import SEED, Job, make_job
from distributed.measure import Arm, decode_prompt, memory_bytes_per_s, sweep, warm_up
from distributed.progress import ms, say, summary
from distributed.shared_memory import join
from runtime.files import write_whole
from runtime.processes import end_with_parent

PROMPTS = 3
CPU = torch.device("cpu")


def jobs(widths: list[int]) -> list[Job]:
    """A job for every width that fits: both arms' weights in half of what memory is free."""
    fitting = []
    for width in widths:
        job = make_job(WIDTHS[width].key)
        needed = 2 * held_weight_bytes(job.spec, job.spec.weight_dtype)
        free = machine.free_bytes(CPU)
        if free and needed > free / 2:
            say("left_out", hidden_size=width, needs_bytes=round(needed), free_bytes=free)
            continue
        fitting.append(replace(job, given=job.given[:PROMPTS], prompts=job.prompts[:PROMPTS]))
    return fitting


def measure(group: Group, job: Job, steps: int) -> list[float]:
    """This rank's decode steps at one width."""
    model: Decoder = job.model(group)
    warm_up(model, job)
    arm = Arm()
    for row in range(len(job.prompts)):
        decode_prompt(model, job, row, steps, arm)
    return arm.step_s


def together(group: Group) -> float:
    """Memory speed of the slowest rank while all of them read."""
    group.all_reduce(torch.zeros(1))
    return min(everyone(group, memory_bytes_per_s()))


def alone(chosen: list[Job], steps: int) -> list[Arm]:
    """TP=1 at every width, each in a process of its own."""
    arms = []
    with tempfile.TemporaryDirectory() as folder:
        for job in chosen:
            arms += arms_of_one_process(Path(folder), job, steps, "cpu")
            say("single", hidden_size=job.spec.hidden_size, median_ms=ms(summary(arms[-1].step_s)["median"]))
    return arms


def run(args: argparse.Namespace) -> None:
    """What each rank does; rank 0 speaks for all."""
    first = os.environ["RANK"] == "0"
    chosen = jobs(args.widths) if first else []
    arms = alone(chosen, args.steps_per_prompt) if first else []
    group = join(args.backend, args.timeout_s)
    chosen = everyone(group, chosen)[0]
    row_bytes = 4 * min(args.widths)
    idle, both = sweep(group, row_bytes, CPU), together(group)
    points = []
    for index, job in enumerate(chosen):
        took_s = measure(group, job, args.steps_per_prompt)
        if first:
            points.append(
                {
                    "hidden_size": job.spec.hidden_size,
                    "single_per_token_s": summary(arms[index].step_s),
                    "per_token_s": summary(took_s),
                }
            )
            say("width", hidden_size=job.spec.hidden_size, median_ms=ms(summary(took_s)["median"]))
    if first:
        conclude(args, group, idle, both, arms, points)
    collectives.leave()


def conclude(
    args: argparse.Namespace,
    group: Group,
    idle: dict[int, dict[str, float]],
    together_bytes_per_s: float,
    arms: list[Arm],
    points: list[dict[str, object]],
) -> None:
    """Write the run's JSON object, on rank 0 alone."""
    command = f"torchrun --standalone --nproc-per-node={group.size} -m distributed.run_curve --json PATH"
    options = f"--backend {args.backend} --steps-per-prompt {args.steps_per_prompt}"
    result = {
        "world_size": group.size,
        "backend": group.backend,
        "sweep": [{"payload_bytes": size, "took_s": took_s} for size, took_s in idle.items()],
        "memory_bytes_per_s": sorted(arm.memory_bytes_per_s for arm in arms)[len(arms) // 2],
        "memory_together_bytes_per_s": together_bytes_per_s,
        "points": points,
        "manifest": machine.manifest(f"{command} {options}", f"random, seed {SEED}", SEED, torch.get_num_threads()),
    }
    if args.json:
        write_whole(args.json, json.dumps(result, indent=1) + "\n")
    say("done", widths=len(points))


def main() -> None:
    end_with_parent()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--backend", choices=("gloo", "shm"), default="gloo")
    parser.add_argument("--widths", type=int, nargs="+", choices=tuple(WIDTHS), default=list(WIDTHS))
    parser.add_argument("--steps-per-prompt", type=int, default=30)
    parser.add_argument("--timeout-s", type=float, default=120)
    args = parser.parse_args()
    torch.set_num_threads(1)
    if "RANK" not in os.environ:
        print("start this with: torchrun --standalone --nproc-per-node=2 -m distributed.run_curve", file=sys.stderr)
        sys.exit(2)
    run(args)


if __name__ == "__main__":
    main()
