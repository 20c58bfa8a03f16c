"""The TP=1 arm: a process of its own that belongs to no group and sees at most one device.

python -m distributed.single STEM [--steps-per-prompt N] [--device cpu|cuda]
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

import torch

from core.two_way_tp import MINI_GPT
from distributed import checkpoint
from distributed.collectives import Group
from distributed.measure import Arm, decode_prompt, warm_up
from distributed.work import Work, work
from runtime.tether import end_with_parent

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


def single_arm(stem: Path, job: Work, steps: int, device: str) -> Arm:
    """Run the arm in a process of its own and read what it measured."""
    program = [sys.executable, "-m", "distributed.single", str(stem), "--device", device]
    options = ["--model", job.spec.key, "--steps-per-prompt", str(steps)]
    options += ["--checkpoint", str(job.checkpoint)] if job.checkpoint else []
    alone = {name: value for name, value in os.environ.items() if not name.startswith(TORCHRUNS_OWN)}
    alone["CUDA_VISIBLE_DEVICES"] = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0]
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
    args = parser.parse_args()
    torch.set_num_threads(1)
    job = work(args.model, args.checkpoint)
    model, arm = job.model(Group()).to(args.device), Arm()
    warm_up(model, job)
    for row in range(len(job.prompts)):
        decode_prompt(model, job, row, args.steps_per_prompt, arm)
    arm.save(args.stem)


if __name__ == "__main__":
    main()
