"""Lab 02: each sharded layer on two real ranks against the plain layer on one. The layers are tried in checks.py.

torch is not imported to collect these tests: it alone takes seconds.
"""

from pathlib import Path

import numpy as np
import pytest

from core.errors import IndivisibleError
from labs.conftest import load
from labs.diagnosis import agree, error_of, is_due, summed
from labs.spoken import fail, say


@pytest.fixture(scope="module")
def checks():
    pytest.importorskip("torch", reason="lab 02 runs on PyTorch: pip install -r requirements.txt")
    return load(Path(__file__).parent, str(Path(__file__).with_name("checks.py")))


def counted(found, due, what, slips=None):
    """Fail unless each rank has as many of something as are due."""
    __tracebackhide__ = True
    for rank, (own, wanted) in enumerate(zip(found, [due] * len(found), strict=True)):
        is_due(own, wanted, say("part.of_rank", rank=rank, what=what), slips)


def unsent(op):
    """The slip of a rank that sends nothing, or past the group."""
    return {say("slip.unsent", op=op): 0}


def test_column_parallel_matches_single_gpu(checks, lab):
    """Two ranks' features side by side are the plain layer's; nothing was sent; each holds half of W and of b."""
    halves, sent, held = zip(*checks.on_two_ranks(lab, checks.column_parallel), strict=True)
    due, bias, half = checks.plain_linear().numpy(), checks.plain_bias().numpy(), checks.HIDDEN // 2
    first, second = due[:, :half], due[:, half:]
    slips = {
        say("slip.no_bias"): due - bias,
        say("slip.of_rank_zero", first="0"): np.hstack([first, first]),
        say("slip.bias_of_zero", first="0"): due - bias + np.tile(bias[:, :half], 2),
        say("slip.crossed", first="0"): np.hstack([second, first]),
        say("slip.in_turn"): np.hstack([due[:, ::2], due[:, 1::2]]),
        say("slip.features_added"): np.tile(first + second, 2),
        say("slip.all_of_y"): np.tile(due, 2),
    }
    agree(None if None in halves else np.concatenate(halves, axis=-1), due, slips)
    counted(sent, 0, say("part.no_collectives"))
    numbers, both = half * (checks.D + 1), say("part.weight_and_bias")
    kept = {
        say("slip.whole_held", what=both): 2 * numbers,
        say("slip.whole_held", what="W"): numbers + half * checks.D,
    }
    counted(held, numbers, say("part.numbers_held"), kept)


def test_row_parallel_matches_single_gpu(checks, lab):
    """Every rank has the whole y, after one all-reduce and nothing else; each holds half of W."""
    ys, sums, sent, held = zip(*checks.on_two_ranks(lab, checks.row_parallel), strict=True)
    due, terms = checks.plain_row().numpy(), checks.row_terms()
    slips = {
        **summed(due, 2, terms),
        say("slip.terms_beside"): np.hstack(terms),
        say("slip.crossed_columns"): sum(checks.row_terms(crossed=True)),
    }
    for y in ys:
        agree(y, due, slips)
    counted(sums, 1, "all-reduces", unsent("all_reduce"))
    counted(sent, 1, say("part.any_kind"))
    numbers = checks.HIDDEN * checks.D // 2
    counted(held, numbers, say("part.weights_held"), {say("slip.whole_weight"): 2 * numbers})


def test_row_parallel_adds_the_bias_once(checks, lab):
    """Added on every rank before the all-reduce, it would arrive twice."""
    due = np.asarray(checks.plain_bias())
    slips = {
        say("slip.no_bias"): 0 * due,
        say("slip.bias_once", times="1", ranks="2"): 2 * due,
        say("slip.half_bias"): due / 2,
    }
    for y in checks.on_two_ranks(lab, checks.row_parallel_bias):
        agree(y, due, slips)


def test_sharded_embedding_lookup(checks, lab):
    """Every token of an odd vocabulary is found by both ranks; seven rows are padded to four and four."""
    rows, sums, held = zip(*checks.on_two_ranks(lab, checks.embedding), strict=True)
    table = np.asarray(checks.plain_table())
    row = np.arange(len(table))[:, None]
    first = row < 4
    slips = {
        say("slip.own_rows"): table * first,
        say("slip.second_rows"): table * ~first,
        say("slip.first_row"): table + np.where(first, table[4], table[0]),
        say("slip.next_row"): table + np.where(first, table[4], table[3]),
        say("slip.same_tokens", second="1", token="4"): first * (table + np.vstack([table[4:], 0 * table[:4]])),
        say("slip.last_token"): table * (row < 6),
        say("slip.rows_beside"): np.hstack([table * first, table * ~first]),
    }
    for found in rows:
        agree(found, table, slips)
    counted(sums, 1, "all-reduces", unsent("all_reduce"))
    counted(held, 4, say("part.rows_held"))


def test_tied_head_scores_the_vocabulary_and_not_its_padding(checks, lab):
    """Seven logits a token on each rank, the eighth row being padding, by one all-gather of them."""
    logits, gathers, sent_bytes = zip(*checks.on_two_ranks(lab, checks.head), strict=True)
    due = checks.plain_logits().numpy()
    padded = np.hstack([due, 0 * due[:, :1]])
    slips = {
        say("slip.own_logits"): padded[:, :4],
        say("slip.logits_added"): padded[:, :4] + padded[:, 4:],
        say("slip.padding_scored"): padded,
        say("slip.token_cut"): padded[:, 1:],
    }
    for found in logits:
        agree(found, due, slips)
    counted(gathers, 1, "all-gathers", unsent("all_gather"))
    size = 4 * padded.size
    counted(sent_bytes, size, say("part.gathered"))


def test_mlp_pattern_minimal(checks, lab):
    """Column, GELU, row: within 1e-4 of the plain MLP, since a float sum taken in another order moves by ulps."""
    hint = say("result.own_layers")
    for y, sums, sent in checks.on_two_ranks(lab, checks.mlp):
        is_due(sums, 1, say("part.mlp_sums"), {say("slip.two_sums"): 2, **unsent("all_reduce")})
        is_due(sent, 1, say("part.mlp_any"))
        agree(y, checks.plain_mlp(), checks.mlp_slips(), within=1e-4, hint=hint)


def test_one_rank_is_the_plain_layer(checks, lab):
    """At tp_size=1 every layer is what it was, and no collective is written down."""
    group = checks.Group()
    agree(checks.column_parallel(lab, group)[0], checks.plain_linear())
    rows, _, held = checks.embedding(lab, group)
    agree(rows, checks.plain_table())
    is_due(held, checks.VOCABULARY, say("part.one_ranks_rows"))
    is_due(len(group.ledger), 0, say("part.one_rank_sent"))


@pytest.mark.parametrize(("layer", "sizes"), [("ColumnParallelLinear", (5, 8)), ("RowParallelLinear", (8, 5))])
def test_a_layer_that_does_not_divide_is_refused(checks, lab, layer, sizes):
    """8 features over 5 ranks: refused when it is made, not found out in a wrong answer."""
    group = checks.Group()
    group.size = 5
    raised = error_of(lambda: getattr(lab, layer)(*sizes, group))
    if isinstance(raised, IndivisibleError):
        return
    if raised is not None:
        fail("result.layer_raised", layer=layer, raised=type(raised).__name__)
    fail("result.layer_accepts", layer=layer, width=8, ranks=5)
