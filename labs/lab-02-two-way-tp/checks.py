"""Lab 02: what each rank does in a test, and what the plain layer on one device gives. Runs on real ranks.

Weights are small whole numbers where a test says ==: their float sums are exact in any order.
"""

from pathlib import Path

import torch
import torch.nn.functional as F

from distributed.collectives import Group
from distributed.local_ranks import run_ranks

__all__ = ["Group"]

T, D, HIDDEN = 3, 8, 12
VOCABULARY = 7


def on_two_ranks(lab, check):
    return run_ranks(2, Path(__file__), check.__name__, Path(lab.__file__))


def whole_numbers(*shape, seed=0):
    return torch.randint(-4, 5, shape, generator=torch.Generator().manual_seed(seed)).float()


def plain_linear():
    return F.linear(whole_numbers(T, D, seed=2), whole_numbers(HIDDEN, D), whole_numbers(HIDDEN, seed=1))


def plain_row():
    return F.linear(whole_numbers(T, D, seed=2), whole_numbers(HIDDEN, D))


def row_terms():
    """What each of two ranks has before the sum."""
    halves = (whole_numbers(T, D, seed=2).chunk(2, dim=-1), whole_numbers(HIDDEN, D).chunk(2, dim=-1))
    return [F.linear(x, W).numpy() for x, W in zip(*halves, strict=True)]


def plain_bias():
    return whole_numbers(HIDDEN, seed=1).expand(T, HIDDEN)


def plain_table():
    return whole_numbers(VOCABULARY, D)


def plain_logits():
    return whole_numbers(T, D, seed=2) @ plain_table().T


def plain_mlp(bent=True):
    W1, b1, W2, b2, x = mlp_weights()
    hidden = F.linear(x, W1, b1)
    return F.linear(F.gelu(hidden) if bent else hidden, W2, b2)


@torch.no_grad()
def column_parallel(lab, group):
    layer = lab.ColumnParallelLinear(D, HIDDEN, group)
    layer.load_full(whole_numbers(HIDDEN, D), whole_numbers(HIDDEN, seed=1))
    y = layer(whole_numbers(T, D, seed=2))
    return y.tolist(), len(group.ledger), sum(p.numel() for p in layer.parameters())


@torch.no_grad()
def row_parallel(lab, group):
    layer = lab.RowParallelLinear(D, HIDDEN, group, bias=False)
    layer.load_full(whole_numbers(HIDDEN, D))
    x = whole_numbers(T, D, seed=2).chunk(group.size, dim=-1)[group.rank]
    return layer(x).tolist(), group.ledger.count("all_reduce"), len(group.ledger), layer.weight.numel()


@torch.no_grad()
def row_parallel_bias(lab, group):
    layer = lab.RowParallelLinear(D, HIDDEN, group)
    layer.load_full(torch.zeros(HIDDEN, D), whole_numbers(HIDDEN, seed=1))
    return layer(torch.zeros(T, D // group.size)).tolist()


@torch.no_grad()
def embedding(lab, group):
    layer = lab.ShardedEmbedding(VOCABULARY, D, group)
    layer.load_full(whole_numbers(VOCABULARY, D))
    found = layer(torch.arange(VOCABULARY)).tolist()
    return found, group.ledger.count("all_reduce"), layer.weight.shape[0]


@torch.no_grad()
def head(lab, group):
    layer = lab.ShardedEmbedding(VOCABULARY, D, group)
    layer.load_full(whole_numbers(VOCABULARY, D))
    return layer.logits(whole_numbers(T, D, seed=2)).tolist(), group.ledger.count("all_gather")


def mlp_weights():
    rng = torch.Generator().manual_seed(5)
    return [torch.randn(*shape, generator=rng) for shape in ((HIDDEN, D), (HIDDEN,), (D, HIDDEN), (D,), (T, D))]


@torch.no_grad()
def mlp(lab, group):
    W1, b1, W2, b2, x = mlp_weights()
    layer = lab.ParallelMLP(D, HIDDEN, group)
    layer.up_proj.load_full(W1, b1)
    layer.down_proj.load_full(W2, b2)
    return layer(x).tolist(), group.ledger.count("all_reduce"), len(group.ledger)
