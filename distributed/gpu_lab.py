"""Lab 02's own branch on the GPU: TP=1 against the CPU's tokens, two ranks that share a GPU, and NCCL's refusal."""

import json
import os
import socket
import subprocess
import sys
from typing import Any

import torch
from torch.multiprocessing.spawn import spawn

from core.two_way_tp.predictions import MINI_GPT
from distributed.collectives import Group
from distributed.gpu_clock import Part
from distributed.job import make_job
from distributed.measure import Arm, decode_graphed, decode_prompt, warm_up
from distributed.progress import summary
from runtime.files import ROOT

STEPS = 100
NCCL_S = 40


def alone(part: Part) -> None:
    """TP=1 on the GPU, eager and replayed, and the CPU's tokens to hold them to."""
    job = make_job(MINI_GPT.key)
    steps = 1 if part.small else STEPS
    own, cpu = _decoded(job, part.where, steps), _decoded(job, torch.device("cpu"), 1)
    part.told["tp1"] = {
        "tokens_equal_the_cpus": own.tokens == cpu.tokens,
        "prompts": len(own.tokens),
        "max_logit_difference": max(
            float((a.cpu()[: len(b)] - b[: len(a)]).abs().max())
            for a, b in zip(own.logits, cpu.logits, strict=True)
        ),
        "step_s": summary(own.step_s),
    }
    if not part.small:
        graphed = decode_graphed(job.model(Group()).to(part.where), job, steps)
        part.told["tp1"] |= {
            "graph_step_s": summary(graphed.step_s),
            "graph_tokens_equal_the_cpus": graphed.tokens == cpu.tokens,
        }
    part.write()


def _decoded(job: Any, where: torch.device, steps: int) -> Arm:
    model, arm = job.model(Group()).to(where), Arm()
    warm_up(model, job)
    for row in range(len(job.prompts)):
        decode_prompt(model, job, row, steps, arm)
    return arm


def together(part: Part) -> None:
    """TP=2 on the one GPU, sums through the host by Gloo: the lines and the result of a capture."""
    kind = "cpu" if part.small else "cuda"
    steps = 1 if part.small else STEPS
    result = part.out / "capture" / "result.json"
    result.parent.mkdir(parents=True, exist_ok=True)
    command = [
        *(sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"),
        *("-m", "distributed.run_tp", "--backend", "gloo", "--device", kind),
        *("--steps-per-prompt", str(steps), "--json", str(result)),
    ]
    done = _ended(command, max(10, part.left_s - NCCL_S))
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    (result.parent / "lines.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    part.told["tp2"] = {
        "what": f"two ranks on one {'CPU' if part.small else 'GPU, which they share'}; Gloo sums on the host",
        "exit_status": done.returncode,
        "lines": len(lines),
        "last_words": [line[:300] for line in done.stderr.strip().splitlines()[-3:]] if done.returncode else [],
    }
    if result.is_file():
        told = json.loads(result.read_text())
        names = ("tokens_equal", "all_reduces_per_token", "per_token_s", "single_per_token_s", "ranks")
        part.told["tp2"] |= {name: told[name] for name in names}
    part.write()


def refused(part: Part) -> None:
    """What NCCL says of two ranks on one GPU, in its own words."""
    if part.small:
        part.told["nccl"] = {"asked": False, "why": "there is no GPU here"}
    elif torch.cuda.device_count() > 1:
        part.told["nccl"] = {"asked": False, "why": "there are several GPUs: the ranks need not share one"}
    else:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        done = _ended([sys.executable, "-m", "distributed.gpu_lab", str(port)], NCCL_S, {"NCCL_DEBUG": "WARN"})
        said = [line.strip() for line in (done.stdout + done.stderr).splitlines()]
        quoted = [
            line for line in said if "uplicate GPU" in line or "ncclInvalidUsage" in line or "NCCL error" in line
        ]
        part.told["nccl"] = {"asked": True, "exit_status": done.returncode, "said": quoted[:6] or said[-6:]}
    part.write()


def _ended(
    command: list[str], limit_s: float, more: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """A command that ended, or was ended."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", **(more or {})}
    try:
        return subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=limit_s, check=False
        )
    except subprocess.TimeoutExpired as error:
        said = error.stdout.decode(errors="replace") if isinstance(error.stdout, bytes) else (error.stdout or "")
        return subprocess.CompletedProcess(command, 124, said, f"ended after {limit_s:g} s")


def measure(part: Part) -> None:
    """All three; what one cannot do, the others still do."""
    for step in (alone, together, refused):
        try:
            step(part)
        except Exception as error:
            part.leave_out(step.__name__, f"{type(error).__name__}: {' '.join(str(error).split())[:300]}")


def ask_nccl(rank: int, port: int) -> None:
    """One of two ranks on GPU 0: join and sum, which NCCL refuses."""
    torch.cuda.set_device(0)
    where = f"tcp://127.0.0.1:{port}"
    torch.distributed.init_process_group("nccl", init_method=where, rank=rank, world_size=2)
    torch.distributed.all_reduce(torch.ones(4, device="cuda"))
    torch.cuda.synchronize()


if __name__ == "__main__":
    spawn(ask_nccl, (int(sys.argv[1]),), nprocs=2)
