"""The page before lab 01: its numbers by hand, and its own arithmetic held to the functions of the labs."""

import numpy as np
import pytest

from core.catalog import gpu, link, model
from core.collectives.cost import ring_all_gather, ring_all_reduce
from core.comm_cost.bill import weight_streaming_s
from core.course.quiz.bank_costs import streaming
from core.course.start_here import (
    forward_pass,
    gpus_to_hold,
    message,
    ridge_tokens,
    ring_chunks_sent,
    ring_stages,
)
from core.errors import OutOfRangeError
from core.models.parameters import total_parameters
from core.models.weights import held_weight_bytes
from core.steps.model import MFU, prefill_step_s

LLAMA, LARGE, A100 = model("llama-3-8b"), model("llama-3-70b"), gpu("a100-80gb-sxm")


def test_eight_kib_over_ethernet_is_nearly_all_waiting():
    """50 µs, then 8192 B / 1.25 GB/s = 6.55 µs: 88.4 % of 56.6 µs."""
    sent = message(8192, link("ethernet-10g-lab"))
    assert (sent.latency_s, sent.bandwidth_s) == pytest.approx((50e-6, 6.5536e-6))
    assert sent.latency_fraction == pytest.approx(0.884, abs=5e-4)


def test_a_message_is_what_two_ranks_pay_to_gather():
    """One hop, and half of the gathered total crosses it."""
    for over in (link("nvlink-lab"), link("ethernet-10g-lab")):
        gathered = ring_all_gather(2 * 8192, 2, over)
        sent = message(8192, over)
        assert (sent.latency_s, sent.bandwidth_s) == (gathered.latency_s, gathered.bandwidth_s)


def test_nothing_sent_is_all_latency_and_less_than_nothing_is_refused():
    assert message(0, link("nvlink-lab")).latency_fraction == 1
    with pytest.raises(OutOfRangeError, match="payload_bytes=-1"):
        message(-1, link("nvlink-lab"))


def test_decode_streams_every_weight_for_hardly_any_arithmetic():
    """15.01 GB / 2.039 TB/s = 7.36 ms; 2 · 7.50e9 / 312e12 = 0.0481 ms, 0.65 % of it.

    All the weights would take 7.88: the embedding among them is looked up, so that is not the least.
    """
    token = forward_pass(LLAMA, A100, 1)
    assert token.memory_s == pytest.approx(7.36e-3, rel=1e-3)
    assert weight_streaming_s(LLAMA, A100) == pytest.approx(7.88e-3, rel=1e-3)
    assert token.arithmetic_s == pytest.approx(0.0481e-3, rel=1e-3)
    assert token.bound_s == token.memory_s
    assert token.arithmetic_fraction == pytest.approx(0.0065, abs=5e-5)


def test_the_ridge_is_where_the_two_times_are_equal():
    """312e12 · 2 / (2 · 2.039e12) = 153 tokens, for any dense model."""
    ridge = ridge_tokens(A100)
    assert ridge == pytest.approx(153.0, abs=0.05)
    for dense in (LLAMA, LARGE):
        at = forward_pass(dense, A100, ridge)
        assert at.memory_s == pytest.approx(at.arithmetic_s)


def test_narrower_weights_are_read_sooner_so_the_ridge_comes_sooner():
    """By less than their width: the head stays in 16 bits."""
    passes = [forward_pass(LLAMA, A100, 1, dtype) for dtype in ("bf16", "fp8", "int4")]
    wide, half, quarter = (one.memory_s / one.arithmetic_s for one in passes)
    assert wide == pytest.approx(ridge_tokens(A100))
    assert wide / 2 < half < wide
    assert half / 2 < quarter < half


def test_a_prompt_is_bound_by_arithmetic():
    """At 2048 tokens 99 ms against 7.36; the exact count, the head once and with attention, is within 12 %."""
    prompt = forward_pass(LLAMA, A100, 2048)
    assert prompt.bound_s == prompt.arithmetic_s
    assert prompt.arithmetic_fraction == 1
    assert prompt.arithmetic_s == pytest.approx(MFU * prefill_step_s(LLAMA, A100, 2048), rel=0.12)


@pytest.mark.parametrize(
    ("name", "dtype", "gpus"), [("llama-3-8b", "bf16", 1), ("llama-3-70b", "bf16", 2), ("llama-3-70b", "int4", 1)]
)
def test_gpus_to_hold_the_weights(name, dtype, gpus):
    """70B in bf16 is 141.1 GB over 85.0 GB a GPU, 1.66 of them; in int4 it is 35 GB."""
    assert gpus_to_hold(model(name), A100, dtype) == gpus


@pytest.mark.parametrize("name", ["llama-3-8b", "llama-3-70b", "llama-3.1-405b", "deepseek-v3"])
def test_one_gpu_fewer_would_not_hold_them(name):
    row = model(name)
    gpus = gpus_to_hold(row, A100)
    assert (gpus - 1) * A100.usable_memory_bytes < held_weight_bytes(row) <= gpus * A100.usable_memory_bytes


def test_a_mixture_computes_with_what_is_active_and_holds_all():
    mixture = model("deepseek-v3")
    one = forward_pass(mixture, A100, 1)
    assert one.arithmetic_s < 2 * total_parameters(mixture) / A100.bf16_flops
    assert one.memory_s == weight_streaming_s(mixture, A100, counted="read")
    assert forward_pass(mixture, A100, 64).memory_s > 3 * one.memory_s


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 8])
def test_a_ring_scatters_the_sum_and_then_gathers_it(ranks):
    """1 + 2 + … + N: after the reduce-scatter rank r has it in chunk r, after the all-gather all have all."""
    stages, total = ring_stages(ranks), ranks * (ranks + 1) / 2
    assert stages.parts == tuple((rank + 1.0,) * ranks for rank in range(ranks))
    assert stages.whole == ((total,) * ranks,) * ranks
    for rank, row in enumerate(stages.scattered):
        assert row == tuple(total if chunk == rank else None for chunk in range(ranks))


@pytest.mark.parametrize(("ranks", "chunks"), [(1, 0), (2, 2), (4, 6), (8, 14)])
def test_chunks_sent_in_a_ring_are_its_traffic(ranks, chunks):
    """2(N-1) chunks of n/N bytes: what the closed form counts."""
    assert ring_chunks_sent(ranks) == chunks
    assert ring_all_reduce(8 * ranks, ranks, link("nvlink-lab")).traffic_bytes == 8 * chunks


def test_the_quiz_asks_for_the_least_and_gives_all_the_weights_as_a_slip():
    """Llama-3-8B on a 4090: 15.01 GB over 1.008 TB/s are 14.89 ms; with the embedding it would be 15.93."""
    asked = next(
        question
        for seed in range(200)
        if (question := streaming(np.random.default_rng(seed))).fields["gpu"] == gpu("rtx-4090").name
        and question.fields["model"] == LLAMA.key
    )
    assert asked.answer == pytest.approx(14.89e-3, abs=5e-6)
    assert asked.slips["all"] == pytest.approx(15.93e-3, abs=5e-6)
