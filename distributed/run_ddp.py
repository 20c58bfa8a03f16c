"""Train MiniGPT for a few steps on two processes, each with half of the batch, and compare with one process.

    python -m distributed.run_ddp [--json] [--steps N] [--batch B]

Every step rank 0 also takes the joined batch alone, from the same weights: the gradients must agree. They are sent
once a tensor and once in buckets, in turn. The time in sums is recorded for each, beside lab 03's bill of the same
payloads on the link between the ranks, fitted to a sweep of idle all-reduces before the first step.
"""

import argparse
import hashlib
import json
import os
import random
import sys
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from core.two_way_tp.predictions import MINI_GPT
from core.two_way_tp.scaling import fitted_sweep, sums_s
from core.units import binary_bytes, seconds
from distributed import machine
from distributed.collectives import Group
from distributed.data_parallel import DDP_BUCKET_BYTES, average_gradients, gradients, loss_of_part
from distributed.experiments import everyone
from distributed.grammar_corpus import corpus, part
from distributed.job import SEED
from distributed.local_ranks import run_ranks
from distributed.measure import sweep
from distributed.mini_gpt import MiniGPT, initialise
from distributed.progress import summary
from distributed.train_grammar import batches

RANKS = 2
WAYS = {"one sum a tensor": 0, "in buckets": DDP_BUCKET_BYTES}
LEARNING_RATE = 1e-3
LEAST_BYTES = 512
"""The least payload of the sweep: about that of a norm's gradient."""


def trained(_: ModuleType, group: Group, steps: int, batch: int) -> dict[str, object]:
    """What each rank does: `steps` steps for each way of sending, the ways in turn."""
    model = MiniGPT(MINI_GPT, Group())
    initialise(model, SEED)
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE)
    examples = part(corpus(), "train")[: 64 * batch]
    stream = batches(examples, batch, random.Random(SEED))
    swept = {size: took["median"] for size, took in sweep(group, LEAST_BYTES, torch.device("cpu")).items()}
    losses, apart, payloads = [], [], {}
    took_s: dict[str, list[list[float]]] = {way: [] for way in WAYS}
    for number, (tokens, targets) in enumerate(islice(stream, len(WAYS) * steps)):
        way = list(WAYS)[number % len(WAYS)]
        joined = joined_gradients(model, tokens, targets)
        model.zero_grad()
        loss = loss_of_part(model, tokens, targets, group)
        loss.backward()
        group.forget()
        average_gradients(model, group, WAYS[way])
        took_s[way].append([call.end_s - call.start_s for call in group.calls])
        payloads[way] = [call.payload_bytes for call in group.calls]
        apart.append(largest_difference(model, joined))
        losses.append(sum(everyone(group, loss.item())) / group.size)
        optimizer.step()
    return {
        "losses": losses,
        "apart": apart,
        "took_s": took_s,
        "payloads": payloads,
        "swept_s": swept,
        "weights": digest(model),
    }


def joined_gradients(model: MiniGPT, tokens: Tensor, targets: Tensor) -> list[Tensor]:
    """Gradients of the whole batch on one process."""
    model.zero_grad()
    loss_of_part(model, tokens, targets, Group()).backward()
    return [grad.clone() for grad in gradients(model)]


def largest_difference(model: MiniGPT, joined: list[Tensor]) -> float:
    """The largest distance of two gradients of one weight, over the largest gradient there is."""
    apart = max(float((mine - grad).abs().max()) for mine, grad in zip(gradients(model), joined, strict=True))
    return apart / max(float(grad.abs().max()) for grad in joined)


def digest(model: MiniGPT) -> str:
    """A fingerprint of all weights: two ranks share it if theirs are the same bits."""
    weights = b"".join(parameter.detach().numpy().tobytes() for parameter in model.parameters())
    return hashlib.sha256(weights).hexdigest()


def result_of(ranks: list[dict[str, Any]], steps: int, batch: int) -> dict[str, object]:
    """The one object of a run."""
    first, parameters = ranks[0], sum(p.numel() for p in MiniGPT(MINI_GPT, Group()).parameters())
    link = fitted_sweep(first["swept_s"], len(ranks))
    assert link is not None, "a sweep of many sizes can be fitted"
    command = f"python -m distributed.run_ddp --json --steps {steps} --batch {batch}"
    ways = [
        {
            "way": way,
            "all_reduces_per_step": len(took_s[0]),
            "all_reduce_s_per_step": summary([sum(step) for step in took_s]),
            "billed_s_per_step": sums_s(link, first["payloads"][way]),
        }
        for way, took_s in first["took_s"].items()
    ]
    return {
        "ranks": len(ranks),
        "batch": batch,
        "losses": first["losses"],
        "gradient_bytes": 4 * parameters,
        "largest_relative_difference": max(max(rank["apart"]) for rank in ranks),
        "weights_equal_on_all_ranks": len({rank["weights"] for rank in ranks}) == 1,
        "ways": ways,
        "manifest": machine.manifest(command, f"random, seed {SEED}", SEED, 1),
    }


def print_table(result: dict[str, Any]) -> None:
    print(f"loss {result['losses'][0]:.3f} → {result['losses'][-1]:.3f} on {result['ranks']} ranks")
    print(f"gradients apart from one process by {result['largest_relative_difference']:.1e} of the largest")
    for way in result["ways"]:
        took_s = way["all_reduce_s_per_step"]
        sent = f"{binary_bytes(result['gradient_bytes'])} in {way['all_reduces_per_step']} all-reduces"
        print(
            f"{way['way']}: {sent}, {seconds(took_s['median'])} a step (least {seconds(took_s['min'])}); "
            f"billed {seconds(way['billed_s_per_step'])}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    parser.add_argument("--steps", type=int, default=8, help="steps for each way of sending")
    parser.add_argument("--batch", type=int, default=32, help="sentences in the joined batch")
    args = parser.parse_args()
    if not (1 <= args.steps <= 1000 and RANKS <= args.batch <= 1024):
        print(f"run_ddp: steps must be 1 to 1000 and batch {RANKS} to 1024", file=sys.stderr)
        sys.exit(2)
    here = Path(__file__)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    ranks = run_ranks(RANKS, here, trained.__name__, here, steps=args.steps, batch=args.batch)
    result = result_of(ranks, args.steps, args.batch)
    print(json.dumps(result)) if args.json else print_table(result)
    sys.exit(0 if result["weights_equal_on_all_ranks"] else 1)


if __name__ == "__main__":
    main()
