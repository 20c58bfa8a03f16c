"""The algebra of sharding. Oracle: the dense product, numpy's own; whole-number floats make `==` honest."""

from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.catalog import MODELS, link, model
from core.comm_cost.bill import Step, all_reduces_per_step, priced_ends
from core.errors import IndivisibleError, OutOfRangeError
from core.ledger import Ledger
from core.models.parameters import padded_vocab_size, total_parameters
from core.sharding_math.examples import run
from core.sharding_math.group import Group, linear_placement
from core.sharding_math.lab import column_parallel, mlp_tp, row_parallel
from core.sharding_math.layer_parts import layer_parts
from core.sharding_math.layers import relu, row_layer
from core.sharding_math.mistakes import BIAS, DEAR_ORDERS, MISTAKES, broken
from core.sharding_math.numerics import (
    PRECISIONS,
    largest_error,
    matmul,
    precision,
    rounded_matmul,
    sum_in_order,
    ulps_apart,
)
from core.sharding_math.rounding import TOKENS, Trial, run_trial
from core.sharding_math.step_ledger import ends_ledger, mlp_order_collectives, step_ledger
from core.sharding_math.tensors import Partial, Replicate, Shard
from core.sharding_math.tp_sizes import check_tp_size, tp_sizes
from tests.each import each

ranks = st.integers(1, 8)
lengths = st.integers(1, 6)


def whole(seed, *shape):
    return np.random.default_rng(seed).integers(-9, 10, size=shape).astype(np.float64)


@settings(max_examples=60, deadline=None)
@given(ranks, lengths, lengths, lengths, st.integers(0, 99))
def test_column_parallel_is_the_dense_product(num_ranks, tokens, inputs, share, seed):
    x, W = whole(seed, tokens, inputs), whole(seed + 1, share * num_ranks, inputs)
    assert np.array_equal(column_parallel(x, W, num_ranks), x @ W.T)


@settings(max_examples=60, deadline=None)
@given(ranks, lengths, lengths, lengths, st.integers(0, 99))
def test_row_parallel_is_the_dense_product_on_whole_numbers(num_ranks, tokens, outputs, share, seed):
    x, W = whole(seed, tokens, share * num_ranks), whole(seed + 1, outputs, share * num_ranks)
    assert np.array_equal(row_parallel(x, W, num_ranks), x @ W.T)


@settings(max_examples=60, deadline=None)
@given(ranks, lengths, lengths, lengths, st.integers(0, 99))
def test_an_mlp_is_the_dense_mlp_and_talks_once(num_ranks, tokens, hidden, share, seed):
    x = whole(seed, tokens, hidden)
    W1, W2 = whole(seed + 1, share * num_ranks, hidden), whole(seed + 2, hidden, share * num_ranks)
    ledger = Ledger()
    assert np.array_equal(mlp_tp(x, W1, W2, num_ranks, ledger), relu(x @ W1.T) @ W2.T)
    assert ledger.count() == ledger.count("all_reduce") == (num_ranks > 1)


@settings(max_examples=60, deadline=None)
@given(ranks, st.integers(1, 40))
def test_a_dimension_that_does_not_divide_is_refused_and_no_other(num_ranks, width):
    x, W = whole(0, 1, width), whole(1, width, width)
    if width % num_ranks:
        with pytest.raises(
            IndivisibleError, match=f"out_features={width} does not divide over num_ranks={num_ranks}"
        ):
            column_parallel(x, W, num_ranks)
        with pytest.raises(IndivisibleError, match="in_features"):
            row_parallel(x, W, num_ranks)
    else:
        assert np.array_equal(column_parallel(x, W, num_ranks), row_parallel(x, W, num_ranks))


def test_no_ranks_at_all_are_refused():
    with pytest.raises(OutOfRangeError, match="num_ranks=0"):
        column_parallel(whole(0, 1, 2), whole(1, 2, 2), 0)


def test_whole_number_arrays_need_not_be_floats():
    x, W = np.array([[1, 2, 3, 4]]), np.arange(8).reshape(2, 4)
    assert np.array_equal(row_parallel(x, W, 2), x @ W.T)


