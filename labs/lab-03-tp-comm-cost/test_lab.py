"""Lab 03: a payload, its traffic, its time, the step's bill, and the two verdicts."""

import pytest

from core.catalog import link, model

LLAMA = model("llama-3-8b")
NVLINK, ETHERNET = link("nvlink-lab"), link("ethernet-10g-lab")
DECODE_BYTES, PREFILL_BYTES = 8192, 16_777_216
STEP_S = 8e-3


@pytest.mark.parametrize(
    ("tokens", "hidden_size", "bytes_per_element", "payload_bytes"),
    [(1, 4096, 2, 8192), (2048, 4096, 2, 16_777_216), (1, 8192, 2, 16_384), (3, 5, 4, 60), (2, 4096, 1, 8192)],
)
def test_payload_is_one_activation_row_per_token(lab, tokens, hidden_size, bytes_per_element, payload_bytes):
    """1 x 4096 x 2 B = 8 KiB in a decode step; 2048 tokens of prefill make 16 MiB."""
    assert lab.allreduce_payload_bytes(tokens, hidden_size, bytes_per_element) == payload_bytes


def test_activations_are_two_bytes_unless_said_otherwise(lab):
    assert lab.allreduce_payload_bytes(1, 4096) == 8192


@pytest.mark.parametrize(("ranks", "chunks_sent"), [(1, 0), (2, 2), (3, 4), (4, 6), (8, 14), (64, 126)])
def test_ring_traffic_formula(lab, ranks, chunks_sent):
    """A chunk is n/N; N-1 are sent in the reduce-scatter and N-1 in the all-gather."""
    assert lab.ring_allreduce_traffic_per_rank(192 * ranks, ranks) == 192 * chunks_sent


@pytest.mark.parametrize(("ranks", "hops"), [(1, 0), (2, 2), (3, 4), (8, 14)])
def test_every_hop_waits(lab, ranks, hops):
    """With next to nothing to send, only the hops are left: 3 µs each."""
    assert lab.allreduce_time_s(0, ranks, NVLINK) == pytest.approx(hops * 3e-6)


def test_bytes_go_at_the_speed_of_one_direction(lab):
    """At N=2 a rank sends n: 16 MiB / 300 GB/s = 55.9 µs beside two hops of 3 µs."""
    assert lab.allreduce_time_s(PREFILL_BYTES, 2, NVLINK) == pytest.approx(61.92e-6, rel=1e-3)


@pytest.mark.parametrize(("key", "all_reduces"), [("llama-3-8b", 64), ("llama-3-70b", 160)])
def test_a_layer_talks_twice(lab, key, all_reduces):
    row = model(key)
    one_s = lab.allreduce_time_s(row.hidden_size * 2, 4, ETHERNET)
    assert lab.tp_comm_time_per_step(row, 1, 4, ETHERNET) == pytest.approx(all_reduces * one_s)


def test_decode_step_comm_on_nvlink_is_noise(lab):
    """64 x (2 x 3 µs + 8192 B / 300 GB/s) = 0.386 ms: 4.6 % of 8.386 ms."""
    comm_s = lab.tp_comm_time_per_step(LLAMA, 1, 2, NVLINK)
    assert comm_s < 1e-3
    assert comm_s == pytest.approx(0.3857e-3, rel=1e-3)
    assert lab.comm_fraction(comm_s, STEP_S) < 0.10


def test_decode_step_comm_on_ethernet_is_fatal(lab):
    """64 x (2 x 50 µs + 8192 B / 1.25 GB/s) = 6.82 ms: 46.0 % of 14.82 ms."""
    comm_s = lab.tp_comm_time_per_step(LLAMA, 1, 2, ETHERNET)
    assert comm_s == pytest.approx(6.819e-3, rel=1e-3)
    assert lab.comm_fraction(comm_s, STEP_S) == pytest.approx(0.460, abs=5e-4)
    assert lab.comm_fraction(comm_s, STEP_S) > 0.40


@pytest.mark.parametrize(("comm_s", "step_s", "fraction"), [(1, 1, 0.5), (0, 8e-3, 0), (3, 1, 0.75), (1, 0, 1)])
def test_the_fraction_is_of_the_whole_wall_clock(lab, comm_s, step_s, fraction):
    """comm / (step + comm): it cannot pass 1, however slow the link."""
    assert lab.comm_fraction(comm_s, step_s) == fraction


@pytest.mark.parametrize("wire", [NVLINK, ETHERNET], ids=lambda wire: wire.key)
def test_latency_dominates_small_payloads(lab, wire):
    """At 8 KiB and N=2 the two hops are over nine tenths of the time."""
    hops_s = lab.allreduce_time_s(0, 2, wire)
    assert hops_s / lab.allreduce_time_s(DECODE_BYTES, 2, wire) > 0.9


@pytest.mark.parametrize(("wire", "share"), [(NVLINK, 0.90), (ETHERNET, 0.99)], ids=["nvlink", "ethernet"])
def test_prefill_payloads_shift_the_balance_to_bandwidth(lab, wire, share):
    """At 16 MiB and N=2 the bytes are 90 % of the time on NVLink, 99 % on 10 GbE."""
    whole_s = lab.allreduce_time_s(PREFILL_BYTES, 2, wire)
    assert 1 - lab.allreduce_time_s(0, 2, wire) / whole_s == pytest.approx(share, abs=0.005)


@pytest.mark.parametrize("wire", [NVLINK, ETHERNET], ids=lambda wire: wire.key)
def test_more_ranks_more_overhead(lab, wire):
    """TP=1 is free; then the hops grow as 2(N-1): 2.69 ms on NVLink and 45.5 ms on 10 GbE at TP=8."""
    bills_s = [lab.tp_comm_time_per_step(LLAMA, 1, tp_size, wire) for tp_size in (1, 2, 4, 8)]
    assert bills_s[0] == 0
    assert bills_s == sorted(set(bills_s))
    assert bills_s[3] * 1e3 == pytest.approx(2.691 if wire is NVLINK else 45.53, rel=1e-3)
