"""Train MiniGPT-grammar on the generated corpus and write its checkpoint.

    python -m distributed.train_grammar [--steps N] [--seed S] [--out PATH]

One process, one thread by default: the same seed gives the same weights on the same machine. The loss is taken on
the correction alone; the sentence before it is only read.
"""

import argparse
import math
import random
import time
from collections.abc import Iterator
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from core.two_way_tp.predictions import MINI_GPT
from distributed import checkpoint
from distributed.collectives import Group
from distributed.grammar_corpus import Example, corpus, part
from distributed.mini_gpt import MiniGPT, initialise
from distributed.progress import say
from distributed.tokenizer import ANSWER, END, encode

IGNORED = -100
WARM_UP_STEPS = 60


def batches(examples: list[Example], size: int, rng: random.Random) -> Iterator[tuple[Tensor, Tensor]]:
    """Endless (tokens[B, T], targets[B, T]) of sentences of like length, so that little of a batch is padding."""
    rows = [(encode(e.wrong + ANSWER), encode(e.right + END)) for e in examples]
    while True:
        order = sorted(range(len(rows)), key=lambda i: len(rows[i][0]) + len(rows[i][1]) + rng.random() * 3)
        chunks = [order[start : start + size] for start in range(0, len(order), size)]
        rng.shuffle(chunks)
        yield from (_batch([rows[i] for i in chunk]) for chunk in chunks)


def _batch(rows: list[tuple[list[int], list[int]]]) -> tuple[Tensor, Tensor]:
    longest = max(len(given) + len(wanted) for given, wanted in rows) - 1
    tokens = torch.zeros(len(rows), longest, dtype=torch.long)
    targets = torch.full((len(rows), longest), IGNORED)
    for row, (given, wanted) in enumerate(rows):
        text = torch.tensor(given + wanted)
        tokens[row, : len(text) - 1] = text[:-1]
        targets[row, len(given) - 1 : len(text) - 1] = text[len(given) :]
    return tokens, targets


def warm_up_and_cosine(step: int, steps: int) -> float:
    """The share of the peak learning rate: a line up, then half a cosine down to a hundredth."""
    if step < WARM_UP_STEPS:
        return (step + 1) / WARM_UP_STEPS
    done = (step - WARM_UP_STEPS) / max(1, steps - WARM_UP_STEPS)
    return 0.01 + 0.99 * (1 + math.cos(math.pi * done)) / 2


def optimizers(model: MiniGPT, peak: float) -> list[torch.optim.Optimizer]:
    """Muon for the layers' matrices, AdamW for the tables, norms and biases.

    Muon makes each update orthogonal; here it needs about a third of AdamW's steps. Source: Jordan et al. 2024.
    """
    matrices = [p for name, p in model.named_parameters() if p.ndim == 2 and "embed" not in name]
    others = [p for name, p in model.named_parameters() if p.ndim < 2 or "embed" in name]
    return [
        torch.optim.Muon(matrices, lr=peak, weight_decay=0.01),
        torch.optim.AdamW(others, lr=0.15 * peak, betas=(0.9, 0.98), weight_decay=0.01),
    ]


def train(steps: int, seed: int, batch: int, peak: float) -> tuple[MiniGPT, float]:
    """A trained model and its last loss, averaged over some steps."""
    model = MiniGPT(MINI_GPT, Group())
    initialise(model, seed)
    both = optimizers(model, peak)
    schedules = [
        torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: warm_up_and_cosine(step, steps))
        for optimizer in both
    ]
    stream = batches(part(corpus(), "train"), batch, random.Random(seed))
    start, recent = time.perf_counter(), math.log(MINI_GPT.vocab_size)
    for step, (tokens, targets) in zip(range(1, steps + 1), stream, strict=False):
        loss = F.cross_entropy(model(tokens).flatten(0, 1), targets.flatten(), ignore_index=IGNORED)
        loss.backward()
        for optimizer in both:
            optimizer.step()
        for schedule in schedules:
            schedule.step()
        model.zero_grad()
        recent = 0.95 * recent + 0.05 * loss.item()
        if step % 50 == 0:
            say("train", step=step, loss=round(recent, 4), elapsed_s=round(time.perf_counter() - start, 1))
    return model, recent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--learning-rate", type=float, default=0.02)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path, default=checkpoint.CHECKPOINT)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    model, loss = train(args.steps, args.seed, args.batch, args.learning_rate)
    made = {"program": "distributed.train_grammar", "torch": torch.__version__, "loss": f"{loss:.4f}"}
    settings = {name: str(getattr(args, name)) for name in ("steps", "seed", "batch", "learning_rate", "threads")}
    checkpoint.save(model, args.out, made | settings)


if __name__ == "__main__":
    main()
