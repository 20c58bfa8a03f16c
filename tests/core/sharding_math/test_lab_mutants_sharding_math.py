"""Plausible wrong answers to lab 01: its tests kill each of them, and one says which rule was broken."""

import pytest

from tests.lab_runs import run_mutants, survivors

LAB = "lab-01-tp-sharding-math"

REFERENCE = """
import numpy as np
from core.errors import require_divides
from core.sharding_math.attention import attend
from core.sharding_math.lab import all_reduce, attention_tp, column_parallel, mlp_tp, relu, row_parallel

def cut(array, num_ranks, axis):
    return np.split(array, num_ranks, axis=axis)

def partials(x, W, num_ranks):
    return [x_r @ W_r.T for x_r, W_r in zip(cut(x, num_ranks, 1), cut(W, num_ranks, 1))]
"""

MUTANTS = {
    "the whole product, never cut": (
        """
def column_parallel(x, W, num_ranks, ledger=None, bias=None):
    require_divides("out_features", W.shape[0], "num_ranks", num_ranks)
    return x @ W.T + (0 if bias is None else bias)
""",
        "test_column_parallel_equals_the_dense_product",
    ),
    "the whole product, uncut by another road": (
        """
def column_parallel(x, W, num_ranks, ledger=None, bias=None):
    require_divides("out_features", W.shape[0], "num_ranks", num_ranks)
    return np.einsum("td,fd->tf", x, np.asarray(W)) + (0 if bias is None else bias)
""",
        "test_column_parallel_equals_the_dense_product",
    ),
    "a column layer cut by its inputs, its terms added with no collective": (
        """
def column_parallel(x, W, num_ranks, ledger=None, bias=None):
    return sum(partials(x, W, num_ranks)) + (0 if bias is None else bias)
""",
        "test_column_parallel_sends_nothing",
    ),
    "the all-reduce forgotten: rank 0 keeps its own term": (
        """
def row_parallel(x, W, num_ranks, ledger=None, bias=None):
    return partials(x, W, num_ranks)[0] + (0 if bias is None else bias)
""",
        "test_row_parallel_equals_the_dense_product",
    ),
    "the sum taken by hand, with no collective": (
        """
def row_parallel(x, W, num_ranks, ledger=None, bias=None):
    return sum(partials(x, W, num_ranks)) + (0 if bias is None else bias)
""",
        "test_row_parallel_costs_one_all_reduce_of_y",
    ),
    "reduced twice": (
        """
def row_parallel(x, W, num_ranks, ledger=None, bias=None):
    y = all_reduce([all_reduce(partials(x, W, num_ranks), ledger)] * num_ranks, ledger)
    return y + (0 if bias is None else bias)
""",
        "test_row_parallel_equals_the_dense_product",
    ),
    "the mean for the sum": (
        """
def row_parallel(x, W, num_ranks, ledger=None, bias=None):
    return all_reduce(partials(x, W, num_ranks), ledger) / num_ranks + (0 if bias is None else bias)
""",
        "test_row_parallel_equals_the_dense_product",
    ),
    "the bias on every rank": (
        """
def row_parallel(x, W, num_ranks, ledger=None, bias=None):
    return all_reduce([part + (0 if bias is None else bias) for part in partials(x, W, num_ranks)], ledger)
""",
        "test_row_parallel_adds_the_bias_once",
    ),
    "the activation before the sum": (
        """
def mlp_tp(x, W1, W2, num_ranks, ledger=None, activation=relu):
    hidden = sum(activation(part) for part in partials(x, W1, num_ranks))
    return row_parallel(hidden, W2, num_ranks, ledger)
""",
        "test_mlp_applies_the_activation_it_is_given",
    ),
    "row then column: the hidden row is reduced as well": (
        """
def mlp_tp(x, W1, W2, num_ranks, ledger=None, activation=relu):
    hidden = activation(row_parallel(x, W1, num_ranks, ledger))
    return row_parallel(hidden, W2, num_ranks, ledger)
""",
        "test_mlp_costs_exactly_one_all_reduce",
    ),
    "the activation forgotten": (
        """
def mlp_tp(x, W1, W2, num_ranks, ledger=None, activation=relu):
    pairs = zip(cut(W1, num_ranks, 0), cut(W2, num_ranks, 1))
    return all_reduce([x @ up.T @ down.T for up, down in pairs], ledger)
""",
        "test_mlp_equals_the_dense_mlp",
    ),
    "all of the hidden row put together for free": (
        """
def mlp_tp(x, W1, W2, num_ranks, ledger=None, activation=relu):
    return row_parallel(activation(column_parallel(x, W1, num_ranks)), W2, num_ranks, ledger)
""",
        "test_every_rank_keeps_its_own_slice_of_the_hidden_row",
    ),
    "all of the bias on every rank's outputs": (
        """
def column_parallel(x, W, num_ranks, ledger=None, bias=None):
    slices = [x @ W_r.T + (0 if bias is None else bias) for W_r in cut(W, num_ranks, 0)]
    return np.concatenate(slices, axis=1)
""",
        "test_column_parallel_gives_each_output_its_own_bias",
    ),
    "x met by W as it stands, out of the transpose": (
        """
def column_parallel(x, W, num_ranks, ledger=None, bias=None):
    return np.concatenate([x @ W_r for W_r in cut(W, num_ranks, 0)], axis=1)
""",
        "test_column_parallel_equals_the_dense_product",
    ),
    "W cut along its inputs where its outputs were meant": (
        """
def column_parallel(x, W, num_ranks, ledger=None, bias=None):
    y = np.concatenate(partials(x, W, num_ranks), axis=1)
    return y[:, : W.shape[0]] + (0 if bias is None else bias)
""",
        "test_column_parallel_equals_the_dense_product",
    ),
    "the slices stacked as tokens": (
        """
def column_parallel(x, W, num_ranks, ledger=None, bias=None):
    y = np.concatenate([x @ W_r.T for W_r in cut(W, num_ranks, 0)], axis=0)
    return y if bias is None else y + bias[: y.shape[1]]
""",
        "test_column_parallel_equals_the_dense_product",
    ),
    "an all-gather nobody asked for": (
        """
def column_parallel(x, W, num_ranks, ledger=None, bias=None):
    from core.sharding_math.lab import all_gather
    y = all_gather([x @ W_r.T for W_r in cut(W, num_ranks, 0)], ledger)
    return y + (0 if bias is None else bias)
""",
        "test_column_parallel_sends_nothing",
    ),
    "the KV heads not sharded with the queries": (
        """
def attention_tp(x, Wq, Wk, Wv, Wo, head_dim, num_ranks, ledger=None):
    require_divides("num_attention_heads", Wq.shape[0] // head_dim, "num_ranks", num_ranks)
    k, v = x @ Wk.T, x @ Wv.T
    parts = []
    for Wq_r, Wo_r in zip(cut(Wq, num_ranks, 0), cut(Wo, num_ranks, 1)):
        used = min(k.shape[1], Wq_r.shape[0])
        parts.append(attend(x @ Wq_r.T, k[:, :used], v[:, :used], head_dim) @ Wo_r.T)
    return all_reduce(parts, ledger)
""",
        "test_attention_equals_the_dense_attention",
    ),
    "whole KV on every rank, paired with the wrong queries": (
        """
def attention_tp(x, Wq, Wk, Wv, Wo, head_dim, num_ranks, ledger=None):
    require_divides("num_attention_heads", Wq.shape[0] // head_dim, "num_ranks", num_ranks)
    copies = max(1, num_ranks * Wk.shape[0] // Wq.shape[0])
    parts = []
    for rank, (Wq_r, Wo_r) in enumerate(zip(cut(Wq, num_ranks, 0), cut(Wo, num_ranks, 1))):
        held = [np.roll(W, rank * head_dim, axis=0)[: Wq_r.shape[0]] for W in (Wk, Wv)]
        parts.append(attend(x @ Wq_r.T, x @ held[0].T, x @ held[1].T, head_dim) @ Wo_r.T)
    return all_reduce(parts, ledger)
""",
        "test_attention_equals_the_dense_attention",
    ),
    "the remainder dropped where the width does not divide": (
        """
def column_parallel(x, W, num_ranks, ledger=None, bias=None):
    y = np.concatenate([x @ W_r.T for W_r in np.array_split(W, num_ranks)], axis=1)
    return y + (0 if bias is None else bias)
""",
        "test_outputs_that_do_not_divide_are_refused",
    ),
}


