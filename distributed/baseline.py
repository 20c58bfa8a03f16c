"""The TP=1 arms: a process of their own that belongs to no group and sees at most one device.

python -m distributed.baseline FOLDER [--steps-per-prompt N] [--device cpu|cuda] [--threads 1 2]
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

from core.two_way_tp.predictions import MINI_GPT
from distributed import checkpoint
from distributed.collectives import Group
from distributed.decoder import Decoder
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
    threads = (1, cores) if device == "cpu" and cores > 1 else (1,)
    with tempfile.TemporaryDirectory() as folder:
        single, *wide = arms_of_one_process(Path(folder), job, steps, device, threads)
    say_token(1, summary(single.step_s))
    if single.graph_step_s:
        say_token(1, summary(single.graph_step_s), "token_graph")
    say("memory", bytes_per_s=round(single.memory_bytes_per_s))
    if not wide:
        return Alone(single, None)
    say("token_all_threads", threads=cores, median_ms=ms(statistics.median(wide[0].step_s)))
    return Alone(single, wide[0])


def arms_of_one_process(
    folder: Path, job: Job, steps: int, device: str, threads: tuple[int, ...] = (1,)
) -> list[Arm]:
    """Run the arms, one for each number of threads, in one process, and read what it measured."""
    program = [sys.executable, "-m", "distributed.baseline", str(folder), "--device", device]
    options = ["--model", job.name, "--steps-per-prompt", str(steps), "--threads", *map(str, threads)]
    options += ["--prompts", str(len(job.prompts))]
    options += ["--checkpoint", str(job.checkpoint)] if job.checkpoint else []
    alone = {name: value for name, value in os.environ.items() if not name.startswith(TORCHRUNS_OWN)}
    alone["CUDA_VISIBLE_DEVICES"] = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0]
    alone["OMP_NUM_THREADS"] = str(max(threads))
    subprocess.run([*program, *options], env=alone, check=True, stdout=subprocess.DEVNULL)
    return [Arm.load(folder / str(count)) for count in threads]


def main() -> None:
    end_with_parent()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where to write the arms, each called by its number of threads")
    parser.add_argument("--model", default=MINI_GPT.key)
    parser.add_argument("--checkpoint", type=Path, default=checkpoint.CHECKPOINT)
    parser.add_argument("--steps-per-prompt", type=int, default=100)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, nargs="+", default=[1])
    parser.add_argument("--prompts", type=int, default=10, help="how many of the prompts, from the first")
    args = parser.parse_args()
    torch.set_num_threads(args.threads[0])
    job = make_job(args.model, args.checkpoint)
    model = job.model(Group()).to(args.device)
    for number, threads in enumerate(args.threads):
        torch.set_num_threads(threads)
        arm = measured(model, job, args)
        if not number:
            arm.memory_bytes_per_s = memory_bytes_per_s(args.device)
        arm.save(args.folder / str(threads))


def measured(model: Decoder, job: Job, args: argparse.Namespace) -> Arm:
    """The prompts decoded, after a warm-up."""
    arm = Arm()
    warm_up(model, job)
    for row in range(min(args.prompts, len(job.prompts))):
        decode_prompt(model, job, row, args.steps_per_prompt, arm)
    if args.device == "cuda":
        arm.graph_step_s = decode_graphed(model, job, args.steps_per_prompt).step_s
    arm.prefill_s = time_prefill(model)
    return arm


if __name__ == "__main__":
    main()
