"""Lab 02: each sharded layer on two real ranks against the plain layer on one. The layers are tried in checks.py.

torch is not imported to collect these tests: it alone takes seconds.
"""

from pathlib import Path

import numpy as np
import pytest

from core.errors import IndivisibleError
from labs.conftest import load
from labs.diagnosis import agree, error_of, is_due, summed


@pytest.fixture(scope="module")
def checks():
    pytest.importorskip("torch", reason="lab 02 runs on PyTorch: pip install -r requirements.txt")
    return load(Path(__file__).parent, str(Path(__file__).with_name("checks.py")))


def counted(found, due, what, slips=None):
    """Fail unless each rank has as many of something as are due."""
    __tracebackhide__ = True
    for rank, (own, wanted) in enumerate(zip(found, [due] * len(found), strict=True)):
        is_due(own, wanted, f"Rank {rank}, {what}", slips)


def unsent(op):
    """The slip of a rank that sends nothing, or past the group."""
    return {f"nothing went through group.{op}, which counts what is sent": 0}


def test_column_parallel_matches_single_gpu(checks, lab):
    """Two ranks' features side by side are the plain layer's; nothing was sent; each holds half of W and of b."""
    halves, sent, held = zip(*checks.on_two_ranks(lab, checks.column_parallel), strict=True)
    due, bias, half = checks.plain_linear().numpy(), checks.plain_bias().numpy(), checks.HIDDEN // 2
    first, second = due[:, :half], due[:, half:]
    slips = {
        "the bias is missing": due - bias,
        "every rank has the features of rank 0: group.rank says which part to keep": np.hstack([first, first]),
        "every rank adds the bias of rank 0: b is cut like W": due - bias + np.tile(bias[:, :half], 2),
        "each rank has the features of the other: rank 0 keeps the first part": np.hstack([second, first]),
        "the ranks' features are distributed in turn: each rank keeps a run of consecutive ones": np.hstack(
            [due[:, ::2], due[:, 1::2]]
        ),
        "the ranks' features were added; they are parts of y and not terms of it": np.tile(first + second, 2),
        "each rank has all of y: its own features are enough": np.tile(due, 2),
    }
    agree(None if None in halves else np.concatenate(halves, axis=-1), due, slips)
    counted(sent, 0, "collectives of a layer that needs none")
    whole, numbers = "that is all of {}: keep this rank's part alone", half * (checks.D + 1)
    kept = {whole.format("W and b"): 2 * numbers, whole.format("W"): numbers + half * checks.D}
    counted(held, numbers, "numbers held, half of W and of b", kept)


def test_row_parallel_matches_single_gpu(checks, lab):
    """Every rank has the whole y, after one all-reduce and nothing else; each holds half of W."""
    ys, sums, sent, held = zip(*checks.on_two_ranks(lab, checks.row_parallel), strict=True)
    due, terms = checks.plain_row().numpy(), checks.row_terms()
    slips = {
        **summed(due, 2, terms),
        "the ranks' terms stand side by side: all_reduce adds them": np.hstack(terms),
        "each rank has the columns of W that meet the other's x": sum(checks.row_terms(crossed=True)),
    }
    for y in ys:
        agree(y, due, slips)
    counted(sums, 1, "all-reduces", unsent("all_reduce"))
    counted(sent, 1, "collectives of any kind")
    numbers = checks.HIDDEN * checks.D // 2
    counted(
        held, numbers, "weights held, half of W", {"that is all of W: keep this rank's part alone": 2 * numbers}
    )


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
    row = np.arange(len(table))[:, None]
    first = row < 4
    slips = {
        "a rank has its own rows alone: the all-reduce adds what the others looked up": table * first,
        "the rows of the second rank alone arrived": table * ~first,
        "a token that a rank does not hold has to give zeros there, not its first row": table
        + np.where(first, table[4], table[0]),
        "a token that a rank does not hold has to give zeros there, not the row next to it": table
        + np.where(first, table[4], table[3]),
        "both ranks looked up the same tokens: rank 1's first row is token 4": first
        * (table + np.vstack([table[4:], 0 * table[:4]])),
        "the last token is lost: seven rows make four a rank, the eighth is padding": table * (row < 6),
        "the ranks' rows stand side by side: all_reduce adds them": np.hstack([table * first, table * ~first]),
    }
    for found in rows:
        agree(found, table, slips)
    counted(sums, 1, "all-reduces", unsent("all_reduce"))
    counted(held, 4, "rows of the table held, half of seven and one of padding")


def test_tied_head_scores_the_vocabulary_and_not_its_padding(checks, lab):
    """Seven logits a token on each rank, the eighth row being padding, by one all-gather of them."""
    logits, gathers, sent_bytes = zip(*checks.on_two_ranks(lab, checks.head), strict=True)
    due = checks.plain_logits().numpy()
    padded = np.hstack([due, 0 * due[:, :1]])
    slips = {
        "a rank has the logits of its own rows alone: all_gather puts them side by side": padded[:, :4],
        "the ranks' logits were added: they stand side by side": padded[:, :4] + padded[:, 4:],
        "the padding has a score: cut it off": padded,
        "the padding stands behind the last token, and a token was cut off in its place": padded[:, 1:],
    }
    for found in logits:
        agree(found, due, slips)
    counted(gathers, 1, "all-gathers", unsent("all_gather"))
    size = 4 * padded.size
    counted(sent_bytes, size, "bytes gathered, a float for each logit and for the padding")


def test_mlp_pattern_minimal(checks, lab):
    """Column, GELU, row: within 1e-4 of the plain MLP, since a float sum taken in another order moves by ulps."""
    hint = " The MLP is made of your two layers: if their tests fail, mend those first."
    for y, sums, sent in checks.on_two_ranks(lab, checks.mlp):
        is_due(sums, 1, "All-reduces of an MLP", {"each of the two layers took a sum": 2, **unsent("all_reduce")})
        is_due(sent, 1, "Collectives of an MLP, of any kind")
        agree(y, checks.plain_mlp(), checks.mlp_slips(), within=1e-4, hint=hint)


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
    raised = error_of(lambda: getattr(lab, layer)(*sizes, group))
    if isinstance(raised, IndivisibleError):
        return
    what = "a width of 8 over 5 ranks has to be refused when the layer is made"
    if raised is not None:
        what = f"{type(raised).__name__} was raised; core.errors.require_divides refuses and names the numbers"
    pytest.fail(f"{layer}: {what}.", pytrace=False)