SAYS = {
    "the whole product, never cut": "is more than one rank holds: cut it into",
    "the all-reduce forgotten: rank 0 keeps its own term": "Rank 0 has its own term alone",
    "the sum taken by hand, with no collective": "ranks=0 and 1 hold one of these values each",
    "all of the hidden row put together for free": "joins them: a gather that the ledger does not show",
    "all of the bias on every rank's outputs": "a rank has 4 outputs here and the bias has 8",
    "x met by W as it stands, out of the transpose": "W is [16, 5], (out, in)",
    "reduced twice": "Every entry is 2 times too large: the sum",
    "the mean for the sum": "that is a mean, not a sum",
    "the bias on every rank": "Every entry is too large by 1 · bias",
    "the activation before the sum": "applied to the terms of h, before they were summed",
    "row then column: the hidden row is reduced as well": "The ledger has 2 lines",
    "the activation forgotten": "The activation is missing",
    "a column layer cut by its inputs, its terms added with no collective": "is cut along its outputs, dim 0",
    "the slices stacked as tokens": "The result has the shape (2, 8); (1, 16) is expected",
}
"""What the learner is told of a slip that the lab knows."""


@pytest.mark.slow
def test_each_plausible_bug_dies_by_the_test_of_its_rule(tmp_path):
    graded = run_mutants(LAB, REFERENCE, MUTANTS, tmp_path, whole=True)
    assert survivors(graded, MUTANTS) == set()
    for name, outcomes in graded.items():
        failures = [outcome.failure or "" for outcome in outcomes]
        assert SAYS.get(name, "") in " ".join(failures)
        assert not any("array_equal" in failure for failure in failures), name
