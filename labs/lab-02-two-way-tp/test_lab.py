"""Lab 02: each sharded layer on two real ranks against the plain layer on one. The layers are tried in checks.py.

torch is not imported to collect these tests: it alone takes seconds.
"""

from pathlib import Path

import numpy as np
import pytest

from core.errors import IndivisibleError
from labs.conftest import load
from labs.diagnosis import agree, is_due, summed


@pytest.fixture(scope="module")
def checks():
    pytest.importorskip("torch", reason="lab 02 runs on PyTorch: pip install -r requirements.txt")
    return load(Path(__file__).parent, str(Path(__file__).with_name("checks.py")))


def counted(found, due, what):
    """Fail unless each rank has as many of something as are due."""
    __tracebackhide__ = True
    for rank, (own, wanted) in enumerate(zip(found, [due] * len(found), strict=True)):
        is_due(own, wanted, f"Rank {rank}, {what}")


def test_column_parallel_matches_single_gpu(checks, lab):
    """Two ranks' features side by side are the plain layer's; nothing was sent; each holds half of W and of b."""
    answers = checks.on_two_ranks(lab, checks.column_parallel)
    halves, sent, held = zip(*answers, strict=True)
    slips = {"the bias is missing": checks.plain_linear() - checks.plain_bias()}
    agree(np.concatenate(halves, axis=-1), checks.plain_linear(), slips)
    counted(sent, 0, "collectives of a layer that needs none")
    counted(held, (checks.HIDDEN * checks.D + checks.HIDDEN) // 2, "parameters held, half of W and of b")


def test_row_parallel_matches_single_gpu(checks, lab):
    """Every rank has the whole y, after one all-reduce and nothing else; each holds half of W."""
    ys, sums, sent, held = zip(*checks.on_two_ranks(lab, checks.row_parallel), strict=True)
    due = np.asarray(checks.plain_row())
    for y in ys:
        agree(y, due, summed(due, 2, checks.row_terms()))
    counted(sums, 1, "all-reduces")
    counted(sent, 1, "collectives of any kind")
    counted(held, checks.HIDDEN * checks.D // 2, "weights held, half of W")


def test_row_parallel_adds_the_bias_once(checks, lab):
    """Added on every rank before the all-reduce, it would arrive twice."""
    due = np.asarray(checks.plain_bias())
    slips = {
        "the bias is missing": 0 * due,
        "every entry is too large by 1 · bias: each of 2 ranks added it before the sum, and it is due once": 2
        * due,
        "half of the bias arrived: the rank that adds it adds all of it": due / 2,
    }
    for y in checks.on_two_ranks(lab, checks.row_parallel_bias):
        agree(y, due, slips)


def test_sharded_embedding_lookup(checks, lab):
    """Every token of an odd vocabulary is found by both ranks; seven rows are padded to four and four."""
    rows, sums, held = zip(*checks.on_two_ranks(lab, checks.embedding), strict=True)
    table = np.asarray(checks.plain_table())
    first = np.arange(len(table))[:, None] < 4
    slips = {
        "a rank has its own rows alone: the all-reduce adds what the others looked up": table * first,
        "the rows of the second rank alone arrived": table * ~first,
        "a token that a rank does not hold has to give zeros there, not its first row": table
        + np.where(first, table[4], table[0]),
        "a token that a rank does not hold has to give zeros there, not the row next to it": table
        + np.where(first, table[4], table[3]),
    }
    for found in rows:
        agree(found, table, slips)
    counted(sums, 1, "all-reduces")
    counted(held, 4, "rows of the table held, half of seven and one of padding")


def test_tied_head_scores_the_vocabulary_and_not_its_padding(checks, lab):
    """Seven logits a token on each rank, the eighth row being padding, by one all-gather."""
    logits, gathers = zip(*checks.on_two_ranks(lab, checks.head), strict=True)
    for found in logits:
        agree(found, checks.plain_logits())
    counted(gathers, 1, "all-gathers")


def test_mlp_pattern_minimal(checks, lab):
    """Column, GELU, row: within 1e-4 of the plain MLP, since a float sum taken in another order moves by ulps."""
    for y, sums, sent in checks.on_two_ranks(lab, checks.mlp):
        is_due(sums, 1, "All-reduces of an MLP", {"each of the two layers took a sum": 2})
        is_due(sent, 1, "Collectives of an MLP, of any kind")
        agree(y, checks.plain_mlp(), {"the activation is missing": checks.plain_mlp(bent=False)}, within=1e-4)


def test_one_rank_is_the_plain_layer(checks, lab):
    """At tp_size=1 every layer is what it was, and no collective is written down."""
    group = checks.Group()
    agree(checks.column_parallel(lab, group)[0], checks.plain_linear())
    rows, _, held = checks.embedding(lab, group)
    agree(rows, checks.plain_table())
    is_due(held, checks.VOCABULARY, "Rows of the table held by one rank, all of them")
    is_due(len(group.ledger), 0, "Collectives of one rank, with nobody to send to")


@pytest.mark.parametrize(("layer", "sizes"), [("ColumnParallelLinear", (5, 8)), ("RowParallelLinear", (8, 5))])
def test_a_layer_that_does_not_divide_is_refused(checks, lab, layer, sizes):
    """8 features over 5 ranks: refused when it is made, not found out in a wrong answer."""
    group = checks.Group()
    group.size = 5
    try:
        getattr(lab, layer)(*sizes, group)
    except IndivisibleError:
        return
    pytest.fail(f"{layer}: a width of 8 over 5 ranks has to be refused when the layer is made.", pytrace=False)
