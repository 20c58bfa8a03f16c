"""Decode ten prompts on one process and on two, and compare.

    torchrun --standalone --nproc-per-node=2 -m distributed.run_tp --json PATH
    python -m distributed.run_tp --experiment          the run on rented GPUs: what to copy where, and its manifest

Rank 0 prints progress as JSON lines and writes one object to PATH. The TP=1 arm is a process of its own, started
by rank 0 before the ranks meet, with at most one device visible. One thread a rank in both arms: one core stands
for one device; on a CPU a third arm is one process on all cores. With `--backend gloo --device cuda` ranks may
share a GPU, and their sums go through the host. With NCCL both arms run again, each step replayed as a CUDA graph,
of which a sum cannot be timed on its own. Exit 1 when the tokens differ, 2 when the run cannot be made.
"""

import argparse
import json
import os
import shlex
import statistics
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

import torch

from core.errors import ShardlabError
from core.models.kv_cache import kv_blocks
from core.two_way_tp.predictions import GPTS, MINI_GPT, all_reduce_payload_bytes
from distributed import checkpoint, collectives, machine
from distributed.baseline import Alone, arms_alone
from distributed.collectives import Group
from distributed.decoder import Decoder
from distributed.experiments import break_layers, everyone, slow_one_rank, trace
from distributed.job import SEED, Job, make_job
from distributed.machine import device, ranks_per_gpu, require_device
from distributed.measure import Arm, decode_graphed, decode_prompt, sweep, time_prefill, warm_up
from distributed.progress import ms, say, say_token, summary, us
from distributed.shared_memory import join, several_hosts
from runtime import paid_run
from runtime.files import write_whole
from runtime.processes import end_with_parent

FIRST_WORD_S = 2.0
"""How long a rank that cannot run leaves it to rank 0 to say why."""


def run_rank(args: argparse.Namespace, job: Job) -> int:
    """What each of torchrun's processes does; rank 0 speaks for all."""
    first = os.environ["RANK"] == "0"
    if first:
        say("start", model=job.spec.key, prompts=len(job.prompts), steps_per_prompt=args.steps_per_prompt)
    alone = arms_alone(job, args.steps_per_prompt, args.device) if first else None
    where = device(args.device)  # before the ranks meet: NCCL sends from the current GPU
    group = join(args.backend, args.timeout_s)
    try:
        return report(args, job, group, where, alone)
    finally:
        collectives.leave()


def report(args: argparse.Namespace, job: Job, group: Group, where: torch.device, alone: Alone | None) -> int:
    """Load, decode, count and compare; the exit status."""
    model = job.model(group).to(where)
    ranks = held_by_ranks(model)
    idle = sweep(group, all_reduce_payload_bytes(model.spec), where)
    if alone:
        introduce(model, job, ranks, idle)
    arm = decode_all(model, job, args.steps_per_prompt)
    waits_s = waited_s(group, len(arm.step_s))
    result = compare(model, arm, alone, ranks, waits_s) if alone else None
    if group.backend == "nccl":
        graphed = decode_graphed(model, job, args.steps_per_prompt)
        if result is not None and alone is not None:
            add_graphed(result, graphed, arm, alone)
    arm.prefill_s = time_prefill(model)
    if alone:
        say_prefill(model, arm, alone.single)
    if not several_hosts():
        trace(model, job)
    slow_one_rank(model, job)
    if job.end is not None:
        break_layers(model, job, arm)
    if result is None:
        return 0
    conclude(result, job, args)
    return 0 if result["tokens_equal"] else 1


def introduce(model: Decoder, job: Job, ranks: list[dict[str, int]], idle: dict[int, dict[str, float]]) -> None:
    """Who runs what: the ranks, what each of them holds, and the sweep of idle sums."""
    hosts = int(os.environ.get("GROUP_WORLD_SIZE", "1"))
    group = model.group
    sharing = ranks_per_gpu(model.device)
    shared = {"ranks_per_gpu": sharing} if sharing else {}
    say("world", model=job.spec.key, backend=group.backend, tp_size=group.size, hosts=hosts, **shared, **job.shape)
    for rank, held in enumerate(ranks):
        say("weights", rank=rank, bytes=held["weights_bytes"])
    for rank, held in enumerate(ranks):
        tokens_bytes = held["kv_bytes"] // model.max_tokens
        say("kv", rank=rank, bytes_per_token=tokens_bytes, blocks_that_fit=held["kv_blocks"])
    for payload_bytes, took_s in idle.items():
        figures = {f"{name}_us": us(took_s[name]) for name in ("median", "min", "p95")}
        say("sweep", payload_bytes=payload_bytes, **figures)


