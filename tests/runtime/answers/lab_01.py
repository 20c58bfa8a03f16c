"""Lab 01 as a good student writes it."""

import numpy as np

from core.errors import require_divides
from core.sharding_math.attention import attend
from core.sharding_math.collectives import all_reduce


def relu(values):
    return np.maximum(values, 0)


def column_parallel(x, W, num_ranks, ledger=None, bias=None):
    require_divides("out_features", W.shape[0], "num_ranks", num_ranks)
    slices = [x @ rank.T for rank in np.split(W, num_ranks)]
    y = np.concatenate(slices, axis=1)
    return y if bias is None else y + bias


def row_parallel(x, W, num_ranks, ledger=None, bias=None):
    require_divides("in_features", W.shape[1], "num_ranks", num_ranks)
    terms = [a @ b.T for a, b in zip(np.split(x, num_ranks, axis=1), np.split(W, num_ranks, axis=1), strict=True)]
    y = all_reduce(terms, ledger)
    return y if bias is None else y + bias


def mlp_tp(x, W1, W2, num_ranks, ledger=None, activation=relu):
    require_divides("intermediate_size", W1.shape[0], "num_ranks", num_ranks)
    pairs = zip(np.split(W1, num_ranks), np.split(W2, num_ranks, axis=1), strict=True)
    return all_reduce([activation(x @ up.T) @ down.T for up, down in pairs], ledger)


def attention_tp(x, Wq, Wk, Wv, Wo, head_dim, num_ranks, ledger=None):
    heads, kv_heads = Wq.shape[0] // head_dim, Wk.shape[0] // head_dim
    require_divides("num_attention_heads", heads, "num_ranks", num_ranks)
    each, group = heads // num_ranks, heads // kv_heads
    terms = []
    for rank, (q_rows, o_columns) in enumerate(
        zip(np.split(Wq, num_ranks), np.split(Wo, num_ranks, axis=1), strict=True)
    ):
        first, last = rank * each // group, ((rank + 1) * each - 1) // group + 1
        mine = slice(first * head_dim, last * head_dim)
        k, v = x @ Wk[mine].T, x @ Wv[mine].T
        terms.append(attend(x @ q_rows.T, k, v, head_dim) @ o_columns.T)
    return all_reduce(terms, ledger)
