"""The communication bill against the numbers the labs are known by, each worked in its docstring."""

from dataclasses import replace

import pytest

from core.catalog import gpu, link, model
from core.comm_cost.bill import (
    LAB_STEP_S,
    Step,
    allreduce_payload_bytes,
    allreduce_time_s,
    balance_payload_bytes,
    bill,
    comm_fraction,
    priced_ends,
    ring_allreduce_traffic_per_rank,
    tp_comm_time_per_step,
    weight_streaming_s,
)
from core.comm_cost.readings import readings
from core.errors import OutOfRangeError
from core.models.weights import held_weight_bytes

LLAMA = model("llama-3-8b")
NVLINK, ETHERNET = link("nvlink-lab"), link("ethernet-10g-lab")


def test_a_decode_payload_is_8_kib_and_a_prefill_payload_16_mib():
    """1 token x 4096 x 2 B; 2048 tokens x 4096 x 2 B = 16.78 MB."""
    assert allreduce_payload_bytes(1, 4096) == 8192
    assert allreduce_payload_bytes(2048, 4096) == 16 * 2**20 == 16_777_216


@pytest.mark.parametrize(("ranks", "payloads"), [(1, 0), (2, 1), (4, 1.5), (8, 1.75), (64, 1.96875)])
def test_ring_traffic_nears_two_payloads(ranks, payloads):
    assert ring_allreduce_traffic_per_rank(8192, ranks) == payloads * 8192


def test_an_8b_step_has_64_all_reduces_and_a_70b_step_160():
    assert Step(LLAMA, 2).all_reduces == 64
    assert Step(model("llama-3-70b"), 2).all_reduces == 160
    assert Step(LLAMA, 1).all_reduces == 0


def test_the_labs_step_is_all_weights_through_an_a100s_memory():
    """8,030,261,248 x 2 B = 16.06 GB; over 2.039 TB/s 7.88 ms, which the labs round to 8."""
    assert held_weight_bytes(LLAMA) / 1e9 == pytest.approx(16.06, abs=0.005)
    step_s = weight_streaming_s(LLAMA, gpu("a100-80gb-sxm"))
    assert step_s * 1e3 == pytest.approx(7.88, abs=0.005)
    assert round(step_s, 3) == LAB_STEP_S


def test_without_the_embedding_the_step_is_shorter():
    """15.01 GB / 2.039 TB/s = 7.36 ms."""
    read_s = weight_streaming_s(LLAMA, gpu("a100-80gb-sxm"), counted="read")
    assert read_s * 1e3 == pytest.approx(7.36, abs=0.005)


def test_the_nvlink_bill_is_noise():
    """64 x 2 hops x 3 µs = 0.384 ms, 64 x 8192 B / 300 GB/s = 0.0017 ms: 0.386 ms, 4.6 % of 8.386."""
    priced = bill(Step(LLAMA, 2), NVLINK)
    assert priced.waiting_s == pytest.approx(0.384e-3)
    assert priced.comm_s * 1e3 == pytest.approx(0.386, abs=5e-4)
    assert priced.comm_fraction == pytest.approx(0.046, abs=5e-4)
    assert priced.verdict == "noise"


def test_the_ethernet_bill_is_fatal():
    """64 x 2 hops x 50 µs = 6.4 ms, 64 x 8192 B / 1.25 GB/s = 0.42 ms: 6.82 ms, 46.0 % of 14.82."""
    priced = bill(Step(LLAMA, 2), ETHERNET)
    assert priced.waiting_s == pytest.approx(6.4e-3)
    assert priced.bandwidth_s * 1e3 == pytest.approx(0.42, abs=5e-3)
    assert priced.comm_s * 1e3 == pytest.approx(6.82, abs=5e-3)
    assert priced.comm_fraction == pytest.approx(0.460, abs=5e-4)
    assert priced.verdict == "fatal"


@pytest.mark.parametrize(
    ("over", "key", "percent", "verdict"),
    [
        (NVLINK, "labs", 4.6, "noise"),
        (NVLINK, "divided_step", 8.8, "noise"),
        (ETHERNET, "labs", 46.0, "fatal"),
        (ETHERNET, "divided_step", 63.0, "fatal"),
        (ETHERNET, "hop_from_round_trip", 31.15, "noticeable"),
        (ETHERNET, "divided_step_and_round_trip", 47.5, "fatal"),
        (ETHERNET, "two_way_bandwidth", 45.2, "fatal"),
    ],
)
def test_what_the_verdict_reads_under_each_assumption(over, key, percent, verdict):
    """The fatal verdict falls when 50 µs was a round trip, and rises again when the step is divided as well."""
    (priced,) = (reading.bill for reading in readings(Step(LLAMA, 2), over) if reading.key == key)
    assert 100 * priced.comm_fraction == pytest.approx(percent, abs=0.06)
    assert priced.verdict == verdict


@pytest.mark.parametrize(
    ("key", "step_ms", "over", "percent", "verdict"),
    [("h200-sxm", 3.35, NVLINK, 10.3, "noticeable"), ("rtx-4090", 15.9, ETHERNET, 30.0, "noticeable")],
)
def test_another_gpu_flips_a_verdict(key, step_ms, over, percent, verdict):
    """A shorter step makes NVLink matter, a longer one makes 10 GbE bearable."""
    step_s = weight_streaming_s(LLAMA, gpu(key))
    priced = bill(Step(LLAMA, 2, compute_s=step_s), over)
    assert step_s * 1e3 == pytest.approx(step_ms, abs=0.04)
    assert 100 * priced.comm_fraction == pytest.approx(percent, abs=0.05)
    assert priced.verdict == verdict