def decode_all(model: Decoder, job: Job, steps: int) -> Arm:
    """The TP arm: every rank decodes the same prompts in lockstep."""
    warm_up(model, job)
    model.group.forget()
    arm = Arm()
    for row, given in enumerate(job.given):
        decode_prompt(model, job, row, steps, arm)
        if model.group.rank == 0:
            say("prompt", number=row + 1, of=len(job.given), given=given, answer=job.text(arm.tokens[row]))
    return arm


def compare(
    model: Decoder, arm: Arm, alone: Alone, ranks: list[dict[str, int]], waits_s: list[float]
) -> dict[str, object]:
    """The one object: counts and times of the TP arm beside the single one."""
    group, row_bytes, tp1 = model.group, all_reduce_payload_bytes(model.spec), alone.single
    sums_s, steps = group.decode_all_reduces_s, len(arm.step_s)
    say(
        "collectives",
        all_reduces_per_token=per_token(len(sums_s), steps),
        bytes_per_token=len(sums_s) * row_bytes // steps,
    )
    say("all_reduce", payload_bytes=row_bytes, median_us=us(statistics.median(sums_s)), min_us=us(min(sums_s)))
    gathers = [call for call in group.calls if call.op == "all_gather"]
    least_bytes = min(call.payload_bytes for call in gathers)
    say("all_gather", payload_bytes=least_bytes, median_us=us(statistics.median(group.decode_all_gathers_s)))
    sums_s_per_token = sum(sums_s) / steps
    comm_to_compute = sum(sums_s) / max(1e-9, sum(arm.step_s) - sum(sums_s))
    say(
        "waited",
        ms_per_token=[ms(wait_s) for wait_s in waits_s],
        all_reduce_ms_per_token=ms(sums_s_per_token),
        comm_to_compute=round(comm_to_compute, 4),
    )
    per_token_s = summary(arm.step_s)
    say_token(group.size, per_token_s)
    identical = sum(ours == theirs for ours, theirs in zip(arm.tokens, tp1.tokens, strict=True))
    apart = max_difference(arm, tp1)
    say("tokens", prompts=len(arm.tokens), identical=identical, max_logit_difference=float(f"{apart:.3g}"))
    return {
        "world_size": group.size,
        "backend": group.backend,
        "tokens_equal": identical == len(arm.tokens),
        "max_logit_difference": apart,
        "all_reduces_per_token": per_token(len(sums_s), steps),
        "per_token_s": per_token_s,
        "single_per_token_s": summary(tp1.step_s),
        "all_threads_per_token_s": summary(alone.all_threads.step_s) if alone.all_threads else None,
        "memory_bytes_per_s": round(tp1.memory_bytes_per_s),
        "all_reduce_s_per_token": sums_s_per_token,
        "comm_to_compute": comm_to_compute,
        "waited_s_per_token": waits_s,
        "ranks": ranks,
    }


def conclude(result: dict[str, object], job: Job, args: argparse.Namespace) -> None:
    """Add the manifest and write the object, whole or not at all."""
    options = shlex.join(
        ["--model", job.name, "--steps-per-prompt", str(args.steps_per_prompt), "--backend", str(result["backend"])]
        + (["--device", args.device] if args.device == "cuda" and result["backend"] != "nccl" else [])
    )
    launcher = f"torchrun --standalone --nproc-per-node={result['world_size']}"
    command = f"{launcher} -m distributed.run_tp --json PATH {options}"
    result["manifest"] = machine.manifest(command, job.weights, SEED, torch.get_num_threads())
    if args.json:
        write_whole(args.json, json.dumps(result, indent=1) + "\n")
    say("done", tokens_equal=result["tokens_equal"])