@each("num_ranks", [1, 2, 4, 8])
@each("name", PRECISIONS)
def test_column_parallel_is_bit_equal_in_every_format(name, num_ranks):
    """Each output is one rank's dot product, added up in the order that one device would."""
    rng, fmt = np.random.default_rng(3), precision(name)
    x, W = rng.normal(size=(2, 24)), rng.normal(size=(16, 24))
    group = Group(num_ranks, fmt=fmt)
    y = group.linear("y", group.replicate("x", x), group.shard("W", W, 0, "out_features")).full()
    assert largest_error(y, rounded_matmul(fmt.rounded(x), fmt.rounded(W), fmt), fmt).entries_apart == 0


@pytest.mark.parametrize("order", ["ring", "tree", "rank"])
def test_row_parallel_in_fractions_moves_by_ulps_and_not_by_nothing(order):
    """64 addends in 8 groups: some of 4,096 entries round otherwise, none far from the format's grain."""
    rng, fmt = np.random.default_rng(5), precision("float32")
    x, W = rng.uniform(0.5, 1, size=(64, 64)), rng.uniform(0.5, 1, size=(64, 64))
    group = Group(8, fmt=fmt, order=order)
    y = row_layer(group, group.shard("x", x, -1, "in_features"), W).full()
    error = largest_error(y, rounded_matmul(fmt.rounded(x), fmt.rounded(W), fmt), fmt)
    assert 0 < error.entries_apart < error.entries
    assert 1 <= error.ulps <= 64


def test_a_trial_counts_every_entry_once_by_its_distance_up_to_nine_ulps():
    """Each cut has the rows 0 to 9, with none left out, and they hold every output of every token."""
    trial = Trial(8, 16, 2, "float32", "ring")
    rows = run_trial(trial).rows
    assert [(row.cut, row.ulps) for row in rows] == [(cut, n) for cut in ("column", "row") for n in range(10)]
    assert sum(row.entries for row in rows if row.cut == "row") == TOKENS * trial.out_features


def test_the_drawn_row_is_two_ulps_off_at_the_last_output():
    """float32 over two ranks in ring order: y[3] is summed in pairs and lands two steps from the dense sum."""
    fmt = precision("float32")
    drawn = run("row", 2, fmt=fmt)
    error = largest_error(drawn.trace.result.full(), drawn.dense, fmt)
    assert (error.ulps, error.index) == (2, (0, 3))


def test_a_ring_ends_each_chunk_at_its_own_rank():
    """Texts do not commute, so the result spells the order: chunk c starts at rank c+1."""
    parts = [np.array([f"{rank}" for _ in range(4)], dtype=object) for rank in range(4)]
    assert sum_in_order(parts, "ring", lambda a, b: a + b).tolist() == ["1230", "2301", "3012", "0123"]
    assert sum_in_order(parts, "rank", lambda a, b: a + b).tolist() == ["0123"] * 4


def test_a_tree_pairs_neighbours():
    parts = [np.array(f"{rank}", dtype=object) for rank in range(5)]
    assert sum_in_order(parts, "tree", lambda a, b: f"({a}{b})") == "(((01)(23))4)"


def test_an_ulp_is_the_gap_to_the_next_number():
    one = np.array([1.0, -1.0, 0.0, 2.0])
    assert ulps_apart(one, np.nextafter(one, np.inf)).tolist() == [1, 1, 1, 1]
    assert ulps_apart(np.array([-0.0]), np.array([0.0])).tolist() == [0]
    assert ulps_apart(np.array([1.0], np.float16), np.array([1.5], np.float16)).tolist() == [512]
    assert ulps_apart(np.array([3, -2]), np.array([7, -2])).tolist() == [4, 0]


def test_bfloat16_keeps_eight_bits_and_rounds_ties_to_even():
    """Numbers from 1 to 2 are 1/128 apart: 1 + 1/256 is a tie and goes to 1, 1 + 3/256 to 1 + 2/128."""
    fmt = precision("bfloat16")
    rounded = fmt.rounded(np.array([1 + 1 / 256, 1 + 3 / 256, 1 + 1.001 / 256, -0.1]))
    assert rounded.tolist() == [1.0, 1 + 2 / 128, 1 + 1 / 128, -0.10009765625]
    assert ulps_apart(rounded[:1], rounded[1:2], fmt).tolist() == [2]


