"""What lab 01 asks for. Whole-number floats make `==` honest; fractions get a tolerance that is explained."""

import numpy as np
import pytest

from core.errors import IndivisibleError
from core.ledger import Ledger

SIZES = [1, 2, 4, 8]


def whole_numbers(*shape, seed=0):
    """float64 arrays of small whole numbers: every product and sum below is exact, in any order."""
    return np.random.default_rng(seed).integers(-4, 5, size=shape).astype(np.float64)


def relu(values):
    return np.maximum(values, 0)


@pytest.mark.task(1)
@pytest.mark.parametrize("num_ranks", SIZES)
@pytest.mark.parametrize("tokens", [1, 3])
def test_column_parallel_equals_the_dense_product(lab, num_ranks, tokens):
    x, W = whole_numbers(tokens, 5), whole_numbers(16, 5, seed=1)
    assert np.array_equal(lab.column_parallel(x, W, num_ranks), x @ W.T)


@pytest.mark.task(1)
@pytest.mark.parametrize("num_ranks", SIZES)
def test_column_parallel_sends_nothing(lab, num_ranks):
    ledger = Ledger()
    y = lab.column_parallel(whole_numbers(1, 4), whole_numbers(8, 4), num_ranks, ledger)
    assert y.shape == (1, 8)
    assert len(ledger) == 0


@pytest.mark.task(1)
@pytest.mark.parametrize("num_ranks", SIZES)
def test_column_parallel_gives_each_output_its_own_bias(lab, num_ranks):
    x, W, bias = whole_numbers(2, 4), whole_numbers(8, 4, seed=1), np.arange(8.0)
    assert np.array_equal(lab.column_parallel(x, W, num_ranks, bias=bias), x @ W.T + bias)


@pytest.mark.task(2)
@pytest.mark.parametrize("num_ranks", SIZES)
@pytest.mark.parametrize("tokens", [1, 3])
def test_row_parallel_equals_the_dense_product(lab, num_ranks, tokens):
    x, W = whole_numbers(tokens, 16), whole_numbers(5, 16, seed=1)
    assert np.array_equal(lab.row_parallel(x, W, num_ranks), x @ W.T)


@pytest.mark.task(2)
@pytest.mark.parametrize("num_ranks", [2, 4, 8])
def test_row_parallel_costs_one_all_reduce_of_y(lab, num_ranks):
    """y is 3 tokens × 5 outputs × 8 bytes: 120 bytes, however many ranks add to it."""
    ledger = Ledger()
    lab.row_parallel(whole_numbers(3, 16), whole_numbers(5, 16), num_ranks, ledger)
    (line,) = ledger
    assert (line.op, line.payload_bytes, line.ranks) == ("all_reduce", 120, num_ranks)


@pytest.mark.task(3)
def test_one_rank_sends_nothing(lab):
    ledger = Ledger()
    lab.row_parallel(whole_numbers(1, 4), whole_numbers(4, 4), 1, ledger)
    lab.mlp_tp(whole_numbers(1, 4), whole_numbers(8, 4), whole_numbers(4, 8), 1, ledger)
    assert len(ledger) == 0


@pytest.mark.task(2)
@pytest.mark.parametrize("num_ranks", SIZES)
def test_row_parallel_adds_the_bias_once(lab, num_ranks):
    """Added on every rank before the all-reduce, it would arrive num_ranks times."""
    x, W, bias = whole_numbers(2, 8), whole_numbers(4, 8, seed=1), np.array([10.0, 20.0, 30.0, 40.0])
    assert np.array_equal(lab.row_parallel(x, W, num_ranks, bias=bias), x @ W.T + bias)


@pytest.mark.task(2)
@pytest.mark.parametrize("num_ranks", SIZES)
def test_row_parallel_of_fractions_is_within_rounding(lab, num_ranks):
    """In any order D terms land within D · 2⁻⁵³ · Σ|x·W| of the true sum; two orders, within twice that."""
    rng = np.random.default_rng(7)
    x, W = rng.normal(size=(3, 64)), rng.normal(size=(5, 64))
    bound = 64 * 2.0**-53 * (np.abs(x) @ np.abs(W).T)
    assert (np.abs(lab.row_parallel(x, W, num_ranks) - x @ W.T) <= 2 * bound).all()


@pytest.mark.task(3)
@pytest.mark.parametrize("num_ranks", SIZES)
@pytest.mark.parametrize("tokens", [1, 3])
def test_mlp_equals_the_dense_mlp(lab, num_ranks, tokens):
    x, W1, W2 = whole_numbers(tokens, 4), whole_numbers(16, 4, seed=1), whole_numbers(4, 16, seed=2)
    assert np.array_equal(lab.mlp_tp(x, W1, W2, num_ranks), relu(x @ W1.T) @ W2.T)


@pytest.mark.task(3)
@pytest.mark.parametrize("num_ranks", SIZES)
def test_mlp_applies_the_activation_it_is_given(lab, num_ranks):
    """Squaring tells a finished entry from a term of one: (a + b)² is not a² + b²."""
    x, W1, W2 = whole_numbers(2, 4), whole_numbers(8, 4, seed=1), whole_numbers(4, 8, seed=2)
    y = lab.mlp_tp(x, W1, W2, num_ranks, activation=np.square)
    assert np.array_equal(y, np.square(x @ W1.T) @ W2.T)


