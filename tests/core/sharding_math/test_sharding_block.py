"""The whole decoder layer over ranks. Oracle: the same layer written densely here, in plain numpy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.catalog import model
from core.errors import IndivisibleError, OutOfRangeError
from core.ledger import Ledger
from core.sharding_math.attention import AttentionWeights, attend, attention_product, deal_kv_heads
from core.sharding_math.backward import column_backward, row_backward
from core.sharding_math.block import BlockWeights, block_layer, rms_norm
from core.sharding_math.group import Group
from core.sharding_math.layers import silu
from core.sharding_math.sequence import sequence_block_layer
from core.sharding_math.step_ledger import ends_ledger, layer_collectives
from core.sharding_math.tensors import Copied, Replicate, Shard
from core.sharding_math.vocabulary import embedding_layer, greedy_tokens, head_layer, pad_rows

HEAD_DIM = 4


def weights(heads, kv_heads, intermediate, seed=0):
    hidden, rng = heads * HEAD_DIM, np.random.default_rng(seed)

    def normal(*shape):
        return rng.normal(size=shape) / np.sqrt(shape[-1])

    attention = AttentionWeights(
        Wq=normal(hidden, hidden),
        Wk=normal(kv_heads * HEAD_DIM, hidden),
        Wv=normal(kv_heads * HEAD_DIM, hidden),
        Wo=normal(hidden, hidden),
        head_dim=HEAD_DIM,
    )
    gains = 1 + 0.1 * rng.normal(size=(2, hidden))
    return BlockWeights(
        gains[0], attention, gains[1], normal(intermediate, hidden), normal(intermediate, hidden),
        normal(hidden, intermediate),
    )  # fmt: skip


def tokens_of(block, count, seed=1):
    return np.random.default_rng(seed).normal(size=(count, block.norm1.size))


def dense_attention(x, a):
    """One head at a time, one token at a time: nothing of the code under test."""
    h, share = a.head_dim, a.num_heads // a.num_kv_heads
    heads = []
    for head in range(a.num_heads):
        own, kv = slice(head * h, head * h + h), slice(head // share * h, head // share * h + h)
        q, k, v = x @ a.Wq[own].T, x @ a.Wk[kv].T, x @ a.Wv[kv].T
        rows = []
        for t in range(len(x)):
            scores = np.exp(k[: t + 1] @ q[t] / np.sqrt(h))
            rows.append(scores / scores.sum() @ v[: t + 1])
        heads.append(rows)
    return np.concatenate([np.array(rows) for rows in heads], axis=1) @ a.Wo.T


def dense_block(x, b):
    x = x + dense_attention(rms_norm(x, b.norm1), b.attention)
    y = rms_norm(x, b.norm2)
    return x + (silu(y @ b.Wg.T) * (y @ b.Wu.T)) @ b.Wd.T


def close(a, b):
    """Sums of some tens of terms of order one: far above 1e-12 something is wrong, far below it is rounding."""
    return np.allclose(a, b, rtol=0, atol=1e-12)


@settings(max_examples=30, deadline=None)
@given(st.sampled_from([1, 2, 4, 8]), st.sampled_from([1, 2, 4, 8]), st.integers(1, 5), st.integers(0, 50))
def test_a_sharded_block_is_the_dense_block(num_ranks, kv_heads, tokens, seed):
    """Eight heads; KV heads below, at and above the number of ranks."""
    block = weights(8, kv_heads, 16, seed)
    x, group = tokens_of(block, tokens), Group(num_ranks)
    assert close(block_layer(group, group.replicate("x", x), block).full(), dense_block(x, block))


@pytest.mark.parametrize("num_ranks", [2, 4, 8])
def test_a_block_talks_twice_and_says_where(num_ranks):
    """Counted against the closed form: the layer's collectives as the model's ledger predicts them."""
    block, group = weights(8, 2, 16), Group(num_ranks)
    block_layer(group, group.replicate("x", tokens_of(block, 3)), block)
    assert [entry.op for entry in group.ledger] == ["all_reduce", "all_reduce"]
    assert [entry.layer for entry in group.ledger] == ["attention", "MLP"]
    assert {entry.payload_bytes for entry in group.ledger} == {3 * 32 * 8}
    predicted = layer_collectives(model("llama-3-8b"), 3, num_ranks)
    assert [entry.op for entry in predicted] == [entry.op for entry in group.ledger]


def test_a_block_on_one_rank_is_silent():
    block, group = weights(4, 4, 8), Group(1)
    block_layer(group, group.replicate("x", tokens_of(block, 2)), block)
    assert len(group.ledger) == 0


def test_kv_heads_above_their_number_are_copied_to_the_ranks_whose_queries_use_them():
    """Two KV heads over eight ranks: ranks 0 to 3 hold the first, 4 to 7 the second."""
    group, W = Group(8), np.arange(2 * HEAD_DIM).reshape(-1, 1).astype(float)
    dealt = deal_kv_heads(group, "Wk", W, 2)
    assert dealt.placement == Copied(0, 4)
    assert np.array_equal(dealt.full(), W)
    assert [int(part[0, 0]) // HEAD_DIM for part in dealt.parts] == [0, 0, 0, 0, 1, 1, 1, 1]


def test_kv_heads_left_whole_would_serve_the_wrong_queries():
    """Unsharded KV: rank 1's queries meet the first KV heads instead of their own."""
    block = weights(8, 8, 16)
    x, a, group = tokens_of(block, 4), block.attention, Group(2)
    k, v = x @ a.Wk.T, x @ a.Wv.T
    wrong = [attend(x @ Wq_r.T, k[:, :16], v[:, :16], HEAD_DIM) for Wq_r in np.split(a.Wq, 2)]
    y = sum(part @ Wo_r.T for part, Wo_r in zip(wrong, np.split(a.Wo, 2, axis=1), strict=True))
    assert not close(y, dense_attention(x, a))
    right = attention_product(group, group.replicate("x", x), a)
    assert close(sum(right.parts), dense_attention(x, a))