@pytest.mark.slow
def test_bfloat16_agrees_with_torch():
    torch = pytest.importorskip("torch")
    values = np.random.default_rng(1).normal(size=4096).astype(np.float32)
    theirs = torch.from_numpy(values).to(torch.bfloat16).to(torch.float32).numpy()
    assert np.array_equal(precision("bfloat16").rounded(values), theirs)


def test_our_matmul_is_numpys_within_rounding():
    rng = np.random.default_rng(9)
    x, W = rng.normal(size=(3, 50)), rng.normal(size=(7, 50))
    bound = 2 * 50 * 2.0**-53 * (np.abs(x) @ np.abs(W).T)
    assert (np.abs(matmul(x, W) - x @ W.T) <= bound).all()


def test_a_sum_not_yet_taken_can_be_neither_read_nor_bent():
    group = Group(2)
    x, W = group.shard("x", whole(0, 1, 4), -1, "in_features"), group.shard("W", whole(1, 2, 4), 1, "in_features")
    partial = group.linear("partial y", x, W)
    assert partial.placement == Partial()
    with pytest.raises(OutOfRangeError, match="partial sum"):
        partial.full()
    with pytest.raises(OutOfRangeError, match="reduce it before"):
        group.pointwise("σ", relu, partial)
    with pytest.raises(OutOfRangeError, match="arrive 2 times"):
        group.add_bias("y", partial, np.ones(2))


def test_placements_that_no_rank_can_multiply_are_refused():
    assert linear_placement(Replicate(), Shard(0)) == Shard(-1)
    assert linear_placement(Shard(-1), Shard(1)) == Partial()
    for x, W in [(Shard(-1), Shard(0)), (Replicate(), Shard(1)), (Partial(), Replicate())]:
        with pytest.raises(OutOfRangeError, match="no local product"):
            linear_placement(x, W)


def test_what_is_logged_cannot_be_written():
    trace = run("row", 2).trace
    with pytest.raises(ValueError, match="read-only"):
        trace.tensor("W").parts[0][0, 0] = 1


def test_a_trace_holds_what_each_rank_held():
    """The drawn row on four ranks: one input of W each, partial rows that add up to y, one payload of 4 × 8 B."""
    trace = run("row", 4).trace
    assert [tensor.name for tensor in trace.tensors] == ["x", "W", "partial y", "y"]
    assert trace.tensor("W").parts[1].shape == (4, 1)
    assert trace.tensor("W").shape == (4, 4)
    assert np.allclose(sum(trace.tensor("partial y").parts), trace.result.full(), rtol=1e-12)
    (collective,) = trace.collectives
    assert (collective.payload_bytes, collective.ranks) == (32, 4)


def test_a_step_of_an_8b_model_is_64_all_reduces_of_8_kib():
    """One token × 4,096 wide × 2 bytes; two a layer in 32 layers."""
    ledger = step_ledger(model("llama-3-8b"), tokens=1, tp_size=2)
    assert ledger.count("all_reduce") == ledger.count() == 64
    assert {entry.payload_bytes for entry in ledger} == {8192}
    assert step_ledger(model("llama-3-8b"), tokens=2048, tp_size=4).entries[0].payload_bytes == 16 * 2**20
    assert step_ledger(model("llama-3-70b"), tokens=1, tp_size=8).count() == 160


def test_one_rank_keeps_an_empty_ledger():
    assert len(step_ledger(model("llama-3-8b"), 1, 1)) == 0


@each("key", MODELS)
def test_a_layer_of_one_block_or_of_three_is_counted_as_the_bill_prices_it(key):
    """Nemotron 3 Nano's 52 layers were told to need 104 sums and need 52; Gemma 4's 30 need 90 and not 60."""
    row = model(key)
    assert step_ledger(row, 1, 2).count() == all_reduces_per_step(row, 2)
    known = {"nemotron-3-nano-30b-a3b": 52, "gemma-4-26b-a4b": 90, "llama-3-8b": 64}
    assert all_reduces_per_step(row, 2) == known.get(key, all_reduces_per_step(row, 2))
    assert len(ends_ledger(model("llama-3-8b"), 1, 1)) == 0


