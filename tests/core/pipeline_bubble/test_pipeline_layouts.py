"""TP × PP compositions: which link pays what, and what a pipe buys."""

import pytest

from core.catalog import gpu, link, model
from core.comm_cost.bill import tp_comm_time_per_step
from core.errors import IndivisibleError
from core.pipeline_bubble.compositions import Compositions
from core.pipeline_bubble.layouts import Cluster, compositions, layout, layouts
from core.scenario import Scenario

LLAMA = model("llama-3-8b")
NVLINK, ETHERNET = link("nvlink-lab"), link("ethernet-10g-lab")
CLUSTER = Cluster(gpu("a100-80gb-sxm"), NVLINK, ETHERNET)


def test_compositions_of_sixteen():
    assert compositions(16) == [(16, 1), (8, 2), (4, 4), (2, 8), (1, 16)]


def test_tensor_parallelism_alone_is_the_bill_of_lab_03():
    """TP=8 on NVLink: 64 · (14 · 3 µs + 1.75 · 8 KiB / 300 GB/s), and 8 ms over 8."""
    found = layout(LLAMA, CLUSTER, 8, 1)
    assert found.all_reduce_s == pytest.approx(tp_comm_time_per_step(LLAMA, 1, 8, NVLINK))
    assert found.itl_alone_s == pytest.approx(1e-3 + found.all_reduce_s)
    assert found.handoff_s == 0


def test_a_pipe_buys_nothing_for_latency():
    """PP=8: one sequence waits the whole 8 ms and seven hops of two rows, its prompt no less than on one GPU."""
    one, piped = layout(LLAMA, CLUSTER, 1, 1), layout(LLAMA, CLUSTER, 1, 8)
    hop = 3e-6 + 8192 / 300e9
    assert piped.itl_alone_s == pytest.approx(one.itl_alone_s + 7 * 2 * hop)
    assert piped.ttft_s > one.ttft_s


def test_cutting_a_batch_into_microbatches_does_not_shrink_its_decode():
    """64 sequences in eight microbatches: each reads an eighth of the weights eight times, 8 ms as on one GPU."""
    one, piped = (layout(LLAMA, CLUSTER, 1, pp, sequences=64) for pp in (1, 8))
    assert piped.tokens_per_s == pytest.approx(one.tokens_per_s, rel=0.01)


def test_a_pipe_carries_p_times_the_sequences_at_the_same_pace():
    """What it does buy: room for eight times as many, each getting tokens as often as on one GPU."""
    one, piped = layout(LLAMA, CLUSTER, 1, 1, sequences=64), layout(LLAMA, CLUSTER, 1, 8, sequences=512)
    assert piped.itl_full_s == pytest.approx(one.itl_full_s, rel=0.01)
    assert piped.tokens_per_s == pytest.approx(8 * one.tokens_per_s, rel=0.01)


def test_tensor_parallelism_buys_latency_where_the_link_is_fast_and_loses_it_where_it_is_slow():
    fast, alone = layout(LLAMA, CLUSTER, 2, 1), layout(LLAMA, CLUSTER, 1, 1)
    slow = layout(LLAMA, Cluster(gpu("a100-80gb-sxm"), ETHERNET, ETHERNET), 2, 1)
    assert fast.itl_alone_s < alone.itl_alone_s < slow.itl_alone_s


def test_sixteen_gpus_keep_the_all_reduces_inside_the_node_and_hand_over_once_between():
    """TP=16 leaves the node with every all-reduce; TP=8 PP=2 crosses the network once a step, with two rows."""
    wide, mixed = layout(LLAMA, CLUSTER, 16, 1), layout(LLAMA, CLUSTER, 8, 2)
    assert wide.all_reduce_s > 20 * mixed.all_reduce_s
    assert (mixed.network_handoffs, layout(LLAMA, CLUSTER, 1, 16).network_handoffs) == (1, 1)
    assert mixed.handoff_s == pytest.approx(2 * (50e-6 + 8192 / 1.25e9))


def test_layers_that_do_not_divide_are_refused_and_left_out():
    """Llama-3-8B's 32 layers over 3 stages; its 32 heads over 3 ranks."""
    with pytest.raises(IndivisibleError, match="num_hidden_layers=32"):
        layout(LLAMA, CLUSTER, 1, 3)
    assert [found.name for found in layouts(LLAMA, CLUSTER, 6)] == []
    assert [found.name for found in layouts(LLAMA, CLUSTER, 8)] == [
        "TP=8 PP=1",
        "TP=4 PP=2",
        "TP=2 PP=4",
        "TP=1 PP=8",
    ]


@pytest.mark.parametrize(("tp", "pp"), compositions(16))
def test_a_token_is_compute_and_waiting_and_bytes(tp, pp):
    found = layout(LLAMA, CLUSTER, tp, pp)
    assert found.itl_alone_s == pytest.approx(found.compute_s + found.latency_s + found.bandwidth_s)
    assert found.bandwidth_s == pytest.approx(found.all_reduce_s + found.handoff_s - found.latency_s)


@pytest.mark.parametrize("gpus", [2, 8, 16])
def test_the_parts_that_are_told_make_up_the_token(gpus):
    """One GPU's time and the hand-overs, or its share of it and the sums; apart, all of them on the network."""
    inside = Compositions(Scenario(), gpus)
    for placed in (inside, inside.apart):
        sums_s = placed.sums * placed.sum_s
        assert placed.widest.itl_alone_s == pytest.approx(placed.one.itl_alone_s / gpus + sums_s)
    apart = inside.apart
    assert apart.deepest.network_handoffs == apart.hand_overs
    assert apart.deepest.itl_alone_s == pytest.approx(apart.one.itl_alone_s + apart.hand_overs * apart.hand_over_s)
    assert (apart.widest_link, inside.widest_link) == (
        apart.cluster.network,
        inside.cluster.link if gpus <= 8 else inside.cluster.network,
    )
