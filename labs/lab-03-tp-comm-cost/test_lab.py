"""Lab 03: a payload, its traffic, its time, the step's bill, two verdicts; then the ring, a fit, and a choice."""

import numpy as np
import pytest

from core.catalog import model
from core.comm_cost.choice import Offer
from core.comm_cost.wire import Hop, Wire
from core.errors import IndivisibleError, OutOfRangeError
from core.specs import LinkSpec
from labs.billed import (
    A100_PAIR,
    ETHERNET,
    GB,
    NVLINK,
    OFFER_WORDS,
    OFFERS,
    bill_is_due,
    fitted,
    payload_slips,
    ring,
    share_is_due,
    time_slips,
    turn_slips,
)
from labs.diagnosis import agree, fail_type, is_due, refuses
from labs.spoken import fail, link_named, say

LLAMA = model("llama-3-8b")
DECODE_BYTES, PREFILL_BYTES = 8192, 16_777_216
STEP_S = 8e-3


@pytest.mark.parametrize(
    ("tokens", "hidden_size", "bytes_per_element", "payload_bytes"),
    [(1, 4096, 2, 8192), (2048, 4096, 2, 16_777_216), (1, 8192, 2, 16_384), (3, 5, 4, 60), (2, 4096, 1, 8192)],
)
def test_payload_is_one_activation_row_per_token(lab, tokens, hidden_size, bytes_per_element, payload_bytes):
    """1 x 4096 x 2 B = 8 KiB in a decode step; 2048 tokens of prefill make 16 MiB."""
    case = say("part.entries_bytes", tokens=tokens, width=hidden_size, bytes=bytes_per_element)
    slips = payload_slips(tokens, hidden_size, bytes_per_element)
    is_due(lab.allreduce_payload_bytes(tokens, hidden_size, bytes_per_element), payload_bytes, case, slips)


def test_activations_are_two_bytes_unless_said_otherwise(lab):
    case, slips = say("part.entries", tokens=1, width=4096), payload_slips(1, 4096, 2)
    is_due(lab.allreduce_payload_bytes(1, 4096), 8192, case, slips)


@pytest.mark.parametrize(("ranks", "chunks_sent"), [(1, 0), (2, 2), (3, 4), (4, 6), (8, 14), (64, 126)])
def test_ring_traffic_formula(lab, ranks, chunks_sent):
    """A chunk is n/N; N-1 are sent in the reduce-scatter and N-1 in the all-gather."""
    payload, most = 192 * ranks, 2 * (ranks - 1)
    found = lab.ring_allreduce_traffic_per_rank(payload, ranks)
    slips = {
        say("slip.one_half", chunks="N-1", again="N-1"): most * 96,
        say("slip.whole_messages"): most * payload,
        say("slip.twice_payload", share="(N-1)/N"): 2 * payload,
        say("slip.payload"): payload,
    }
    alone = {say("slip.nobody"): found}
    is_due(
        found,
        192 * chunks_sent,
        say("part.bytes_over", payload=payload, ranks=ranks),
        slips if ranks > 1 else alone,
    )


@pytest.mark.parametrize(("ranks", "hops"), [(1, 0), (2, 2), (3, 4), (8, 14)])
def test_every_hop_waits(lab, ranks, hops):
    """With next to nothing to send, only the hops are left: 3 µs each."""
    slips = time_slips(0, ranks, NVLINK) if ranks > 1 else {say("slip.waits_for_nobody"): 3e-6}
    case = say("part.seconds_for", payload=0, ranks=ranks)
    is_due(lab.allreduce_time_s(0, ranks, NVLINK), hops * 3e-6, case, slips, rel=1e-6)


@pytest.mark.parametrize(("ranks", "time_s"), [(2, 61.92e-6), (4, 101.9e-6)])
def test_bytes_go_at_the_speed_of_one_direction(lab, ranks, time_s):
    """At N=2 a rank sends n: 16 MiB / 300 GB/s = 55.9 µs beside two hops of 3 µs. At N=4, 1.5 n and six hops."""
    case, slips = say("part.seconds_for_mib", payload=16, ranks=ranks), time_slips(PREFILL_BYTES, ranks, NVLINK)
    is_due(lab.allreduce_time_s(PREFILL_BYTES, ranks, NVLINK), time_s, case, slips, rel=1e-3)


