"""The collectives room: each program moves what its name says. And prefill apart from decode, in figures."""

import numpy as np
import pytest

from core.catalog import gpu, link, model
from core.collectives.programs import run
from core.errors import UnknownNameError
from core.steps.model import TensorGroup
from core.strategy.disaggregation import Request, handoff
from core.strategy.rooms import ROOMS, played
from tests.each import each

SIZES = (2, 3, 4, 7, 8)


def inputs(program):
    rng = np.random.default_rng(0)
    return [rng.integers(0, 9, (program.chunks, 2)).astype(float) for _ in range(program.ranks)]


@pytest.mark.parametrize("ranks", SIZES)
@pytest.mark.parametrize("algorithm", ROOMS["broadcast"])
def test_a_broadcast_leaves_rank_0s_payload_everywhere(algorithm, ranks):
    program = ROOMS["broadcast"][algorithm](ranks)
    given = inputs(program)
    for buffer in run(program, given).buffers:
        np.testing.assert_array_equal(buffer, given[0])


@pytest.mark.parametrize("ranks", SIZES)
@pytest.mark.parametrize("algorithm", ROOMS["reduce"])
def test_a_reduce_leaves_the_sum_on_rank_0(algorithm, ranks):
    program = ROOMS["reduce"][algorithm](ranks)
    given = inputs(program)
    np.testing.assert_array_equal(run(program, given).buffers[0], sum(given))


@pytest.mark.parametrize("ranks", SIZES)
def test_a_tree_takes_log_rounds_and_a_chain_pipes_its_chunks(ranks):
    """Tree: ceil(log2 N) rounds of the whole. Chain: 2N - 2 rounds of an N-th, which is less than two payloads."""
    tree, chain = played("broadcast", ranks)
    assert len(tree.program.rounds) == tree.port_fraction == int(np.ceil(np.log2(ranks)))
    assert len(chain.program.rounds) == 2 * ranks - 2
    assert chain.port_fraction == pytest.approx((2 * ranks - 2) / ranks)


def test_stages_hand_on_to_the_next_and_the_last_has_what_the_first_had():
    program = ROOMS["send/recv"]["neighbours"](4)
    given = inputs(program)
    found = run(program, given)
    np.testing.assert_array_equal(found.buffers[3], given[0])
    assert found.traffic_bytes == 3 * given[0].nbytes
    (one,) = played("send/recv", 4)
    assert (one.sent_fraction, one.port_fraction) == (1, 3)


@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_a_ring_rank_sends_what_takes_the_time(ranks):
    """2(N-1)/N payloads for an all-reduce, half of it for either half: every port is as busy as every other."""
    for op, halves in (("all-reduce", 2), ("reduce-scatter", 1), ("all-gather", 1)):
        ring = played(op, ranks)[0]
        assert ring.sent_fraction == ring.port_fraction == pytest.approx(halves * (ranks - 1) / ranks)


@each("ranks", [1, 2, 4, 8])
@each("op", ROOMS)
def test_what_every_rank_holds_at_the_end(op, ranks):
    """As each operation is defined: sums everywhere, at the root or a chunk each; copies; or every rank's part."""
    everyone = frozenset(range(ranks))
    for one in played(op, ranks):
        chunks, end = one.program.chunks, one.held[-1]
        assert len(one.held) == len(one.program.rounds) + 1
        expected = {
            "broadcast": [[frozenset({0})] * chunks] * ranks,
            "send/recv": [[frozenset({0})] * chunks] * ranks,
            "reduce": [[everyone] * chunks],
            "all-reduce": [[everyone] * chunks] * ranks,
            "all-gather": [[frozenset({chunk}) for chunk in range(chunks)]] * ranks,
            "all-to-all": [[frozenset({source}) for source in range(chunks)]] * ranks,
        }
        if op == "reduce-scatter":
            assert all(end[rank][rank] == everyone for rank in range(ranks))
        elif ranks > 1:
            assert [list(held) for held in end][: len(expected[op])] == expected[op]


def test_a_collective_that_is_none_is_refused():
    with pytest.raises(UnknownNameError):
        played("gossip", 4)


LLAMA, H100 = model("llama-3-8b"), gpu("h100-sxm")


def asked(**changes) -> Request:
    return Request(LLAMA, H100, TensorGroup(1, link("nvlink-4")), **changes)


def test_a_prompts_keys_and_values_are_128_kib_a_token():
    """Llama-3-8B: 2 · 32 layers · 8 heads · 128 · 2 bytes; 2048 tokens are 256 MiB."""
    found = handoff(asked(), link("ethernet-10g-lab"))
    assert found.kv_bytes == 2**28
    assert found.transfer_s == pytest.approx(50e-6 + 2**28 / 1.25e9)


def test_tensor_parallel_ranks_each_send_their_own_heads():
    four = Request(LLAMA, H100, TensorGroup(4, link("nvlink-4")))
    one, over = asked(), link("ib-ndr")
    ahead = over.latency_s + over.base_s
    assert (handoff(one, over).transfer_s - ahead) / (handoff(four, over).transfer_s - ahead) == pytest.approx(4)


@pytest.mark.parametrize("tp_size", [1, 2, 8])
def test_a_nodes_port_carries_all_of_the_prompt_whatever_the_ranks(tp_size):
    """256 MiB over the one 10 GbE port of a node take 215 ms; eight ranks do not have eight ports."""
    request = Request(LLAMA, H100, TensorGroup(tp_size, link("nvlink-4")))
    assert handoff(request, link("ethernet-10g-lab")).transfer_s == pytest.approx(0.2148, rel=1e-3)


def test_a_sequence_alone_is_never_stalled_so_apart_never_pays():
    found = handoff(asked(sequences=1), link("nvlink-4"))
    assert (found.stall_s, found.pays) == (0, False)
    assert found.saved_s == -found.transfer_s


def test_on_a_fast_link_it_pays_and_on_gigabit_for_two_sequences_it_does_not():
    assert handoff(asked(sequences=16), link("ib-ndr")).pays
    assert not handoff(asked(sequences=2), link("ethernet-1g")).pays


def test_sent_layer_by_layer_only_the_last_layer_shows_where_the_link_keeps_up():
    quick, slow = (handoff(asked(), link(name)) for name in ("nvlink-4", "ethernet-1g"))
    assert quick.exposed_s == quick.transfer_s / 32
    assert slow.exposed_s == pytest.approx(slow.transfer_s - slow.prefill_s * 31 / 32)


def test_the_share_of_prefill_is_between_nothing_and_all():
    share = handoff(asked(), link("nvlink-4")).prefill_share
    longer = handoff(asked(output_tokens=4096), link("nvlink-4")).prefill_share
    assert 0 < longer < share < 1