def test_the_logits_are_31_payloads():
    """128,256 × 2 B = 256,512 B against 8,192 B."""
    embedding, head = ends_ledger(model("llama-3-8b"), tokens=1, tp_size=2)
    assert (embedding.op, embedding.payload_bytes) == ("all_reduce", 8192)
    assert (head.op, head.payload_bytes) == ("all_gather", 256512)
    assert 31 < head.payload_bytes / embedding.payload_bytes < 32


def test_padded_logits_are_what_lab_03_prices_too():
    """OPT's 50,272 words are padded to 50,304; a prefill gathers each prompt's last row, not every token's."""
    opt = model("opt-13b")
    (_, head), (_, priced) = (
        ends_ledger(opt, 2048, 2, sequences=1),
        priced_ends(Step(opt, 2, 2048, sequences=1), link("nvlink-lab")),
    )
    assert head.payload_bytes == priced.payload_bytes == 50304 * 2


def test_llama_3_8b_splits_over_powers_of_two_and_copies_kv_heads_above_eight():
    """32 heads, 8 KV heads: 16 and 32 hold each KV head twice and four times; 64 breaks the heads."""
    sizes = {size.tp_size: size for size in tp_sizes(model("llama-3-8b"))}
    assert [n for n, size in sizes.items() if size.verdict == "allowed"] == [1, 2, 4, 8]
    assert {n: size.kv_copies for n, size in sizes.items() if size.verdict == "kv_replicated"} == {16: 2, 32: 4}
    assert sizes[64].broken == ("num_attention_heads: 32 = 0 × 64 + 32",)
    assert "num_attention_heads: 32 = 5 × 6 + 2" in sizes[6].broken


def test_kv_heads_must_divide_the_ranks_or_the_ranks_them():
    """Qwen2.5 14B has 40 heads and 8 KV heads: 40 over 5 is whole, 8 over 5 is not."""
    broken = check_tp_size(model("qwen2.5-14b"), 5).broken
    assert "num_key_value_heads: 8 = 1 × 5 + 3" in broken
    assert not any(equation.startswith("num_attention_heads") for equation in broken)


def test_a_quantisation_group_is_not_cut():
    """11,008 / 128 = 86 groups: two ranks take 43 each, four cannot. Source: Llama 2 7B's config, groups of 128."""
    llama = model("llama-2-7b")
    assert check_tp_size(llama, 4).verdict == "allowed"
    assert check_tp_size(llama, 2, quantisation_group=128).verdict == "allowed"
    assert check_tp_size(llama, 4, quantisation_group=128).broken == (
        "intermediate_size: 11008 / 128 = 21 × 4 + 2",
    )


def test_latent_attention_keeps_its_kv_whole_on_every_rank():
    assert check_tp_size(model("deepseek-v3"), 8).kv_copies == 8


@each("key", list(MODELS))
def test_every_model_allows_one_rank_and_a_refusal_names_its_equation(key):
    sizes = tp_sizes(MODELS[key])
    assert sizes[0].verdict == "allowed"
    assert all(bool(size.broken) == (size.verdict == "refused") for size in sizes)


def test_the_vocabulary_is_padded_to_64():
    assert [padded_vocab_size(n) for n in (128256, 50257, 1)] == [128256, 50304, 64]


@each("num_ranks", [2, 4])
@each("fault", MISTAKES)
def test_a_mistake_is_wrong_and_its_remedy_right(fault, num_ranks):
    found = broken(fault, num_ranks)
    assert np.allclose(found.right.result.full(), found.dense, rtol=1e-12)
    assert found.gap().wrong > 0