def held_by_ranks(model: Decoder) -> list[dict[str, int]]:
    """Every rank's weight and cache bytes, as allocated, and the KV blocks that the memory left would hold."""
    spec, group = model.spec, model.group
    left_bytes = machine.free_bytes(model.device) // (ranks_per_gpu(model.device) or group.size)
    held = {
        "weights_bytes": model.weights_bytes,
        "kv_bytes": model.new_cache().nbytes,
        "kv_blocks": kv_blocks(left_bytes, spec, group.size, spec.weight_dtype),
    }
    return everyone(group, held)


def waited_s(group: Group, steps: int) -> list[float]:
    """How long each rank stood in sums for the one that came last, a token: that one's stay is the sum itself."""
    told = everyone(group, group.decode_all_reduces_s)
    least = [min(stays) for stays in zip(*told, strict=True)]
    return [sum(stay - own for stay, own in zip(stays, least, strict=True)) / steps for stays in told]


def say_prefill(model: Decoder, arm: Arm, tp1: Arm) -> None:
    """Print what a prompt as long as the model allows took in both arms."""
    payload_bytes = model.max_tokens * all_reduce_payload_bytes(model.spec)
    one_s, both_s = statistics.median(tp1.prefill_s), statistics.median(arm.prefill_s)
    figures = {"single_ms": ms(one_s), "median_ms": ms(both_s)}
    say("prefill", tokens=model.max_tokens, payload_bytes=payload_bytes, **figures)


def max_difference(arm: Arm, tp1: Arm) -> float:
    """The largest distance of two logits that mean the same token, up to the first token that differs."""
    pairs = zip(arm.logits, tp1.logits, strict=True)
    return max(float((a[: len(b)].cpu() - b[: len(a)]).abs().max()) for a, b in pairs)


def per_token(count: int, steps: int) -> int | float:
    """A count a token, whole where it is."""
    return count // steps if count % steps == 0 else count / steps


def add_graphed(result: dict[str, Any], graphed: Arm, arm: Arm, alone: Alone) -> None:
    """What a step took when it was replayed, in both arms; a replay that writes other tokens is no equal."""
    per_token_s = summary(graphed.step_s)
    say_token(result["world_size"], per_token_s, "token_graph")
    result["graph_per_token_s"] = per_token_s
    result["single_graph_per_token_s"] = summary(alone.single.graph_step_s)
    result["tokens_equal"] = result["tokens_equal"] and graphed.tokens == arm.tokens


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="where to write the result")
    parser.add_argument(
        "--backend", choices=("gloo", "shm", "nccl"), default="nccl" if torch.cuda.device_count() > 1 else "gloo"
    )
    parser.add_argument(
        "--device", choices=("cpu", "cuda"), help="cuda with nccl, else cpu; cuda with gloo lets ranks share a GPU"
    )
    parser.add_argument(
        "--model", default=MINI_GPT.key, help=f"{', '.join(GPTS)}, or a directory with config.json and safetensors"
    )
    parser.add_argument("--checkpoint", type=Path, default=checkpoint.CHECKPOINT)
    parser.add_argument("--steps-per-prompt", type=int, default=100, help="decode steps timed a prompt")
    parser.add_argument("--timeout-s", type=float, default=30, help="how long a rank waits for its peers")
    args = parser.parse_args()
    args.device = args.device or ("cuda" if args.backend == "nccl" else "cpu")
    return args


def main() -> None:
    if "--experiment" in sys.argv:
        sys.exit(paid_run.main(sys.argv[1:]))
    end_with_parent()
    args = arguments()
    torch.set_num_threads(1)
    if "RANK" not in os.environ:
        print("start this with: torchrun --standalone --nproc-per-node=2 -m distributed.run_tp", file=sys.stderr)
        sys.exit(2)
    try:
        require_device(args.device, args.backend, int(os.environ["LOCAL_WORLD_SIZE"]), torch.cuda.device_count())
        job = make_job(args.model, args.checkpoint)
    except ShardlabError as error:
        _refuse(str(error))
    sys.exit(run_rank(args, job))


def _refuse(why: str) -> NoReturn:
    """Say why there is no run, and end it. torchrun ends all ranks with the first, which must not be a silent one.

    Rank 0 has the first word; another is ended while it waits, or has the only reason and says it.
    """
    if os.environ["RANK"] != "0":
        time.sleep(FIRST_WORD_S)
    say("error", message=why)
    sys.exit(2)


if __name__ == "__main__":
    main()
