"""Lab 02: what each rank does in a test, and what the plain layer on one device gives. Runs on real ranks.

Weights are small whole numbers where a test says ==: their float sums are exact in any order.
"""

from pathlib import Path

import torch
import torch.nn.functional as F

from core.course.grading.remarks import say
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


def row_terms(crossed=False):
    """What each of two ranks has before the sum; `crossed`, with the other's part of W."""
    halves = (whole_numbers(T, D, seed=2).chunk(2, dim=-1), whole_numbers(HIDDEN, D).chunk(2, dim=-1))
    if crossed:
        halves = (halves[0], halves[1][::-1])
    return [F.linear(x, W).numpy() for x, W in zip(*halves, strict=True)]


def plain_bias():
    return whole_numbers(HIDDEN, seed=1).expand(T, HIDDEN)


def plain_table():
    return whole_numbers(VOCABULARY, D)


def plain_logits():
    return whole_numbers(T, D, seed=2) @ plain_table().T


def plain_mlp(bend=F.gelu, first=1, second=1):
    """`first` and `second` are how often each bias arrives."""
    W1, b1, W2, b2, x = mlp_weights()
    return F.linear(bend(F.linear(x, W1, first * b1)), W2, second * b2).numpy()


def mlp_slips():
    """A wrong MLP by what is to be said of it."""
    return {
        say("slip.mlp_no_activation"): plain_mlp(torch.nn.Identity()),
        say("slip.mlp_relu"): plain_mlp(F.relu),
        say("slip.mlp_tanh"): plain_mlp(lambda hidden: F.gelu(hidden, approximate="tanh")),
        say("slip.mlp_behind"): F.gelu(torch.tensor(plain_mlp(torch.nn.Identity()))).numpy(),
        say("slip.mlp_no_bias"): plain_mlp(first=0, second=0),
        say("slip.mlp_no_first"): plain_mlp(first=0),
        say("slip.mlp_no_second"): plain_mlp(second=0),
        say("slip.mlp_half"): plain_mlp(second=0.5),
        say("slip.mlp_twice"): plain_mlp(second=2),
    }


def listed(y):
    """What a rank sends back: None where it returned nothing, for a test to say so."""
    return y.tolist() if hasattr(y, "tolist") else y


def held(layer):
    """Numbers that a layer keeps, as parameters, as buffers or as plain tensors."""
    plain = [value for value in vars(layer).values() if isinstance(value, torch.Tensor)]
    return sum(kept.numel() for kept in (*layer.parameters(), *layer.buffers(), *plain))


@torch.no_grad()
def column_parallel(lab, group):
    layer = lab.ColumnParallelLinear(D, HIDDEN, group)
    layer.load_full(whole_numbers(HIDDEN, D), whole_numbers(HIDDEN, seed=1))
    y = layer(whole_numbers(T, D, seed=2))
    return listed(y), len(group.ledger), held(layer)


@torch.no_grad()
def row_parallel(lab, group):
    layer = lab.RowParallelLinear(D, HIDDEN, group, bias=False)
    layer.load_full(whole_numbers(HIDDEN, D))
    x = whole_numbers(T, D, seed=2).chunk(group.size, dim=-1)[group.rank]
    return listed(layer(x)), group.ledger.count("all_reduce"), len(group.ledger), held(layer)


@torch.no_grad()
def row_parallel_bias(lab, group):
    layer = lab.RowParallelLinear(D, HIDDEN, group)
    layer.load_full(torch.zeros(HIDDEN, D), whole_numbers(HIDDEN, seed=1))
    return listed(layer(torch.zeros(T, D // group.size)))


@torch.no_grad()
def embedding(lab, group):
    layer = lab.ShardedEmbedding(VOCABULARY, D, group)
    layer.load_full(whole_numbers(VOCABULARY, D))
    found = listed(layer(torch.arange(VOCABULARY)))
    return found, group.ledger.count("all_reduce"), held(layer) / D


@torch.no_grad()
def head(lab, group):
    layer = lab.ShardedEmbedding(VOCABULARY, D, group)
    layer.load_full(whole_numbers(VOCABULARY, D))
    return (
        listed(layer.logits(whole_numbers(T, D, seed=2))),
        group.ledger.count("all_gather"),
        group.ledger.payload_bytes(),
    )


def mlp_weights():
    rng = torch.Generator().manual_seed(5)
    return [torch.randn(*shape, generator=rng) for shape in ((HIDDEN, D), (HIDDEN,), (D, HIDDEN), (D,), (T, D))]


@torch.no_grad()
def mlp(lab, group):
    W1, b1, W2, b2, x = mlp_weights()
    layer = lab.ParallelMLP(D, HIDDEN, group)
    layer.up_proj.load_full(W1, b1)
    layer.down_proj.load_full(W2, b2)
    return listed(layer(x)), group.ledger.count("all_reduce"), len(group.ledger)