@pytest.mark.parametrize(("key", "all_reduces"), [("llama-3-8b", 64), ("llama-3-70b", 160)])
def test_a_layer_talks_twice(lab, key, all_reduces):
    row = model(key)
    bill_is_due(lab, row, 4, ETHERNET, all_reduces * lab.allreduce_time_s(row.hidden_size * 2, 4, ETHERNET))


def test_decode_step_comm_on_nvlink_is_noise(lab):
    """64 x (2 x 3 µs + 8192 B / 300 GB/s) = 0.386 ms: 4.6 % of 8.386 ms, and below 10 % is noise."""
    bill_is_due(lab, LLAMA, 2, NVLINK, 0.3857e-3)
    share_is_due(lab, lab.tp_comm_time_per_step(LLAMA, 1, 2, NVLINK), STEP_S, 0.0460, rel=2e-3)


def test_decode_step_comm_on_ethernet_is_fatal(lab):
    """64 x (2 x 50 µs + 8192 B / 1.25 GB/s) = 6.82 ms: 46.0 % of 14.82 ms, and above 40 % is fatal."""
    bill_is_due(lab, LLAMA, 2, ETHERNET, 6.819e-3)
    share_is_due(lab, lab.tp_comm_time_per_step(LLAMA, 1, 2, ETHERNET), STEP_S, 0.460, rel=1e-3)


@pytest.mark.parametrize(
    ("comm_s", "step_s", "fraction"), [(1, 3, 0.25), (1, 1, 0.5), (0, 8e-3, 0), (3, 1, 0.75), (1, 0, 1)]
)
def test_the_fraction_is_of_the_whole_wall_clock(lab, comm_s, step_s, fraction):
    """comm / (step + comm): it cannot pass 1, however slow the link."""
    share_is_due(lab, comm_s, step_s, fraction)


@pytest.mark.parametrize("over", [NVLINK, ETHERNET], ids=lambda over: over.key)
def test_latency_dominates_small_payloads(lab, over):
    """At 8 KiB and N=2 the two hops are over nine tenths of the time."""
    hops_s, whole_s = (lab.allreduce_time_s(size, 2, over) for size in (0, DECODE_BYTES))
    assert hops_s > 0.9 * whole_s


@pytest.mark.parametrize(("over", "share"), [(NVLINK, 0.90), (ETHERNET, 0.99)], ids=["nvlink", "ethernet"])
def test_prefill_payloads_shift_the_balance_to_bandwidth(lab, over, share):
    """At 16 MiB and N=2 the bytes are 90 % of the time on NVLink, 99 % on 10 GbE."""
    hops_s, whole_s = (lab.allreduce_time_s(size, 2, over) for size in (0, PREFILL_BYTES))
    assert whole_s - hops_s == pytest.approx(share * whole_s, rel=0.006)


@pytest.mark.parametrize(("over", "most_s"), [(NVLINK, 2.691e-3), (ETHERNET, 45.53e-3)], ids=["nvlink", "ethernet"])
def test_more_ranks_more_overhead(lab, over, most_s):
    """TP=1 is free; then the hops grow as 2(N-1): 2.69 ms on NVLink and 45.5 ms on 10 GbE at TP=8."""
    is_due(lab.tp_comm_time_per_step(LLAMA, 1, 1, over), 0, say("part.nothing_sent", tp="1"))
    bills_s = [lab.tp_comm_time_per_step(LLAMA, 1, tp_size, over) for tp_size in (1, 2, 4, 8)]
    assert bills_s == sorted(set(bills_s))
    bill_is_due(lab, LLAMA, 8, over, most_s)


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 8])
def test_the_ring_gives_every_rank_the_sum(lab, ranks):
    """Small whole numbers: the sum is exact, in any order. Nothing is sent where there is one rank."""
    found, values, _, wire = ring(lab, ranks)
    for rank, own in enumerate(found):
        slips = {
            say("slip.began_with", rank=rank): values[rank],
            say("slip.times_the_sum", rank=rank, times=ranks): ranks * sum(values),
        }
        if ranks > 1:
            slips[say("slip.one_turn", rank=rank, turns="N-1")] = values[rank] + values[rank - 1]
        agree(own, sum(values), slips, hint=say("result.ranks_value", rank=rank, ranks=ranks))
    if ranks == 1:
        is_due(len(wire.hops), 0, say("part.nobody_there", ranks="1"))


