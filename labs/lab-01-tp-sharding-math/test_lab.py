"""What lab 01 asks for. Whole-number floats make `==` honest; fractions get a tolerance that is explained.

A tensor that a rank holds only a share of comes as a `Whole`: it can be cut, and only a share of it multiplies.
"""

import re

import numpy as np

from core.errors import IndivisibleError
from core.errors import raised as raised_words
from core.ledger import Ledger
from labs.apart import attention, column, mlp, relu, row
from labs.diagnosis import agree, error_of, sends_nothing, sends_once, summed
from labs.spoken import fail, say

SIZES = [1, 2, 4, 8]


def whole_numbers(*shape, seed=0):
    """float64 arrays of small whole numbers: every product and sum below is exact, in any order."""
    return np.random.default_rng(seed).integers(-4, 5, size=shape).astype(np.float64)


def terms(x, W, num_ranks):
    """What each rank of a row-parallel layer has before the sum."""
    return [a @ b.T for a, b in zip(np.split(x, num_ranks, 1), np.split(W, num_ranks, 1), strict=True)]


def test_column_parallel_equals_the_dense_product(lab):
    for num_ranks in SIZES:
        for tokens in (1, 3):
            x, W = whole_numbers(tokens, 5), whole_numbers(16, 5, seed=1)
            agree(column(lab, x, W, num_ranks), x @ W.T)


def test_column_parallel_sends_nothing(lab):
    for num_ranks in SIZES:
        ledger = Ledger()
        y = column(lab, whole_numbers(1, 8), whole_numbers(8, 8), num_ranks, ledger)
        assert y.shape == (1, 8)
        sends_nothing(ledger)


def test_column_parallel_gives_each_output_its_own_bias(lab):
    for num_ranks in SIZES:
        x, W, bias = whole_numbers(2, 4), whole_numbers(8, 4, seed=1), np.arange(8.0) + 1
        y = x @ W.T
        slips = {
            say("slip.no_bias"): y,
            say("slip.bias_times", times=num_ranks - 1): y + num_ranks * bias,
        }
        agree(column(lab, x, W, num_ranks, bias=bias), y + bias, slips)


def test_row_parallel_equals_the_dense_product(lab):
    for num_ranks in SIZES:
        for tokens in (1, 3):
            x, W = whole_numbers(tokens, 16), whole_numbers(5, 16, seed=1)
            agree(row(lab, x, W, num_ranks), x @ W.T, summed(x @ W.T, num_ranks, terms(x, W, num_ranks)))


def test_row_parallel_costs_one_all_reduce_of_y(lab):
    """y is 3 tokens × 5 outputs × 8 bytes: 120 bytes, however many ranks add to it."""
    for num_ranks in SIZES[1:]:
        ledger = Ledger()
        row(lab, whole_numbers(3, 16), whole_numbers(5, 16), num_ranks, ledger)
        sends_once(ledger, 120, num_ranks)


def test_each_rank_gives_the_sum_its_own_term(lab):
    for num_ranks in SIZES[1:]:
        x, W = whole_numbers(2, 16), whole_numbers(5, 16, seed=1)
        agree(row(lab, x, W, num_ranks, Ledger(), due_terms=terms(x, W, num_ranks)), x @ W.T)


def test_one_rank_sends_nothing(lab):
    ledger = Ledger()
    row(lab, whole_numbers(1, 4), whole_numbers(4, 4), 1, ledger)
    sends_nothing(ledger)


def test_an_mlp_on_one_rank_sends_nothing(lab):
    ledger = Ledger()
    mlp(lab, whole_numbers(1, 4), whole_numbers(8, 4), whole_numbers(4, 8), 1, ledger)
    sends_nothing(ledger)


def test_row_parallel_adds_the_bias_once(lab):
    """Added on every rank before the all-reduce, it would arrive num_ranks times."""
    for num_ranks in SIZES:
        x, W, bias = whole_numbers(2, 8), whole_numbers(4, 8, seed=1), np.array([10.0, 20.0, 30.0, 40.0])
        y = x @ W.T
        slips = {
            say("slip.no_bias"): y,
            say("slip.bias_before", times=num_ranks - 1, ranks=num_ranks): y + num_ranks * bias,
        }
        agree(row(lab, x, W, num_ranks, bias=bias), y + bias, {**slips, **summed(y + bias, num_ranks)})


def test_row_parallel_of_fractions_is_within_rounding(lab):
    """In any order D terms land within D · 2⁻⁵³ · Σ|x·W| of the true sum; two orders, within twice that."""
    rng = np.random.default_rng(7)
    x, W = rng.normal(size=(3, 64)), rng.normal(size=(5, 64))
    bound = 64 * 2.0**-53 * (np.abs(x) @ np.abs(W).T)
    for num_ranks in SIZES:
        agree(row(lab, x, W, num_ranks), x @ W.T, summed(x @ W.T, num_ranks), within=2 * bound)


def test_mlp_equals_the_dense_mlp(lab):
    for num_ranks in SIZES:
        for tokens in (1, 3):
            x, W1, W2 = whole_numbers(tokens, 8), whole_numbers(16, 8, seed=1), whole_numbers(8, 16, seed=2)
            due = relu(x @ W1.T) @ W2.T
            slips = {
                say("slip.no_activation"): x @ W1.T @ W2.T,
                say("slip.activated_y"): relu(x @ W1.T @ W2.T),
                **summed(due, num_ranks),
            }
            agree(mlp(lab, x, W1, W2, num_ranks), due, slips)


