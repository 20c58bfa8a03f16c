"""Lab 02: each sharded layer on two real ranks against the plain layer on one. The layers are tried in checks.py.

torch is not imported to collect these tests: it alone takes seconds.
"""

from pathlib import Path

import pytest

from core.errors import IndivisibleError
from labs.conftest import load


@pytest.fixture(scope="module")
def checks():
    pytest.importorskip("torch", reason="lab 02 runs on PyTorch: pip install -r requirements.txt")
    return load(Path(__file__).parent, str(Path(__file__).with_name("checks.py")))


def test_column_parallel_matches_single_gpu(checks, lab):
    """Two ranks' features side by side are the plain layer's; nothing was sent; each holds half of W and of b."""
    answers = checks.on_two_ranks(lab, checks.column_parallel)
    halves = [columns for columns, _, _ in answers]
    assert checks.same(checks.side_by_side(halves), checks.plain_linear())
    assert [(sent, held) for _, sent, held in answers] == [(0, (checks.HIDDEN * checks.D + checks.HIDDEN) // 2)] * 2


def test_row_parallel_matches_single_gpu(checks, lab):
    """Every rank has the whole y, after one all-reduce and nothing else; each holds half of W."""
    answers = checks.on_two_ranks(lab, checks.row_parallel)
    assert [checks.same(y, checks.plain_row()) for y, *_ in answers] == [True, True]
    assert [rest for _, *rest in answers] == [[1, 1, checks.HIDDEN * checks.D // 2]] * 2


def test_row_parallel_adds_the_bias_once(checks, lab):
    """Added on every rank before the all-reduce, it would arrive twice."""
    answers = checks.on_two_ranks(lab, checks.row_parallel_bias)
    assert [checks.same(y, checks.plain_bias()) for y in answers] == [True, True]


def test_sharded_embedding_lookup(checks, lab):
    """Every token of an odd vocabulary is found by both ranks; seven rows are padded to four and four."""
    answers = checks.on_two_ranks(lab, checks.embedding)
    assert [checks.same(rows, checks.plain_table()) for rows, _, _ in answers] == [True, True]
    assert [(sums, held) for _, sums, held in answers] == [(1, 4), (1, 4)]


def test_tied_head_scores_the_vocabulary_and_not_its_padding(checks, lab):
    """Seven logits a token on each rank, the eighth row being padding, by one all-gather."""
    answers = checks.on_two_ranks(lab, checks.head)
    assert [checks.same(logits, checks.plain_logits()) for logits, _ in answers] == [True, True]
    assert [gathers for _, gathers in answers] == [1, 1]


def test_mlp_pattern_minimal(checks, lab):
    """Column, GELU, row: within 1e-4 of the plain MLP, since a float sum taken in another order moves by ulps."""
    for y, sums, sent in checks.on_two_ranks(lab, checks.mlp):
        assert checks.apart(y, checks.plain_mlp()) < 1e-4
        assert (sums, sent) == (1, 1)


def test_one_rank_is_the_plain_layer(checks, lab):
    """At tp_size=1 every layer is what it was, and no collective is written down."""
    group = checks.Group()
    assert checks.same(checks.column_parallel(lab, group)[0], checks.plain_linear())
    rows, _, held = checks.embedding(lab, group)
    assert checks.same(rows, checks.plain_table())
    assert (held, len(group.ledger)) == (checks.VOCABULARY, 0)


@pytest.mark.parametrize(("layer", "sizes"), [("ColumnParallelLinear", (5, 8)), ("RowParallelLinear", (8, 5))])
def test_a_layer_that_does_not_divide_is_refused(checks, lab, layer, sizes):
    """8 features over 5 ranks: refused when it is made, not found out in a wrong answer."""
    group = checks.Group()
    group.size = 5
    with pytest.raises(IndivisibleError):
        getattr(lab, layer)(*sizes, group)
