"""Attention and the embedding over ranks. Oracle: the same layer written densely here, in plain numpy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import IndivisibleError, OutOfRangeError
from core.ledger import Ledger
from core.sharding_math.attention import AttentionWeights, attend, attention_product, cut_kv_heads
from core.sharding_math.group import Group
from core.sharding_math.lab import attention_tp
from core.sharding_math.layers import embedding_layer
from core.sharding_math.tensors import Copied

HEAD_DIM = 4


def problem(heads, kv_heads, tokens=3, seed=0):
    """x, then Wq, Wk, Wv and Wo of a head_dim of four."""
    hidden, rng = heads * HEAD_DIM, np.random.default_rng(seed)
    rows = (tokens, hidden, kv_heads * HEAD_DIM, kv_heads * HEAD_DIM, hidden)
    return [rng.normal(size=(count, hidden)) / np.sqrt(hidden) for count in rows]


def dense_attention(x, Wq, Wk, Wv, Wo):
    """One head at a time, one token at a time: nothing of the code under test."""
    heads, share = [], len(Wq) // len(Wk)
    for head in range(len(Wq) // HEAD_DIM):
        own, kv = (slice(n * HEAD_DIM, (n + 1) * HEAD_DIM) for n in (head, head // share))
        q, k, v = x @ Wq[own].T, x @ Wk[kv].T, x @ Wv[kv].T
        scores = [np.exp(k[: t + 1] @ q[t] / np.sqrt(HEAD_DIM)) for t in range(len(x))]
        heads.append([row / row.sum() @ v[: t + 1] for t, row in enumerate(scores)])
    return np.concatenate([np.array(rows) for rows in heads], axis=1) @ Wo.T


def close(a, b):
    """Sums of some tens of terms of order one: far above 1e-12 something is wrong, far below it is rounding."""
    return np.allclose(a, b, rtol=0, atol=1e-12)


sizes = st.sampled_from([1, 2, 4, 8])


@given(sizes, sizes, st.integers(1, 5), st.integers(0, 50))
def test_sharded_attention_is_the_dense_one_with_one_sum(num_ranks, kv_heads, tokens, seed):
    """Eight heads; KV heads below, at and above the number of ranks. y is T rows of 32 numbers of 8 bytes."""
    arrays, ledger = problem(8, kv_heads, tokens, seed), Ledger()
    assert close(attention_tp(*arrays, HEAD_DIM, num_ranks, ledger), dense_attention(*arrays))
    assert [entry.payload_bytes for entry in ledger] == ([tokens * 32 * 8] if num_ranks > 1 else [])


def test_kv_heads_above_their_number_are_copied_to_the_ranks_whose_queries_use_them():
    """Two KV heads over eight ranks: ranks 0 to 3 hold the first, 4 to 7 the second."""
    W = np.arange(2 * HEAD_DIM).reshape(-1, 1).astype(float)
    held = cut_kv_heads(Group(8), "Wk", W, 2)
    assert held.placement == Copied(0, 4)
    assert np.array_equal(held.full(), W)
    assert [int(part[0, 0]) // HEAD_DIM for part in held.parts] == [0, 0, 0, 0, 1, 1, 1, 1]


def test_kv_heads_left_whole_would_serve_the_wrong_queries():
    """Uncut KV: rank 1's queries meet the first KV heads instead of their own."""
    x, Wq, Wk, Wv, Wo = problem(8, 8)
    group, k, v = Group(2), x @ Wk.T, x @ Wv.T
    wrong = [attend(x @ Wq_r.T, k[:, :16], v[:, :16], HEAD_DIM) for Wq_r in np.split(Wq, 2)]
    y = sum(part @ Wo_r.T for part, Wo_r in zip(wrong, np.split(Wo, 2, axis=1), strict=True))
    assert not close(y, dense_attention(x, Wq, Wk, Wv, Wo))
    right = attention_product(group, group.replicate("x", x), AttentionWeights(Wq, Wk, Wv, Wo, HEAD_DIM))
    assert close(sum(right.parts), dense_attention(x, Wq, Wk, Wv, Wo))


def test_heads_that_do_not_divide_are_refused():
    for heads, kv_heads, num_ranks in ((6, 3, 4), (8, 8, 3)):
        with pytest.raises(IndivisibleError, match="num_attention_heads"):
            attention_tp(*problem(heads, kv_heads), HEAD_DIM, num_ranks)
    with pytest.raises(OutOfRangeError, match="num_key_value_heads=3"):
        cut_kv_heads(Group(4), "Wk", problem(8, 3)[2], 3)
    with pytest.raises(OutOfRangeError, match="kv_heads=2 cannot serve 3 query heads"):
        attend(np.ones((1, 3 * HEAD_DIM)), *2 * [np.ones((1, 2 * HEAD_DIM))], HEAD_DIM)


@given(st.integers(1, 8), st.integers(4, 20))
def test_an_embedding_cut_by_vocabulary_is_a_look_up_with_one_sum(num_ranks, vocab_size):
    """All terms but one are zero: equal to the last bit, in fractions."""
    table = np.random.default_rng(2).normal(size=(vocab_size, 4))
    ids, group = np.array([0, vocab_size - 1, 3, 3]), Group(num_ranks)
    assert np.array_equal(embedding_layer(group, ids, table).full(), table[ids])
    assert group.ledger.count("all_reduce") == group.ledger.count() == (num_ranks > 1)
