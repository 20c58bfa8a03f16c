"""Expert parallelism's exchanges: closed forms against routing drawn and counted."""

import numpy as np
import pytest

from core.catalog import link, model
from core.comm_cost.expert_parallel import (
    expected_distinct_ranks,
    expert_parallel_bill,
)
from core.errors import IndivisibleError, OutOfRangeError
from core.specs import LinkSpec

DEEPSEEK = model("deepseek-v3")
UNIT = LinkSpec(key="unit", name="unit", latency_s=1.0, bandwidth_bytes_per_s=1.0)


def drawn_destinations(moe, tokens, ranks, rng):
    """For each token, the ranks of its K experts, drawn one token at a time."""
    here = moe.num_experts // ranks
    return [rng.choice(moe.num_experts, moe.num_experts_per_tok, replace=False) // here for _ in range(tokens)]


@pytest.mark.parametrize(("ranks", "distinct"), [(8, 5.29), (32, 7.27), (1, 1.0), (256, 8.0)])
def test_eight_experts_of_256_live_on_fewer_ranks(ranks, distinct):
    """8 · (1 - C(224, 8)/C(256, 8)) = 5.29; with an expert a rank, every one is elsewhere."""
    assert expected_distinct_ranks(DEEPSEEK.moe, ranks) == pytest.approx(distinct, abs=0.005)


@pytest.mark.parametrize(("key", "ranks"), [("deepseek-v3", 8), ("mixtral-8x7b", 4), ("qwen3-30b-a3b", 16)])
def test_distinct_ranks_agree_with_drawing_them(key, ranks):
    moe = model(key).moe
    drawn = drawn_destinations(moe, 4000, ranks, np.random.default_rng(3))
    assert expected_distinct_ranks(moe, ranks) == pytest.approx(np.mean([len(set(d)) for d in drawn]), rel=0.02)


@pytest.mark.parametrize("deduplicated", [False, True])
def test_the_bytes_are_those_of_routing_that_is_drawn_and_counted(deduplicated):
    """Every token of every rank sent to its experts' ranks; what stays at home is not sent."""
    moe, ranks, tokens = DEEPSEEK.moe, 8, 8 * 600
    destinations = drawn_destinations(moe, tokens, ranks, np.random.default_rng(5))
    sent = 0
    for token, ranks_of_experts in enumerate(destinations):
        copies = set(ranks_of_experts) if deduplicated else ranks_of_experts
        sent += sum(rank != token % ranks for rank in copies)
    bill = expert_parallel_bill(DEEPSEEK, tokens, ranks, UNIT, deduplicated=deduplicated)
    assert bill.dispatch.traffic_bytes == pytest.approx(sent / ranks * 7168 * 2, rel=0.02)
    assert bill.combine == bill.dispatch


@pytest.mark.parametrize(("key", "ranks"), [("deepseek-v3", 8), ("deepseek-v3", 32), ("mixtral-8x7b", 4)])
def test_against_tensor_parallelism_the_bytes_are_k_over_2n(key, ranks):
    """Eight experts over 32 ranks: an eighth of the two all-reduces. Over two ranks of four: K/2N = 2."""
    row = model(key)
    bill = expert_parallel_bill(row, 64 * ranks, ranks, link("nvlink-4"))
    assert bill.traffic_ratio == pytest.approx(row.moe.num_experts_per_tok / (2 * ranks))


def test_few_ranks_and_many_experts_a_token_make_it_dearer():
    assert expert_parallel_bill(DEEPSEEK, 512, 2, link("nvlink-4")).traffic_ratio == pytest.approx(2.0)
    assert expert_parallel_bill(DEEPSEEK, 512, 2, link("nvlink-4"), deduplicated=True).traffic_ratio < 0.51


def test_dense_layers_send_nothing_and_mixture_layers_twice():
    """61 layers of which 3 are dense; one step a dispatch and one a combine on a direct exchange."""
    bill = expert_parallel_bill(DEEPSEEK, 8, 8, UNIT)
    assert bill.layers == 58
    assert bill.comm_s == pytest.approx(58 * 2 * (1 + bill.dispatch.traffic_bytes))


def test_the_busiest_rank_is_the_critical_path():
    even, uneven = (expert_parallel_bill(DEEPSEEK, 1024, 8, UNIT, imbalance=f) for f in (1.0, 1.5))
    assert uneven.dispatch.bandwidth_s == pytest.approx(1.5 * even.dispatch.bandwidth_s)
    assert uneven.dispatch.latency_s == even.dispatch.latency_s


def test_a_rank_with_one_token_more_is_waited_for():
    bills = [expert_parallel_bill(DEEPSEEK, tokens, 8, UNIT).dispatch.traffic_bytes for tokens in (1, 8, 9, 16)]
    assert bills[0] == bills[1] < bills[2] == bills[3]


def test_one_rank_sends_nothing():
    bill = expert_parallel_bill(DEEPSEEK, 8, 1, link("nvlink-4"))
    assert (bill.comm_s, bill.tensor_parallel_s, bill.traffic_ratio) == (0, 0, 0)


def test_what_cannot_be_is_refused():
    with pytest.raises(OutOfRangeError, match="dense"):
        expert_parallel_bill(model("llama-3-8b"), 8, 8, UNIT)
    with pytest.raises(IndivisibleError, match="num_experts=256"):
        expert_parallel_bill(DEEPSEEK, 8, 6, UNIT)
    for imbalance in (0.5, 9.0, float("nan")):
        with pytest.raises(OutOfRangeError, match="imbalance"):
            expert_parallel_bill(DEEPSEEK, 8, 8, UNIT, imbalance=imbalance)
