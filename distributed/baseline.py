"""The TP=1 arm: a process of its own that belongs to no group and sees at most one device.

python -m distributed.baseline STEM [--steps-per-prompt N] [--device cpu|cuda]
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import torch

from core.two_way_tp import MINI_GPT
from distributed import checkpoint
from distributed.collectives import Group
from distributed.job import Job, make_job
from distributed.measure import Arm, decode_graphed, decode_prompt, memory_bytes_per_s, time_prefill, warm_up
from distributed.progress import ms, say, say_token, summary
from runtime.processes import end_with_parent

TORCHRUNS_OWN = (
    "RANK",
    "LOCAL_RANK",
    "GROUP_RANK",
    "ROLE_RANK",
    "WORLD_SIZE",
    "LOCAL_WORLD_SIZE",
    "MASTER_",
    "TORCHELASTIC_",
)


@dataclass(frozen=True)
class Alone:
    """The arms of one process: on one device, and where that is one of several cores, on all of them."""

    single: Arm
    all_threads: Arm | None


def arms_alone(job: Job, steps: int, device: str) -> Alone:
    """Run TP=1 on one device, then on a CPU of several cores with a thread for each, and say what they took."""
    cores = os.cpu_count() or 1
    with tempfile.TemporaryDirectory() as folder:
        single = single_arm(Path(folder) / "single", job, steps, device)
        say_token(1, summary(single.step_s))
        if single.graph_step_s:
            say_token(1, summary(single.graph_step_s), "token_graph")
        say("memory", bytes_per_s=round(single.memory_bytes_per_s))
        if device != "cpu" or cores == 1:
            return Alone(single, None)
        wide = single_arm(Path(folder) / "wide", job, steps, device, cores)
        say("token_all_threads", threads=cores, median_ms=ms(statistics.median(wide.step_s)))
        return Alone(single, wide)


def single_arm(stem: Path, job: Job, steps: int, device: str, threads: int = 1) -> Arm:
    """Run the arm in a process of its own and read what it measured."""
    program = [sys.executable, "-m", "distributed.baseline", str(stem), "--device", device]
    options = ["--model", job.name, "--steps-per-prompt", str(steps), "--threads", str(threads)]
    options += ["--prompts", str(len(job.prompts))]
    options += ["--checkpoint", str(job.checkpoint)] if job.checkpoint else []
    alone = {name: value for name, value in os.environ.items() if not name.startswith(TORCHRUNS_OWN)}
    alone["CUDA_VISIBLE_DEVICES"] = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0]
    alone["OMP_NUM_THREADS"] = str(threads)
    subprocess.run([*program, *options], env=alone, check=True, stdout=subprocess.DEVNULL)
    return Arm.load(stem)


def main() -> None:
    end_with_parent()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stem", type=Path, help="where to write the arm, without suffix")
    parser.add_argument("--model", default=MINI_GPT.key)
    parser.add_argument("--checkpoint", type=Path, default=checkpoint.CHECKPOINT)
    parser.add_argument("--steps-per-prompt", type=int, default=100)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--prompts", type=int, default=10, help="how many of the prompts, from the first")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    job = make_job(args.model, args.checkpoint)
    model, arm = job.model(Group()).to(args.device), Arm()
    warm_up(model, job)
    for row in range(min(args.prompts, len(job.prompts))):
        decode_prompt(model, job, row, args.steps_per_prompt, arm)
    if args.device == "cuda":
        arm.graph_step_s = decode_graphed(model, job, args.steps_per_prompt).step_s
    arm.prefill_s = time_prefill(model)
    arm.memory_bytes_per_s = memory_bytes_per_s(args.device)
    arm.save(args.stem)


if __name__ == "__main__":
    main()