@pytest.mark.task(3)
@pytest.mark.parametrize("num_ranks", [2, 4, 8])
def test_mlp_costs_exactly_one_all_reduce(lab, num_ranks):
    """y is 2 tokens × 4 outputs × 8 bytes: 64 bytes. The hidden slices stay where they were made."""
    ledger = Ledger()
    lab.mlp_tp(whole_numbers(2, 4), whole_numbers(16, 4), whole_numbers(4, 16), num_ranks, ledger)
    (line,) = ledger
    assert (line.op, line.payload_bytes, line.ranks) == ("all_reduce", 64, num_ranks)


@pytest.mark.task(1)
@pytest.mark.parametrize("num_ranks", [3, 5])
def test_outputs_that_do_not_divide_are_refused(lab, num_ranks):
    with pytest.raises(IndivisibleError, match=f"8 does not divide over .*={num_ranks}"):
        lab.column_parallel(whole_numbers(1, 4), whole_numbers(8, 4), num_ranks)


@pytest.mark.task(2)
@pytest.mark.parametrize("num_ranks", [3, 5])
def test_inputs_that_do_not_divide_are_refused(lab, num_ranks):
    with pytest.raises(IndivisibleError, match=f"8 does not divide over .*={num_ranks}"):
        lab.row_parallel(whole_numbers(1, 8), whole_numbers(4, 8), num_ranks)


@pytest.mark.task(3)
def test_an_mlp_whose_width_does_not_divide_is_refused(lab):
    with pytest.raises(IndivisibleError):
        lab.mlp_tp(whole_numbers(1, 4), whole_numbers(8, 4), whole_numbers(4, 8), 3)


@pytest.mark.task(2)
@pytest.mark.parametrize("task", ["column_parallel", "row_parallel"])
def test_the_inputs_come_back_untouched(lab, task):
    x, W, bias = whole_numbers(2, 8), whole_numbers(8, 8, seed=1), np.ones(8)
    before = [x.copy(), W.copy(), bias.copy()]
    getattr(lab, task)(x, W, 4, bias=bias)
    assert all(np.array_equal(a, b) for a, b in zip([x, W, bias], before, strict=True))


def attention_problem(heads, kv_heads, tokens=3, head_dim=2, seed=3):
    """x and the four weights of an attention block, of fractions small enough to keep the softmax soft."""
    rng, hidden = np.random.default_rng(seed), heads * head_dim
    shapes = ((tokens, hidden), (hidden, hidden), (kv_heads * head_dim, hidden), (kv_heads * head_dim, hidden))
    return [rng.normal(size=shape) / 2 for shape in (*shapes, (hidden, hidden))]


def dense_attention(x, Wq, Wk, Wv, Wo, head_dim):
    """Every head by itself, every token by itself."""
    share = Wq.shape[0] // Wk.shape[0]
    outputs = []
    for head in range(Wq.shape[0] // head_dim):
        own, kv = (slice(n * head_dim, (n + 1) * head_dim) for n in (head, head // share))
        q, k, v = x @ Wq[own].T, x @ Wk[kv].T, x @ Wv[kv].T
        weights = [np.exp(k[: t + 1] @ q[t] / np.sqrt(head_dim)) for t in range(len(x))]
        outputs.append([w / w.sum() @ v[: t + 1] for t, w in enumerate(weights)])
    return np.concatenate([np.array(rows) for rows in outputs], axis=1) @ Wo.T


@pytest.mark.task(4)
@pytest.mark.parametrize("kv_heads", [1, 2, 4, 8])
@pytest.mark.parametrize("num_ranks", SIZES)
def test_attention_equals_the_dense_attention(lab, num_ranks, kv_heads):
    """Eight query heads. Sums of tens of terms of order one: 1e-12 leaves room for rounding, for nothing else."""
    x, Wq, Wk, Wv, Wo = attention_problem(8, kv_heads)
    y = lab.attention_tp(x, Wq, Wk, Wv, Wo, 2, num_ranks)
    assert np.allclose(y, dense_attention(x, Wq, Wk, Wv, Wo, 2), rtol=0, atol=1e-12)


@pytest.mark.task(4)
@pytest.mark.parametrize("num_ranks", [2, 4])
def test_attention_costs_exactly_one_all_reduce(lab, num_ranks):
    """y is 3 tokens × 8 outputs × 8 bytes: 192 bytes. Scores, keys and values stay where they were made."""
    ledger = Ledger()
    lab.attention_tp(*attention_problem(4, 2), 2, num_ranks, ledger)
    (line,) = ledger
    assert (line.op, line.payload_bytes, line.ranks) == ("all_reduce", 192, num_ranks)


@pytest.mark.task(4)
@pytest.mark.parametrize("num_ranks", [3, 8])
def test_heads_that_do_not_divide_are_refused(lab, num_ranks):
    with pytest.raises(IndivisibleError, match=f"4 does not divide over .*={num_ranks}"):
        lab.attention_tp(*attention_problem(4, 4), 2, num_ranks)