@pytest.mark.parametrize(("over", "comm_ms"), [(NVLINK, 2.69), (ETHERNET, 45.5)])
def test_eight_ranks_pay_seven_times_the_hops(over, comm_ms):
    assert tp_comm_time_per_step(LLAMA, 1, 8, over) * 1e3 == pytest.approx(comm_ms, abs=0.05)


@pytest.mark.parametrize(("over", "share"), [(NVLINK, 0.90), (ETHERNET, 0.99)])
def test_a_prefill_pays_for_bytes(over, share):
    assert bill(Step(LLAMA, 2, 2048), over).bandwidth_fraction == pytest.approx(share, abs=0.005)


def test_a_larger_model_pays_a_smaller_fraction():
    """70B: payload x 2 and all-reduces x 2.5, but 8.8 times the weights to stream."""
    large, a100 = model("llama-3-70b"), gpu("a100-80gb-sxm")
    fractions = [
        bill(Step(row, 2, compute_s=weight_streaming_s(row, a100)), ETHERNET).comm_fraction
        for row in (LLAMA, large)
    ]
    assert Step(large, 2).payload_bytes == 2 * 8192
    assert fractions[1] < fractions[0]


def test_embedding_and_head_are_listed_apart():
    """The embedding is one more 8 KiB all-reduce; the logits are 128,256 x 2 B = 256.5 KB, 31 payloads."""
    priced = bill(Step(LLAMA, 2), NVLINK)
    embedding, head = priced_ends(priced.step, NVLINK)
    assert (embedding.op, embedding.payload_bytes) == ("all_reduce", 8192)
    assert (head.op, head.payload_bytes, head.payload_bytes // priced.step.payload_bytes) == (
        "all_gather",
        256_512,
        31,
    )
    assert priced.comm_s == tp_comm_time_per_step(LLAMA, 1, 2, NVLINK)


def test_a_prefill_needs_logits_for_the_last_token_only():
    _, head = priced_ends(Step(LLAMA, 2, 2048, sequences=1), NVLINK)
    assert head.payload_bytes == 256_512


def test_one_rank_has_no_bill():
    priced = bill(Step(LLAMA, 1), ETHERNET)
    assert (priced.comm_s, priced.comm_fraction, priced.step.all_reduces) == (0, 0, 0)
    assert priced.bandwidth_fraction == 0
    assert priced_ends(priced.step, ETHERNET) == ()


@pytest.mark.parametrize(("over", "payload_bytes"), [(NVLINK, 1_800_000), (ETHERNET, 125_000)])
def test_latency_and_bandwidth_meet_at_n_alpha_beta(over, payload_bytes):
    """N·α·β: 2 x 3 µs x 300 GB/s = 1.8 MB; 2 x 50 µs x 1.25 GB/s = 125 KB."""
    assert balance_payload_bytes(2, over) == pytest.approx(payload_bytes)


@pytest.mark.parametrize("ranks", [2, 3, 8])
def test_at_the_balance_half_of_the_time_is_bytes_with_a_launch_cost_too(ranks):
    over = replace(NVLINK, base_s=7e-6)
    total_s = allreduce_time_s(balance_payload_bytes(ranks, over), ranks, over)
    assert total_s == pytest.approx(2 * (7e-6 + 2 * (ranks - 1) * 3e-6))


def test_one_rank_has_no_balance():
    with pytest.raises(OutOfRangeError, match="ranks=1"):
        balance_payload_bytes(1, NVLINK)


def test_thresholds_are_strict():
    """Beside 1 s of compute a bill of f/(1-f) s is just the fraction f."""
    verdicts = [
        bill(Step(LLAMA, 2, compute_s=tp_comm_time_per_step(LLAMA, 1, 2, NVLINK) * (1 - f) / f), NVLINK).verdict
        for f in (0.0999, 0.1001, 0.3999, 0.4001)
    ]
    assert verdicts == ["noise", "noticeable", "noticeable", "fatal"]


@pytest.mark.parametrize("tp_size", [1, 2, 8])
def test_a_divided_step_computes_an_nth_on_each_rank(tp_size):
    step = Step(LLAMA, tp_size, divided=True)
    assert step.rank_compute_s * tp_size == pytest.approx(LAB_STEP_S)
    assert bill(step, NVLINK).total_s == pytest.approx(
        LAB_STEP_S / tp_size + tp_comm_time_per_step(LLAMA, 1, tp_size, NVLINK)
    )


def test_a_fraction_of_nothing_is_refused():
    with pytest.raises(OutOfRangeError):
        comm_fraction(0.0, 0.0)


@pytest.mark.parametrize("quantities", [{"tokens": 0}, {"hidden_size": -1}, {"bytes_per_element": 0}])
def test_a_payload_of_nothing_is_refused(quantities):
    with pytest.raises(OutOfRangeError):
        allreduce_payload_bytes(**{"tokens": 1, "hidden_size": 4096} | quantities)