@pytest.mark.parametrize("ranks", [2, 3, 8])
def test_a_hop_carries_one_chunk_to_the_next_rank(lab, ranks):
    """Each rank sends 2(N-1) chunks of n/N bytes, which is where 2(N-1)/N of the payload comes from."""
    hops = ring(lab, ranks)[3].hops
    chunk_bytes, turns = 3 * 8, 2 * (ranks - 1)
    for hop in hops:
        turn = {"turn": hop.turn, "ranks": ranks, "source": hop.source, "target": hop.target}
        if hop.target != (hop.source + 1) % ranks:
            fail("result.other_target", **turn, next=(hop.source + 1) % ranks)
        is_due(hop.payload_bytes, chunk_bytes, say("part.turn_bytes", **turn), {say("slip.all_n"): ranks * 3 * 8})
    for rank in range(ranks):
        sent = sum(hop.source == rank for hop in hops)
        slips = {say("slip.scatter_alone", turns="N-1"): ranks - 1}
        is_due(sent, turns, say("part.messages_sent", rank=rank, ranks=ranks), slips)


def test_what_the_ring_is_given_comes_back_untouched(lab):
    _, values, held, _ = ring(lab, 4)
    for rank, (before, after) in enumerate(zip(values, held, strict=True)):
        if not np.array_equal(before, after):
            fail("result.changed_rank", rank=rank)


def test_values_that_do_not_cut_into_chunks_are_refused(lab):
    wire = Wire(3)
    refuses(
        lambda: lab.ring_all_reduce(wire.hold([np.ones(8)] * 3), wire.send),
        IndivisibleError,
        say("part.values_over", values="8", ranks="3"),
    )


