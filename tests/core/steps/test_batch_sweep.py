"""The bill over the batch: the wait is shared, the bytes are not."""

import pytest

from core.catalog import gpu, link, model
from core.comm_cost.bill import Bill, Step, bill
from core.steps.batch_sweep import batched_decode_step_s, ridge_batch

LLAMA, A100 = model("llama-3-8b"), gpu("a100-80gb-sxm")


def decode_bill(batch: int, ranks: int, link_key: str) -> Bill:
    return bill(Step(LLAMA, ranks, batch, batched_decode_step_s(LLAMA, A100, batch)), link(link_key))


def test_one_sequence_takes_the_labs_step():
    assert batched_decode_step_s(LLAMA, A100, 1) == 8e-3


def test_past_the_ridge_the_step_is_arithmetic():
    """2 · 8.03e9 · B / 312e12 reaches 8 ms at B = 155."""
    ridge = ridge_batch(LLAMA, A100)
    assert ridge == pytest.approx(8e-3 * 312e12 / (2 * 8_030_261_248))
    assert batched_decode_step_s(LLAMA, A100, 155) == 8e-3
    assert batched_decode_step_s(LLAMA, A100, 156) > 8e-3


def test_a_batch_shares_the_wait_and_pays_for_its_bytes():
    """64 hops of 2 · 50 µs whatever the batch; 64 payloads of 8 KiB a sequence."""
    one, many = (decode_bill(batch, 2, "ethernet-10g-lab") for batch in (1, 64))
    assert many.waiting_s == one.waiting_s == pytest.approx(6.4e-3)
    assert many.bandwidth_s == pytest.approx(64 * one.bandwidth_s)


def test_one_rank_pays_nothing_at_any_batch():
    assert all(decode_bill(batch, 1, "nvlink-lab").comm_s == 0 for batch in (1, 512))
