"""Training traffic: the papers' 2Ψ and 3Ψ, counted on executed collectives, and where each axis lies."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.catalog import link, model
from core.collectives.programs import ring_all_gather, ring_all_reduce, ring_reduce_scatter, run
from core.models.parameters import total_parameters
from core.strategy.training.layout import Strategy
from core.strategy.training.memory import Job
from core.strategy.training.traffic import sent_bytes, training_traffic
from tests.each import each

LLAMA = "llama-3-8b"
PROGRAMS = {
    "all_reduce": ring_all_reduce,
    "reduce_scatter": ring_reduce_scatter,
    "all_gather": ring_all_gather,
}


@each(("zero", "reshard", "volumes"), [(0, True, 2), (1, True, 2), (2, True, 2), (3, True, 3), (3, False, 2)])
@each("ranks", [1, 2, 8, 64])
def test_ddp_and_zero_to_stage_2_send_two_volumes_and_stage_3_three(zero, reshard, volumes, ranks):
    """arXiv 1910.02054, section 7: Ψ elements of two bytes, times (N-1)/N on a ring."""
    found = training_traffic(model(LLAMA), Strategy(dp_size=ranks, zero=zero, reshard=reshard))
    psi = 2 * total_parameters(model(LLAMA))
    assert sent_bytes(found) == pytest.approx(volumes * psi * (ranks - 1) / ranks)


@given(st.sampled_from(list(PROGRAMS)), st.integers(2, 8))
def test_what_a_rank_sends_is_what_it_sends_when_the_collective_is_run(op, ranks):
    """The ring carried out on float64 chunks of three elements: bytes counted on a port."""
    program = PROGRAMS[op](ranks)
    counted = run(program, [np.ones((program.chunks, 3)) for _ in range(ranks)]).traffic_bytes
    (transfer,) = (t for t in _transfers() if t.op == op and t.axis == "dp" and t.why != "updated weights")
    scaled = type(transfer)("dp", op, "", 24 * ranks, ranks, 1, ranks)
    assert scaled.sent_bytes == counted
    assert scaled.cost(link("nvlink-lab")).traffic_bytes == counted


def _transfers():
    ddp = training_traffic(model(LLAMA), Strategy(dp_size=2))
    return [*ddp, *training_traffic(model(LLAMA), Strategy(dp_size=2, zero=1)), *_gather()]


def _gather():
    found = training_traffic(model(LLAMA), Strategy(dp_size=2, zero=3, reshard=False))
    return [transfer for transfer in found if transfer.op == "all_gather"]


def test_tensor_parallelism_sums_four_times_a_layer():
    """Two forward and two back, each of s·b·h·2 bytes: 4 · 32 of 64 MiB for 8192 tokens of Llama-3-8B."""
    (found,) = training_traffic(model(LLAMA), Strategy(tp_size=8), Job(2, 4096))
    assert (found.op, found.count, found.payload_bytes) == ("all_reduce", 128, 64 * 2**20)
    again = training_traffic(model(LLAMA), Strategy(tp_size=8, recompute="full"), Job(2, 4096))
    assert again[0].count == 3 * 64


@given(st.sampled_from([2, 4, 8]), st.integers(1, 3))
def test_sequence_parallelism_moves_the_same_bytes_but_for_the_inputs_gathered_again(tp, microbatches):
    """arXiv 2205.05198, section 4.2.2: a gather and a scatter are an all-reduce's two halves."""
    job = Job(microbatches=microbatches)
    summed = training_traffic(model(LLAMA), Strategy(tp_size=tp), job)
    split = training_traffic(model(LLAMA), Strategy(tp_size=tp, sequence_parallel=True), job)
    again = [transfer for transfer in split if "again" in transfer.why]
    assert sent_bytes(split) - sent_bytes(again) == pytest.approx(sent_bytes(summed))
    assert sent_bytes(again) == pytest.approx(sent_bytes(summed) / 4)


def test_a_stage_sends_to_its_neighbours_once_a_microbatch():
    """The ends have one neighbour, the middle two; sequence parallelism sends each rank's own part."""
    counts = [len(training_traffic(model(LLAMA), Strategy(pp_size=4), stage=stage)) for stage in range(4)]
    assert counts == [1, 2, 2, 1]
    job = Job(1, 4096, microbatches=8)
    (whole,) = training_traffic(model(LLAMA), Strategy(pp_size=4), job)
    assert (whole.count, whole.sent_bytes) == (8, 8 * 4096 * 4096 * 2)
    cut = Strategy(pp_size=4, tp_size=2, sequence_parallel=True)
    assert sent_bytes(training_traffic(model(LLAMA), cut, job), "pp") == whole.sent_bytes / 2


def test_experts_are_exchanged_four_times_a_layer_and_their_gradients_stay_with_their_replicas():
    """Mixtral, each expert on a rank of its own: dispatch and combine, forward and back, over 32 layers."""
    mixtral = model("mixtral-8x7b")
    found = training_traffic(mixtral, Strategy(dp_size=8, ep_size=8), Job(1, 1024))
    exchange = [transfer for transfer in found if transfer.axis == "ep"]
    assert [(t.op, t.count, t.payload_bytes) for t in exchange] == [("all_to_all", 128, 1024 * 2 * 4096 * 2)]
    (gradients,) = (transfer for transfer in found if transfer.axis == "dp")
    assert gradients.payload_bytes < 2 * 0.05 * total_parameters(mixtral)
    replicas = training_traffic(mixtral, Strategy(dp_size=8, ep_size=2), Job(1, 1024))
    assert sorted(t.ranks for t in replicas if t.axis == "dp") == [4, 8]


def test_gradients_are_summed_once_over_microbatches_until_they_are_sharded():
    """Four microbatches: DDP and ZeRO-1 wait for the last, ZeRO-2 must scatter each, ZeRO-3 gathers for each."""
    job = Job(microbatches=4)
    counts = [[t.count for t in training_traffic(model(LLAMA), Strategy(dp_size=8, zero=z), job)] for z in range(4)]
    assert counts == [[1], [1, 1], [4, 1], [4, 4, 4]]


def test_the_axis_decides_which_link_is_crossed():
    """Eight to a node: TP=8 stays inside, data parallelism over it does not; TP=2 with two replicas does."""
    wide = {
        t.axis: t.crosses_nodes(8)
        for t in training_traffic(model(LLAMA), Strategy(dp_size=2, tp_size=8, pp_size=2))
    }
    assert wide == {"tp": False, "dp": True, "pp": True}
    small = training_traffic(model(LLAMA), Strategy(dp_size=2, tp_size=2, pp_size=2))
    assert not any(transfer.crosses_nodes(8) for transfer in small)


def test_one_gpu_sends_nothing():
    assert training_traffic(model(LLAMA), Strategy(zero=3, sequence_parallel=True)) == ()


def test_a_step_is_priced_on_the_link_its_axis_crosses():
    """DDP of Llama-3-8B over two nodes, 10G Ethernet at 1.25 GB/s: 16 GB, 12.8 s and its hops' latency."""
    (gradients,) = training_traffic(model(LLAMA), Strategy(dp_size=2))
    cost = gradients.cost(link("ethernet-10g-lab"))
    assert cost.bandwidth_s == pytest.approx(2 * total_parameters(model(LLAMA)) / 1.25e9)
    assert cost.steps == 2