def test_mlp_applies_the_activation_it_is_given(lab):
    """Squaring tells a finished entry from a term of one: (a + b)² is not a² + b²."""
    for num_ranks in SIZES:
        x, W1, W2 = whole_numbers(2, 4), whole_numbers(8, 4, seed=1), whole_numbers(4, 8, seed=2)
        slips = {
            say("slip.other_activation"): relu(x @ W1.T) @ W2.T,
            say("slip.activated_y"): np.square(x @ W1.T @ W2.T),
            say("slip.activated_terms"): sum(np.square(term) for term in terms(x, W1, min(num_ranks, 4))) @ W2.T,
        }
        y = mlp(lab, x, W1, W2, num_ranks, activation=np.square)
        agree(y, np.square(x @ W1.T) @ W2.T, slips)


def test_mlp_costs_exactly_one_all_reduce(lab):
    """y is 2 tokens × 4 outputs × 8 bytes: 64 bytes. The hidden slices stay where they were made."""
    for num_ranks in SIZES[1:]:
        ledger = Ledger()
        mlp(lab, whole_numbers(2, 4), whole_numbers(16, 4), whole_numbers(4, 16), num_ranks, ledger)
        sends_once(ledger, 64, num_ranks)


def test_every_rank_keeps_its_own_slice_of_the_hidden_row(lab):
    """The idea of the pair: a slice of h is activated where it was made, and multiplied there too."""
    for num_ranks in SIZES[1:]:
        x, W1, W2 = whole_numbers(2, 4), whole_numbers(16, 4, seed=1), whole_numbers(4, 16, seed=2)
        due_terms = terms(relu(x @ W1.T), W2, num_ranks)
        agree(mlp(lab, x, W1, W2, num_ranks, Ledger(), due_terms=due_terms, stays=True), sum(due_terms))


def refuses(run, width, num_ranks):
    """Fail unless an IndivisibleError names the width and the ranks."""
    __tracebackhide__ = True
    asked = {"width": width, "ranks": num_ranks}
    raised = error_of(run)
    if raised is None:
        fail("result.width_returns", **asked)
    if not isinstance(raised, IndivisibleError):
        fail("result.width_stops", error=raised_words(raised), **asked)
    if not re.search(f"{width} does not divide over .*={num_ranks}", str(raised)):
        fail("result.width_as", error=raised.remark, **asked)


def test_outputs_that_do_not_divide_are_refused(lab):
    for num_ranks in (3, 5):
        refuses(lambda n=num_ranks: column(lab, whole_numbers(1, 4), whole_numbers(8, 4), n), 8, num_ranks)


def test_inputs_that_do_not_divide_are_refused(lab):
    for num_ranks in (3, 5):
        refuses(lambda n=num_ranks: row(lab, whole_numbers(1, 8), whole_numbers(4, 8), n), 8, num_ranks)


def test_an_mlp_whose_width_does_not_divide_is_refused(lab):
    refuses(lambda: mlp(lab, whole_numbers(1, 4), whole_numbers(8, 4), whole_numbers(4, 8), 3), 8, 3)


def comes_back_untouched(lab, run, name_of):
    """Fail where a function changed what it was given."""
    __tracebackhide__ = True
    x, W, bias = whole_numbers(2, 8), whole_numbers(8, 8, seed=1), np.ones(8)
    given = [x.copy(), W.copy(), bias.copy()]
    run(lab, *given[:2], 4, bias=given[2])
    for name, before, after in zip(("x", "W", "bias"), (x, W, bias), given, strict=True):
        if not np.array_equal(before, after):
            fail("result.changed", function=name_of, name=name)


def test_what_column_parallel_is_given_comes_back_untouched(lab):
    comes_back_untouched(lab, column, "column_parallel")


def test_what_row_parallel_is_given_comes_back_untouched(lab):
    comes_back_untouched(lab, row, "row_parallel")


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


def test_attention_equals_the_dense_attention(lab):
    """Eight query heads. Sums of tens of terms of order one: 1e-12 leaves room for rounding, for nothing else."""
    for kv_heads in (1, 2, 4, 8):
        for num_ranks in SIZES:
            arrays = attention_problem(8, kv_heads)
            due = dense_attention(*arrays, 2)
            agree(attention(lab, *arrays, num_ranks), due, summed(due, num_ranks), within=1e-12)


def test_attention_costs_exactly_one_all_reduce(lab):
    """y is 3 tokens × 8 outputs × 8 bytes: 192 bytes. Scores, keys and values stay where they were made."""
    for num_ranks in (2, 4):
        ledger = Ledger()
        attention(lab, *attention_problem(4, 2), num_ranks, ledger)
        sends_once(ledger, 192, num_ranks)


def test_every_rank_keeps_the_heads_it_made(lab):
    """Rank r's term is the attention of its own query heads, through its own columns of Wo."""
    for kv_heads, num_ranks in ((4, 2), (2, 4), (1, 2)):
        x, Wq, Wk, Wv, Wo = attention_problem(4, kv_heads)
        query = [np.isin(np.arange(8) // (8 // num_ranks), rank) for rank in range(num_ranks)]
        due_terms = [dense_attention(x, Wq, Wk, Wv, Wo * own, 2) for own in query]
        y = attention(lab, x, Wq, Wk, Wv, Wo, num_ranks, Ledger(), due_terms, stays=True)
        agree(y, dense_attention(x, Wq, Wk, Wv, Wo, 2), within=1e-12)


def test_heads_that_do_not_divide_are_refused(lab):
    for num_ranks in (3, 8):
        refuses(lambda n=num_ranks: attention(lab, *attention_problem(4, 4), n), 4, num_ranks)