def test_each_mistake_is_wrong_by_what_it_says():
    """Reduced twice: N times too much. The mean: 1/N. A bias on every rank: N - 1 biases too many."""
    y = broken("reduced_twice", 4)
    assert np.allclose(y.wrong.result.full(), 4 * y.dense)
    assert len(y.wrong.collectives) == 2
    y = broken("mean_for_sum", 4)
    assert np.allclose(y.wrong.result.full(), y.dense / 4)
    y = broken("bias_on_every_rank", 4)
    assert np.allclose(y.wrong.result.full() - y.dense, 3 * BIAS)
    assert broken("no_all_reduce", 4).wrong.collectives == ()


def test_an_activation_before_the_sum_can_only_add():
    """relu(a) + relu(b) is never below relu(a + b)."""
    y = broken("activation_before_sum", 4)
    assert (y.wrong.result.full() >= y.dense).all()


def test_one_rank_can_make_none_of_the_mistakes():
    assert all(broken(fault, 1).gap().wrong == 0 for fault in MISTAKES)


@pytest.mark.parametrize("num_ranks", [2, 4])
@pytest.mark.parametrize("order", DEAR_ORDERS)
def test_another_order_of_cuts_is_right_and_dear(order, num_ranks):
    """Two collectives where one would do, counted on the drawn MLP as the model's formula says."""
    found = broken(order, num_ranks)
    assert found.gap().wrong == 0
    assert len(found.right.collectives) == 1
    predicted = mlp_order_collectives(model("llama-3-8b"), 1, num_ranks, order)
    assert [entry.op for entry in found.wrong.collectives] == [entry.op for entry in predicted]


def test_the_wide_hidden_row_is_what_makes_an_order_dear():
    """14,336 × 2 B + 4,096 × 2 B = 36 KiB in two collectives, against 8 KiB in one."""
    sent = mlp_order_collectives(model("llama-3-8b"), 1, 4, "row_then_column")
    assert sum(entry.payload_bytes for entry in sent) == 36 * 1024
    (due,) = mlp_order_collectives(model("llama-3-8b"), 1, 4, "column_then_row")
    assert due.payload_bytes == 8 * 1024
    assert mlp_order_collectives(model("llama-3-8b"), 1, 1, "row_then_column") == ()


@pytest.mark.parametrize("key", ["llama-3-8b", "llama-2-7b", "llama-3-70b"])
def test_the_parts_of_a_layer_are_all_there_is_in_it(key):
    """Layers, two vocabularies and a last norm make the published number of parameters."""
    spec = MODELS[key]
    layer = sum(part.parameters for part in layer_parts(spec, 1))
    ends = 2 * spec.vocab_size * spec.hidden_size + spec.hidden_size
    assert spec.num_hidden_layers * layer + ends == total_parameters(spec)


@pytest.mark.parametrize("tp_size", [1, 2, 4, 8, 16])
def test_a_layer_talks_in_two_places_and_its_weights_are_distributed(tp_size):
    """Llama 3 8B: 32 heads, 8 KV heads. At 16 ranks each KV head is held twice."""
    parts = layer_parts(model("llama-3-8b"), tp_size)
    assert sum(part.is_collective for part in parts) == (2 if tp_size > 1 else 0)
    for part in parts:
        if part.cut != "replicated":
            assert prod(part.rank_shape) * tp_size == part.parameters * part.copies
            assert {part.units_of(rank, tp_size)[1] for rank in (tp_size - 1,)} == {part.num_units - 1}


def test_neighbours_share_a_kv_head_above_their_number():
    (kv,) = (part for part in layer_parts(model("llama-3-8b"), 32) if part.units == "KV heads")
    assert [kv.units_of(rank, 32)[0] for rank in range(9)] == [0, 0, 0, 0, 1, 1, 1, 1, 2]


@pytest.mark.parametrize(("key", "tp_size"), [("deepseek-v3", 8), ("mixtral-8x7b", 2), ("llama-3-8b", 6)])
def test_layers_the_diagram_does_not_know_are_refused(key, tp_size):
    with pytest.raises(OutOfRangeError):
        layer_parts(MODELS[key], tp_size)


def test_a_refused_size_says_which_to_use():
    with pytest.raises(OutOfRangeError, match=r"tp_size=64 does not split llama-3-8b: .*; use 1, 2, 4, 8, 16, 32"):
        layer_parts(model("llama-3-8b"), 64)
