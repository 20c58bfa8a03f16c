"""Two real ranks with one fault put into them, and what each prints until it stops.

    python -m distributed.faulty record [FAULT ...]      writes data/faults/<fault>.json, each from a run of its own

A run is `torchrun --nproc-per-node=2 -m distributed.faulty FAULT`: Gloo on a CPU, sums in a row, each checked by
PyTorch before it is made (TORCH_DISTRIBUTED_DEBUG=DETAIL). The last rank has the fault, before its third sum or
before it joins. Of a traceback the frames are left out, and of a path all but the file.
"""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist

from core.clinic.hang import FAULTS
from distributed import checkpoint, machine
from runtime.files import DATA

FOLDER = DATA / "faults"
RANKS, STEPS, FAULT_STEP, VALUES = 2, 5, 3, 256
TIMEOUT_S, WALL_S = 8, 90

_FRAME = re.compile(r"^(?:\[rank\d\]: ?)?(?: {2,}| *[~^]+$|Traceback|During handling|The above exception)")
_PATH = re.compile(r"(?:/[\w.@+-]+)+/([\w.@+-]+)")
_NOISE = re.compile(
    r"^(?:\*+|=+|-+|\[\d\]:|Failures:|Root Cause.*|distributed\.faulty FAILED)$|ChildFailedError|^\s*$"
)


def run_rank(fault: str) -> int:
    """One of torchrun's processes: join, load, sum and sum again."""
    rank = int(os.environ["RANK"])
    faulty = rank == RANKS - 1
    say(rank, f"started, world size {os.environ['WORLD_SIZE']}")
    if fault == "rank_outside" and faulty:
        time.sleep(WALL_S)
    if fault == "checkpoint_missing":
        checkpoint.require(Path("minigpt-moved.safetensors"))
    dist.init_process_group("gloo", timeout=timedelta(seconds=TIMEOUT_S))
    say(rank, "joined")
    for step in range(1, STEPS + 1):
        values = VALUES
        if faulty and step == FAULT_STEP:
            if fault == "rank_killed":
                os.kill(os.getpid(), signal.SIGKILL)
            if fault == "rank_hung":
                time.sleep(WALL_S)
            if fault == "other_order":
                dist.all_gather([torch.empty(VALUES) for _ in range(RANKS)], torch.ones(VALUES))
            values = VALUES // 2 if fault == "other_shape" else VALUES
        dist.all_reduce(torch.ones(values))
        say(rank, f"sum {step} done")
    dist.destroy_process_group()
    return 0


def say(rank: int, line: str) -> None:
    """A line of this rank, out at once."""
    sys.stdout.write(f"rank {rank}: {line}\n")  # in one piece: two processes write to one pipe
    sys.stdout.flush()


def record(fault: str) -> dict[str, object]:
    """Run it and keep what was printed, with how it was run and how it ended."""
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        if fault != "port_taken":
            taken.close()
        world = ("--nnodes=1", f"--nproc-per-node={RANKS}", "--master-addr=127.0.0.1", f"--master-port={port}")
        command = [sys.executable, "-m", "torch.distributed.run", *world, "-m", "distributed.faulty", fault]
        env = os.environ | {"TORCH_DISTRIBUTED_DEBUG": "DETAIL", "OMP_NUM_THREADS": "1"}
        started = time.monotonic()
        ended = _run(command, env, fault)
    lasted_s = round(time.monotonic() - started, 1)
    told = f"TORCH_DISTRIBUTED_DEBUG=DETAIL torchrun --nproc-per-node={RANKS} -m distributed.faulty {fault}"
    lines = [_PATH.sub(r"\1", line) for line in ended.splitlines() if not _left_out(line)]
    return {
        "fault": fault,
        "lasted_s": lasted_s,
        "lines": lines,
        "manifest": machine.manifest(told, "none", 0, 1),
    }


def _run(command: list[str], env: dict[str, str], fault: str) -> str:
    if fault == "world_too_large":
        return _two_of_three(env, fault)
    with subprocess.Popen(command, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        try:
            return process.communicate(timeout=WALL_S / 2)[0]
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGTERM)
            return process.communicate()[0]


def _two_of_three(env: dict[str, str], fault: str) -> str:
    """Started by hand, as on two hosts: both are told of a third that nobody starts."""
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    world = {"WORLD_SIZE": str(RANKS + 1), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    command = [sys.executable, "-m", "distributed.faulty", fault]
    ranks = [
        subprocess.Popen(
            command,
            env=env | world | {"RANK": str(rank)},
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        for rank in range(RANKS)
    ]
    return "".join(rank.communicate(timeout=WALL_S)[0] for rank in ranks)


def _left_out(line: str) -> bool:
    return bool(_FRAME.match(line) or _NOISE.search(line))


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["record"]:
        FOLDER.mkdir(parents=True, exist_ok=True)
        for fault in arguments[1:] or FAULTS:
            recorded = record(fault)
            (FOLDER / f"{fault}.json").write_text(json.dumps(recorded, indent=1) + "\n", newline="\n")
            print(fault, recorded["lasted_s"], flush=True)
        return 0
    return run_rank(arguments[0])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