@pytest.mark.parametrize(("heads", "kv_heads", "num_ranks"), [(6, 3, 4), (8, 8, 3)])
def test_heads_that_do_not_divide_are_refused(heads, kv_heads, num_ranks):
    block, group = weights(heads, kv_heads, 16), Group(num_ranks)
    with pytest.raises(IndivisibleError, match="num_attention_heads"):
        block_layer(group, group.replicate("x", tokens_of(block, 1)), block)


def test_kv_heads_that_neither_divide_nor_are_divided_are_refused():
    block, group = weights(8, 8, 16), Group(4)
    with pytest.raises(OutOfRangeError, match="num_key_value_heads=3"):
        deal_kv_heads(group, "Wk", block.attention.Wk[:12], 3)


@pytest.mark.parametrize("num_ranks", [1, 2, 4])
def test_a_sequence_parallel_block_is_the_dense_block(num_ranks):
    block = weights(8, 4, 16)
    x, group = tokens_of(block, 8), Group(num_ranks)
    y = sequence_block_layer(group, group.shard("x", x, 0, "tokens"), block)
    assert y.placement == Shard(0)
    assert close(y.full(), dense_block(x, block))


def ring_traffic(ledger):
    """Bytes a rank sends: an all-reduce 2(N-1)/N of its payload, each half (N-1)/N."""
    factor = {"all_reduce": 2, "all_gather": 1, "reduce_scatter": 1}
    return sum(factor[entry.op] * (entry.ranks - 1) / entry.ranks * entry.payload_bytes for entry in ledger)


@pytest.mark.parametrize("num_ranks", [2, 4, 8])
def test_sequence_parallelism_sends_the_same_bytes_and_holds_an_nth_of_the_rows(num_ranks):
    block = weights(8, 4, 16)
    x, plain, sequence = tokens_of(block, 8), Group(num_ranks), Group(num_ranks)
    block_layer(plain, plain.replicate("x", x), block)
    sequence_block_layer(sequence, sequence.shard("x", x, 0, "tokens"), block)
    assert [entry.op for entry in sequence.ledger] == ["all_gather", "reduce_scatter"] * 2
    assert ring_traffic(sequence.ledger) == ring_traffic(plain.ledger)
    rows = {len(group.trace().tensor("x + y").parts[0]) for group in (plain,)}
    assert rows == {8}
    assert len(sequence.trace().tensor("x + y").parts[0]) == 8 // num_ranks


def test_tokens_that_do_not_divide_are_refused():
    block, group = weights(8, 4, 16), Group(4)
    with pytest.raises(IndivisibleError, match="tokens=6"):
        group.shard("x", tokens_of(block, 6), 0, "tokens")


