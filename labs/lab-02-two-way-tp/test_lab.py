"""Lab 02: each sharded layer on two real ranks against the plain layer on one.

Weights are small whole numbers where a test says ==: their float sums are exact in any order.
"""

from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="lab 02 runs on PyTorch: pip install -r requirements.txt")

import torch.nn.functional as F  # noqa: E402

from core.errors import IndivisibleError  # noqa: E402
from distributed.collectives import Group  # noqa: E402
from distributed.local_ranks import run_ranks  # noqa: E402

T, D, HIDDEN = 3, 8, 12
VOCABULARY = 7


def whole_numbers(*shape, seed=0):
    return torch.randint(-4, 5, shape, generator=torch.Generator().manual_seed(seed)).float()


def on_two_ranks(lab, check):
    return run_ranks(2, Path(__file__), check.__name__, Path(lab.__file__))


@torch.no_grad()
def column_parallel(lab, group):
    layer = lab.ColumnParallelLinear(D, HIDDEN, group)
    layer.load_full(whole_numbers(HIDDEN, D), whole_numbers(HIDDEN, seed=1))
    y = layer(whole_numbers(T, D, seed=2))
    return y.tolist(), len(group.ledger), sum(p.numel() for p in layer.parameters())


def test_column_parallel_matches_single_gpu(lab):
    """Two ranks' features side by side are the plain layer's; nothing was sent; each holds half of W and of b."""
    answers = on_two_ranks(lab, column_parallel)
    y = F.linear(whole_numbers(T, D, seed=2), whole_numbers(HIDDEN, D), whole_numbers(HIDDEN, seed=1))
    assert torch.equal(torch.cat([torch.tensor(mine) for mine, _, _ in answers], dim=-1), y)
    assert [(sent, held) for _, sent, held in answers] == [(0, (HIDDEN * D + HIDDEN) // 2)] * 2


@torch.no_grad()
def row_parallel(lab, group):
    layer = lab.RowParallelLinear(D, HIDDEN, group, bias=False)
    layer.load_full(whole_numbers(HIDDEN, D))
    x = whole_numbers(T, D, seed=2).chunk(group.size, dim=-1)[group.rank]
    return layer(x).tolist(), group.ledger.count("all_reduce"), len(group.ledger), layer.weight.numel()


def test_row_parallel_matches_single_gpu(lab):
    """Every rank has the whole y, after one all-reduce and nothing else; each holds half of W."""
    answers = on_two_ranks(lab, row_parallel)
    y = F.linear(whole_numbers(T, D, seed=2), whole_numbers(HIDDEN, D))
    assert [torch.equal(torch.tensor(mine), y) for mine, *_ in answers] == [True, True]
    assert [rest for _, *rest in answers] == [[1, 1, HIDDEN * D // 2]] * 2


@torch.no_grad()
def row_parallel_bias(lab, group):
    layer = lab.RowParallelLinear(D, HIDDEN, group)
    layer.load_full(torch.zeros(HIDDEN, D), whole_numbers(HIDDEN, seed=1))
    return layer(torch.zeros(T, D // group.size)).tolist()


def test_row_parallel_adds_the_bias_once(lab):
    """Added on every rank before the all-reduce, it would arrive twice."""
    bias = whole_numbers(HIDDEN, seed=1).expand(T, HIDDEN)
    assert [torch.equal(torch.tensor(mine), bias) for mine in on_two_ranks(lab, row_parallel_bias)] == [True, True]


@torch.no_grad()
def embedding(lab, group):
    layer = lab.ShardedEmbedding(VOCABULARY, D, group)
    layer.load_full(whole_numbers(VOCABULARY, D))
    found = layer(torch.arange(VOCABULARY)).tolist()
    return found, group.ledger.count("all_reduce"), layer.weight.shape[0]


def test_sharded_embedding_lookup(lab):
    """Every token of an odd vocabulary is found by both ranks; seven rows are padded to four and four."""
    answers = on_two_ranks(lab, embedding)
    table = whole_numbers(VOCABULARY, D)
    assert [torch.equal(torch.tensor(found), table) for found, _, _ in answers] == [True, True]
    assert [(sums, rows) for _, sums, rows in answers] == [(1, 4), (1, 4)]


@torch.no_grad()
def head(lab, group):
    layer = lab.ShardedEmbedding(VOCABULARY, D, group)
    layer.load_full(whole_numbers(VOCABULARY, D))
    return layer.logits(whole_numbers(T, D, seed=2)).tolist(), group.ledger.count("all_gather")


def test_tied_head_scores_the_vocabulary_and_not_its_padding(lab):
    """Seven logits a token on each rank, the eighth row being padding, by one all-gather."""
    logits = whole_numbers(T, D, seed=2) @ whole_numbers(VOCABULARY, D).T
    answers = on_two_ranks(lab, head)
    assert [torch.equal(torch.tensor(mine), logits) for mine, _ in answers] == [True, True]
    assert [gathers for _, gathers in answers] == [1, 1]


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


def test_mlp_pattern_minimal(lab):
    """Column, GELU, row: within 1e-4 of the plain MLP, since a float sum taken in another order moves by ulps."""
    W1, b1, W2, b2, x = mlp_weights()
    y = F.linear(F.gelu(F.linear(x, W1, b1)), W2, b2)
    for mine, sums, sent in on_two_ranks(lab, mlp):
        assert (torch.tensor(mine) - y).abs().max() < 1e-4
        assert (sums, sent) == (1, 1)


def test_one_rank_is_the_plain_layer(lab):
    """At tp_size=1 every layer is what it was, and no collective is written down."""
    group = Group()
    assert torch.equal(torch.tensor(column_parallel(lab, group)[0]), plain_linear())
    found, _, rows = embedding(lab, group)
    assert torch.equal(torch.tensor(found), whole_numbers(VOCABULARY, D))
    assert (rows, len(group.ledger)) == (VOCABULARY, 0)


def plain_linear():
    return F.linear(whole_numbers(T, D, seed=2), whole_numbers(HIDDEN, D), whole_numbers(HIDDEN, seed=1))


@pytest.mark.parametrize(("layer", "sizes"), [("ColumnParallelLinear", (5, 8)), ("RowParallelLinear", (8, 5))])
def test_a_layer_that_does_not_divide_is_refused(lab, layer, sizes):
    """8 features over 5 ranks: refused when it is made, not found out in a wrong answer."""
    group = Group()
    group.size = 5
    with pytest.raises(IndivisibleError):
        getattr(lab, layer)(*sizes, group)