@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize("over", [NVLINK, ETHERNET], ids=lambda over: over.key)
def test_the_hops_of_a_ring_take_the_time_of_the_formula(lab, ranks, over):
    """2(N-1) turns of n/N bytes: 2(N-1)·α + 2(N-1)/N · n/β."""
    hops = [
        Hop(turn, rank, (rank + 1) % ranks, PREFILL_BYTES // ranks)
        for turn in range(2 * (ranks - 1))
        for rank in range(ranks)
    ]
    turns = 2 * (ranks - 1)
    due = turns * over.latency_s + turns / ranks * PREFILL_BYTES / over.bandwidth_bytes_per_s
    case = say("part.turns_over", turns=turns, link=link_named(over))
    is_due(lab.time_of_hops(hops, over), due, case, turn_slips(hops, over), rel=1e-9)


def test_the_slowest_message_of_a_turn_is_waited_for(lab):
    """Turn 0 takes 1 ms of bytes, turn 1 4 ms, turn 5 none: with three waits of 50 µs, 5.15 ms. No hop, no time."""
    hops = [Hop(0, 0, 1, 1_250_000), Hop(1, 1, 2, 1000), Hop(1, 0, 1, 5_000_000), Hop(5, 2, 0, 0), Hop(0, 2, 3, 8)]
    found = lab.time_of_hops(hops, ETHERNET)
    is_due(found, 5.15e-3, say("part.three_turns"), turn_slips(hops, ETHERNET), rel=1e-9)
    is_due(lab.time_of_hops([], ETHERNET), 0, say("part.no_message"))


@pytest.mark.parametrize(("ranks", "over"), [(2, NVLINK), (8, NVLINK), (4, ETHERNET)])
def test_an_exact_table_gives_its_link_back(lab, ranks, over):
    """Times worked out from a link's two numbers have one fit, which misses none of them."""
    hops, sizes = 2 * (ranks - 1), [1024 * 4**step for step in range(9)]
    times_s = [hops * over.latency_s + hops / ranks * size / over.bandwidth_bytes_per_s for size in sizes]
    latency_s, bandwidth = fitted(lab, sizes, times_s, ranks)
    case = {"link": link_named(over), "ranks": ranks}
    slips = {say("slip.all_hops_wait", hops="2(N-1)"): hops * over.latency_s}
    is_due(latency_s, over.latency_s, say("part.table_hop", **case), slips, rel=1e-6)
    slips = {
        say("slip.n_over_time", share="2(N-1)/N"): over.bandwidth_bytes_per_s * ranks / hops,
        say("slip.seconds_a_byte"): 1 / over.bandwidth_bytes_per_s,
    }
    is_due(bandwidth, over.bandwidth_bytes_per_s, say("part.table_bytes", **case), slips, rel=1e-6)


def test_a_measured_table_is_met_as_closely_as_can_be(lab):
    """No neighboring link meets the table better, in relative errors; the fit is 5.80 µs a hop and 137 GB/s."""
    sizes, times_s = list(A100_PAIR), [1e-6 * time_us for time_us in A100_PAIR.values()]

    def error(latency_s, bandwidth):
        ring_s = [2 * latency_s + size / bandwidth for size in sizes]
        return sum((modelled / time_s - 1) ** 2 for modelled, time_s in zip(ring_s, times_s, strict=True))

    absolute = np.polyfit(sizes, times_s, 1)
    latency_s, bandwidth = fitted(lab, sizes, times_s, 2)
    slips = {say("slip.absolute_errors"): absolute[1] / 2}
    is_due(latency_s, 5.7992e-6, say("part.pair_hop", gpu="A100"), slips, rel=1e-3)
    is_due(bandwidth, 137.06e9, say("part.pair_bytes", gpu="A100"), rel=1e-3)
    least = error(latency_s, bandwidth)
    assert all(error(latency_s * a, bandwidth * b) >= least for a in (0.99, 1, 1.01) for b in (0.99, 1, 1.01))


FAST_TO_START, WIDE = LinkSpec("own", "2 µs, 10 GB/s", 2e-6, 10e9), LinkSpec("own", "12 µs, 50 GB/s", 12e-6, 50e9)


@pytest.mark.parametrize(("ranks", "payload_bytes"), [(2, 250_000), (8, 1_000_000)])
def test_at_the_crossing_both_links_take_as_long(lab, ranks, payload_bytes):
    """N · 10 µs / (0.1 - 0.02) ns a byte: 125 kB a rank. Asked either way round."""
    slips = {
        say("slip.crossing_of_one"): payload_bytes / ranks,
        say("slip.bytes_alone"): 0,
    }
    for pair in ((FAST_TO_START, WIDE), (WIDE, FAST_TO_START)):
        found = lab.crossing_payload_bytes(*pair, ranks)
        case = say("part.crossing", one=pair[0].name, other=pair[1].name, ranks=ranks)
        is_due(found, payload_bytes, case, slips, rel=1e-9)


def test_links_that_do_not_cross_give_none(lab):
    """One better in both numbers, a link and itself, two of one bandwidth or one latency, and a single rank."""
    other = LinkSpec("own", "12 µs, 10 GB/s", 12e-6, 10e9)
    for one, two, ranks in (
        (NVLINK, ETHERNET, 8),
        (ETHERNET, NVLINK, 2),
        (WIDE, WIDE, 2),
        (FAST_TO_START, other, 4),
        (WIDE, other, 4),
        (FAST_TO_START, WIDE, 1),
    ):
        found = lab.crossing_payload_bytes(one, two, ranks)
        if found is not None:
            fail("result.no_crossing", one=link_named(one), other=link_named(two), ranks=ranks, found=found, zero=0)


@pytest.mark.parametrize(
    ("budget_ms", "weights_gb", "name"),
    [
        (50, 16, "eight tiny ones on Ethernet"),
        (12, 16, "two small ones on Ethernet"),
        (9, 16, "two small ones on NVLink"),
        (4, 16, "four small ones on NVLink"),
        (3, 16, None),
        (50, 40, "two small ones on Ethernet"),
        (12, 60, "four small ones on NVLink"),
        (8, 78, "four small ones on NVLink"),
        (50, 100, None),
    ],
)
def test_the_cheapest_offer_within_the_budget_is_chosen(lab, budget_ms, weights_gb, name):
    """Cheapest first; too little memory and too slow a link are out; of two at a price, the faster."""
    chosen = lab.cheapest_offer(OFFERS, LLAMA, weights_gb * GB, STEP_S, budget_ms / 1e3)
    if chosen is not None and not isinstance(chosen, Offer):
        fail_type("result.{}_offer", chosen)
    found = chosen and chosen.name
    if found != name:
        chosen, due = (OFFER_WORDS.get(one, one or say("part.none")) for one in (found, name))
        fail("result.other_offer", weights=weights_gb, budget=budget_ms, found=chosen, due=due)


@pytest.mark.parametrize("budget_s", [0, -1e-3])
def test_a_budget_of_nothing_is_refused(lab, budget_s):
    call = lambda: lab.cheapest_offer(OFFERS, LLAMA, 16 * GB, STEP_S, budget_s)  # noqa: E731
    refuses(call, OutOfRangeError, say("part.budget_seconds", budget=f"{budget_s:g}"))