@pytest.mark.parametrize("num_ranks", [1, 2, 3, 4, 8])
@pytest.mark.parametrize("vocab_size", [10, 16])
def test_an_embedding_cut_by_vocabulary_is_a_look_up_with_one_sum(num_ranks, vocab_size):
    """All terms but one are zero: equal to the last bit, in fractions."""
    table = np.random.default_rng(2).normal(size=(vocab_size, 4))
    ids, group = np.array([0, vocab_size - 1, 3, 3]), Group(num_ranks)
    assert np.array_equal(embedding_layer(group, ids, table).full(), table[ids])
    assert group.ledger.count("all_reduce") == group.ledger.count() == (num_ranks > 1)


@pytest.mark.parametrize("num_ranks", [1, 2, 3, 8])
def test_a_head_cut_by_vocabulary_gathers_logits_or_only_the_best(num_ranks):
    """13 entries over 8 ranks are two a rank: the last rank holds padding alone."""
    rng = np.random.default_rng(4)
    table, x = rng.normal(size=(13, 6)), rng.normal(size=(5, 6))
    gathered, best = Group(num_ranks), Group(num_ranks)
    logits = head_layer(gathered, gathered.replicate("x", x), table)
    assert close(logits, x @ table.T)
    tokens = greedy_tokens(best, best.replicate("x", x), table)
    assert np.array_equal(tokens, np.argmax(x @ table.T, axis=1))
    if num_ranks > 1:
        (sent,), (few,) = gathered.ledger, best.ledger
        assert sent.payload_bytes == 5 * pad_rows(table, num_ranks).shape[0] * 8
        assert few.payload_bytes == 5 * num_ranks * 8


def test_the_first_of_equal_logits_wins_across_ranks():
    """Every row of the table is the same, so the first token must win, as in a dense argmax."""
    group = Group(4)
    tokens = greedy_tokens(group, group.replicate("x", np.ones((2, 3))), np.ones((8, 3)))
    assert tokens.tolist() == [0, 0]


def test_the_ends_are_listed_as_a_model_pays_for_them():
    embedding, head = ends_ledger(model("llama-3-8b"), 1, 2)
    assert [embedding.op, head.op] == ["all_reduce", "all_gather"]


@pytest.mark.parametrize("num_ranks", [1, 2, 4])
def test_each_cut_owes_its_sum_in_one_pass_only(num_ranks):
    """Column: none forward, one backward. Row: one forward, none backward. Whole numbers, so exactly equal."""
    rng = np.random.default_rng(6)
    x, W, dy = (rng.integers(-4, 5, size=shape).astype(float) for shape in ((3, 8), (8, 8), (3, 8)))
    group, ledger = Group(num_ranks), Ledger()
    held_x, held_W = group.replicate("x", x), group.shard("W", W, 0, "out_features")
    gradients = column_backward(group, held_x, held_W, group.shard("dy", dy, -1, "out_features"))
    assert np.array_equal(gradients.input.full(), dy @ W)
    assert np.array_equal(gradients.weight.full(), dy.T @ x)
    assert group.ledger.count("all_reduce") == (num_ranks > 1)

    group = Group(num_ranks, ledger)
    held_x, held_W = group.shard("x", x, -1, "in_features"), group.shard("W", W, 1, "in_features")
    gradients = row_backward(group, held_x, held_W, group.replicate("dy", dy))
    assert np.array_equal(gradients.input.full(), dy @ W)
    assert np.array_equal(gradients.weight.full(), dy.T @ x)
    assert len(ledger) == 0


def test_gradients_agree_with_torch():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(8)
    x, W, dy = rng.normal(size=(3, 8)), rng.normal(size=(4, 8)), rng.normal(size=(3, 4))
    theirs_x, theirs_W = (torch.tensor(array, requires_grad=True) for array in (x, W))
    (theirs_x @ theirs_W.T).backward(torch.tensor(dy))
    group = Group(2)
    gradients = row_backward(
        group,
        group.shard("x", x, -1, "in_features"),
        group.shard("W", W, 1, "in_features"),
        group.replicate("dy", dy),
    )
    assert close(gradients.input.full(), theirs_x.grad.numpy())
    assert close(gradients.weight.full(), theirs_W.grad.numpy())


def test_a_gradient_in_the_wrong_placement_is_refused():
    group = Group(2)
    x, W = group.replicate("x", np.ones((1, 4))), group.shard("W", np.ones((4, 4)), 0, "out_features")
    with pytest.raises(OutOfRangeError, match="must be"):
        column_backward(group, x, W, group.replicate("dy", np.ones((1, 4))))
    assert x.placement == Replicate()
